"""The command export, as a user meets it."""

import numpy as np
import pytest

from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.urdf.prior import urdf_prior
from robot_identification.robot.files.values import load_values

CAMERA = (
    '<inertial><mass value="0.5"/>'
    '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
)
KINDS = ("urdf", "xacro", "mujoco", "controller", "armature")


def test_every_kind_is_written(run, tmp_path):
    targets = [part for kind in KINDS for part in (f"--{kind}", tmp_path / kind)]
    printed = run("export", "tx40", "tx40_simulated", *targets)
    assert printed["written"] == {kind: str(tmp_path / kind) for kind in KINDS}
    assert any("Fvm6" in remark for remark in printed["remarks"])
    robot = load_robot("tx40")
    values = load_values("tx40_simulated", robot)
    (tmp_path / "a.urdf").write_bytes((tmp_path / "urdf").read_bytes())
    found = urdf_prior(tmp_path / "a.urdf", robot)
    np.testing.assert_allclose(found[:10], values[:10], rtol=1e-14, atol=1e-16)


def test_friction_laws_of_a_parameter_file_are_approximated_and_told(run, tmp_path):
    targets = ("--mujoco", tmp_path / "arm.xml", "--controller", tmp_path / "arm.yaml")
    printed = run("export", "tx40", "tx40_stribeck_load", *targets)
    fit = printed["friction_fit"]["joint_1"]
    assert fit["terms"] == ["Fs1", "Fl1"]
    assert 0.0 < fit["error"] < 0.5
    assert f'damping="{fit["values"]["Fv"]!r}"' in (tmp_path / "arm.xml").read_text()
    assert any("off by" in remark for remark in printed["remarks"])
    assert "stribeck_friction_speed: 0.2" in (tmp_path / "arm.yaml").read_text()
    assert "friction_fit" not in run("export", "tx40", "tx40_simulated", *targets)


def test_a_robot_described_by_a_urdf_keeps_its_text(run, tmp_path):
    source, target = tmp_path / "arm.urdf", tmp_path / "out.urdf"
    run("export", "scara", "scara", "--urdf", source)
    source.write_text(source.read_text().replace("</robot>", "<!-- mine -->\n</robot>"))
    (tmp_path / "arm.yaml").write_text("name: arm\neffort_meaning: joint_torque\nurdf: arm.urdf\n")
    (tmp_path / "values.yaml").write_text(
        "parameters: {ZZ1: 1, XX1: 1, YY1: 1, M1: 1, ZZ2: 1, XX2: 1, YY2: 1, M2: 2}\n"
    )
    for robot in ("arm.yaml", "arm.urdf"):
        arguments = ("export", tmp_path / robot, tmp_path / "values.yaml", "--urdf", target)
        run(*arguments)
        assert "<!-- mine -->" in target.read_text()
        assert '<mass value="2"/>' in target.read_text()
        target.unlink()


def test_xacro_names_the_links_whose_mass_is_in_that_of_their_carrier(run, tmp_path):
    source, target = tmp_path / "arm.urdf", tmp_path / "arm.xacro"
    run("export", "scara", "scara", "--urdf", source)
    welded = "".join(
        f'<link name="{name}">{inertial}</link><joint name="weld_{name}" type="fixed">'
        f'<parent link="link_2"/><child link="{name}"/></joint>'
        for name, inertial in (("camera", CAMERA), ("frame", ""))
    )
    source.write_text(source.read_text().replace("</robot>", f"{welded}</robot>"))
    values = tmp_path / "values.yaml"
    values.write_text(
        "parameters: {ZZ1: 1, XX1: 1, YY1: 1, M1: 1, ZZ2: 1, XX2: 1, YY2: 1, M2: 2}\n"
    )
    asked = ("export", "scara", values, "--original", source)
    told = "link link_2: its inertial in the xacro file has that of camera, fixed to it; where"
    assert told in " ".join(run(*asked, "--xacro", target)["remarks"])
    (line,) = (line for line in target.read_text().splitlines() if "camera" in line)
    assert "link link_2" in line
    assert told not in " ".join(run(*asked, "--urdf", tmp_path / "out.urdf")["remarks"])


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((), 2, "name at least one: --urdf"),
        (("--urdf", "none/out.urdf"), 2, "does not exist"),
        (("--urdf", "values.yaml"), 2, "is what was read"),
    ],
)
def test_bad_requests_are_answered_in_one_line(
    refusal, tmp_path, monkeypatch, arguments, code, words
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "values.yaml").write_text("parameters: {ZZ1: 1}\n")
    found, line = refusal("export", "scara", "values.yaml", *arguments)
    assert found == code
    assert words in line


def test_parameters_that_cannot_exist_are_refused(refusal, tmp_path):
    (tmp_path / "values.yaml").write_text("parameters: {ZZ1: 1}\n")
    target = tmp_path / "out.urdf"
    code, line = refusal("export", "scara", tmp_path / "values.yaml", "--urdf", target)
    assert code == 3
    assert "link_1: its mass is 0 kg" in line
    assert not target.exists()
