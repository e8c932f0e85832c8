"""The command excite: a certified plan on disk, stable keys, bad input refused."""

import json
from dataclasses import replace

import numpy as np
import pytest

from made_up_cells import ARM
from robot_identification.cli import excite
from robot_identification.cli.main import main
from robot_identification.errors import NotCertifiedError, TrajectoryError
from robot_identification.excitation.search import dynamic, optimizers, search
from robot_identification.files.plans.periodic import read_periodic
from robot_identification.files.plans.plans import read_plan, read_singular_values
from robot_identification.robot.files.document import read_document
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import values_path

QUICK = ["excite", "three_dof", "--starts", "1", "--rows", "16", "--json"]


@pytest.fixture(scope="module", autouse=True)
def coarse():
    """Have searches end early: any motion is good enough."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dynamic, "STAGES", dynamic.STAGES[-1:])
        patch.setattr(search, "_STAGES", search._STAGES[:3])
        patch.setattr(optimizers, "_ITERATIONS", 40)
        yield


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    path = tmp_path_factory.mktemp("plans") / "plan.yaml"
    assert main([*QUICK, "-o", str(path), "--seed", "3", "--prior", "three_dof"]) == 0
    return path


def test_keys_and_file(tmp_path, capsys):
    path = tmp_path / "plan.yaml"
    assert main([*QUICK, "-o", str(path), "--start", "0.1,-0.2,0.3"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["rows"] == 16
    assert document["points"] == 19
    assert 0.0 < document["condition_number"] < document["condition_number_start"]
    assert document["optimizer"] == "gradient"
    assert document["duration"] > 1.0
    assert document["seconds"] > 0.0
    assert set(document["certificate"].values()) == {True}
    assert "whatever the motion" in document["missing_parameters"]["M1"]
    trajectory, certificate = read_plan(path, load_robot("three_dof"))
    assert certificate.passed
    np.testing.assert_allclose(trajectory.positions[[0, -1]], [[0.1, -0.2, 0.3]] * 2)
    assert certificate.digest == document["sha256"]


def test_a_changed_file_is_not_accepted(planned, tmp_path):
    robot = load_robot("three_dof")
    text = planned.read_text()
    other = tmp_path / "other.yaml"
    line = next(
        line for line in text.splitlines() if "positions" in line and "0.0, 0.0" not in line
    )
    numbers = line.split("[")[1].rstrip("]").split(", ")
    numbers[1] = repr(float(numbers[1]) + 1e-7)
    other.write_text(text.replace(line, f"{line.split('[')[0]}[{', '.join(numbers)}]"))
    with pytest.raises(NotCertifiedError):
        read_plan(other, robot)
    bare = tmp_path / "bare.yaml"
    bare.write_text(text.split("robot:")[0])
    with pytest.raises(TrajectoryError, match="no certificate"):
        read_plan(bare, robot)


def test_a_weaker_robot_is_not_accepted(planned):
    robot = load_robot("three_dof")
    slow = tuple(replace(j, limits=replace(j.limits, velocity=0.5)) for j in robot.joints)
    with pytest.raises(NotCertifiedError, match="velocity"):
        read_plan(planned, replace(robot, joints=slow))


def test_the_largest_effort_of_every_joint_is_told(planned, capsys):
    command = ["excite", "three_dof", "--verify", str(planned), "--prior", "three_dof"]
    assert main([*command, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["efforts"]
    assert set(told) == {"joint_1", "joint_2", "joint_3"}
    for peak in told.values():
        assert 0.0 < peak["reached"] <= peak["bound"] <= peak["limit"]
        assert 0.0 <= peak["time"]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "largest efforts of the prior" in printed
    assert all(f"{peak['bound']:.4g}" in printed for peak in told.values())
    assert f"{told['joint_1']['reached']:.4g}" in printed


def test_a_prior_that_states_little_is_told_and_one_without_bodies_refused(
    tmp_path, planned, capsys
):
    prior = tmp_path / "prior.yaml"
    command = ["excite", "three_dof", "--verify", str(planned), "--prior", str(prior)]
    prior.write_text("parameters: {M2: 3.0, M3: 1.0}\n")
    for ignored in ([], ["--ignore-obstacles"]):
        assert main([*command, "--json", *ignored]) == 0
        (_, told) = json.loads(capsys.readouterr().out)["remarks"]
        assert "checked without what the prior does not state: bodies of link_1" in told
    prior.write_text("parameters: {}\n")
    assert main(command) == 2
    assert "states no mass" in capsys.readouterr().err


def test_a_prior_with_a_friction_law_is_planned_with(tmp_path, capsys):
    """Stribeck friction that outweighs the bodies, and that of a fifth of the load, count.

    Lesser friction helps joints to brake: the largest effort may then be that of the bodies alone.
    """
    told = read_document(values_path("three_dof")).data
    names = load_robot("three_dof").joint_names
    law = {name: {"Fs": [0.2, 1.0], "Fl": []} for name in names}
    more = {f"{name}{j}": value for j in (1, 2, 3) for name, value in (("Fs", 150.0), ("Fl", 0.2))}
    prior = tmp_path / "law.yaml"
    content = {"robot": "three_dof", "friction": law, "parameters": told["parameters"] | more}
    prior.write_text(json.dumps(content))
    plan = tmp_path / "plan.yaml"
    asked = ["--model", "dynamic", "--rows", "6", "--duration", "10", "--prior", str(prior)]
    assert main([*QUICK, "-o", str(plan), *asked]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"Fs1", "Fl3"} & set(found["missing_parameters"]) == set()
    command = ["excite", "three_dof", "--verify", str(plan), "--json", "--prior"]
    assert main([*command, str(prior)]) == 0
    lawful = json.loads(capsys.readouterr().out)["efforts"]
    assert lawful == found["efforts"]
    assert main([*command, "three_dof"]) == 0
    plain = json.loads(capsys.readouterr().out)["efforts"]
    assert all(lawful[name]["reached"] > plain[name]["bound"] for name in names)


def test_without_a_prior_no_efforts_are_told(tmp_path, capsys):
    assert main([*QUICK, "-o", str(tmp_path / "plan.yaml"), "--seed", "3"]) == 0
    assert json.loads(capsys.readouterr().out)["efforts"] is None


def test_singular_values_are_in_the_file(planned):
    before, after = read_singular_values(planned)
    assert len(before) == len(after) == 15
    assert before[0] / before[-1] > after[0] / after[-1]
    assert (np.diff(after) <= 0.0).all()


def test_a_file_with_wrong_singular_values_is_refused(planned, tmp_path):
    lines = [line for line in planned.read_text().splitlines() if "singular" not in line]
    other = tmp_path / "other.yaml"
    other.write_text("\n".join(lines))
    assert read_singular_values(other) is None
    for wrong in ("[1.0, x]", "[1.0, -1.0]", "[[1.0]]"):
        kept = [*lines, "singular_values_start: [2.0, 1.0]", f"singular_values: {wrong}"]
        other.write_text("\n".join(kept))
        with pytest.raises(TrajectoryError, match="singular values"):
            read_singular_values(other)


def test_a_plan_is_verified_and_drawn(planned, tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="needs the extra report")
    picture = tmp_path / "plan.png"
    command = ["excite", "three_dof", "--verify", str(planned), "--plot", str(picture), "--json"]
    assert main([*command, "--prior", "three_dof"]) == 0
    assert set(json.loads(capsys.readouterr().out)["certificate"].values()) == {True}
    assert picture.read_bytes().startswith(b"\x89PNG")
    changed = tmp_path / "changed.yaml"
    changed.write_text(planned.read_text().replace("sha256: ", "sha256: 0"))
    command[3] = str(changed)
    assert main([*command, "--prior", "three_dof"]) != 0
    assert "hash" in capsys.readouterr().err


def test_a_plan_certified_with_efforts_asks_for_the_prior_where_it_is_missing(planned, capsys):
    assert main(["excite", "three_dof", "--verify", str(planned)]) == 3
    assert "give the prior that it was planned with" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "value"),
    [("--start", "1,1,1"), ("--duration", "5"), ("--locked", "joint_1"), ("--method", "one-joint")],
)
def test_what_says_how_to_plan_is_refused_where_nothing_is_planned(planned, capsys, option, value):
    command = ["excite", "three_dof", "--verify", str(planned), "--prior", "three_dof"]
    assert main([*command, option, value]) == 2
    told = capsys.readouterr().err
    assert option in told
    assert "--verify" in told


def test_a_plot_that_cannot_be_written_is_refused_before_any_work(tmp_path, capsys):
    target = str(tmp_path / "x.yaml")
    assert main([*QUICK, "-o", target, "--plot", str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err
    assert not (tmp_path / "x.yaml").exists()


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (["--rows", "3"], "rows"),
        (["--start", "9,0,0"], "start"),
        (["--start", "a"], "--start"),
        (["--duration", "-1"], "duration"),
        (["--seed", "-1"], "seed"),
    ],
)
def test_bad_options_are_refused(extra, words, tmp_path, capsys):
    assert main(["excite", "three_dof", "-o", str(tmp_path / "x.yaml"), *extra]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(("option", "value"), [("--cell", "cell.yaml"), ("--clearance", "0.05")])
def test_obstacles_are_not_described_and_ignored_at_once(tmp_path, capsys, option, value):
    command = [*QUICK, "-o", str(tmp_path / "x.yaml"), "--ignore-obstacles"]
    assert main([*command, option, value]) == 2
    told = capsys.readouterr().err
    assert option in told
    assert "not with --ignore-obstacles" in told


def test_a_cell_that_cannot_be_checked_is_refused(tmp_path, capsys):
    """The robot has no shapes, so that nothing could be seen to touch the table."""
    cell = tmp_path / "cell.yaml"
    cell.write_text("obstacles: [{name: table, box: [1.2, 0.8, 0.04], at: [0.8, 0, -0.1]}]\n")
    assert main([*QUICK, "-o", str(tmp_path / "x.yaml"), "--cell", str(cell)]) == 2
    told = capsys.readouterr().err
    assert str(cell) in told
    assert "obstacles are not checked" in told


def test_limits_come_from_a_file(tmp_path, capsys):
    robot = tmp_path / "robot.yaml"
    text = "".join(
        f"  - {{name: j{i}, type: revolute, geometry: {{alpha: {a}, d: 0.3}}}}\n"
        for i, a in enumerate((0, "pi/2"))
    )
    robot.write_text(f"name: arm\neffort_meaning: joint_torque\njoints:\n{text}")
    command = ["excite", str(robot), "-o", str(tmp_path / "x.yaml"), "--starts", "1"]
    assert main(command) == 2
    assert "no position limit" in capsys.readouterr().err
    limits = tmp_path / "joint_limits.yaml"
    entry = (
        "{has_velocity_limits: true, max_velocity: 2.0, has_acceleration_limits: true, "
        "max_acceleration: 5.0, has_position_limits: true, min_position: -2.0, max_position: 2.0}"
    )
    limits.write_text(f"joint_limits:\n  j0: {entry}\n  j1: {entry}\n")
    assert main([*command, "--limits", str(limits), "--duration", "10", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["model"] == "dynamic"
    limits.write_text("joint_limits: {j0: {has_velocity_limits: true, max_velocity: -1}}")
    assert main([*command, "--limits", str(limits)]) == 2
    assert "must be positive" in capsys.readouterr().err


def test_a_single_period_is_one(tmp_path, capsys):
    command = ["excite", "three_dof", "-o", str(tmp_path / "plan.yaml"), "--starts", "1"]
    options = ["--base-frequency", "0.25", "--harmonics", "3", "--periods", "1"]
    assert main([*command, "--family", "fourier", *options]) == 0
    assert "1 period of 4 s" in capsys.readouterr().out


def test_series_over_whole_periods(tmp_path, capsys):
    path = tmp_path / "plan.yaml"
    asked = ["excite", "three_dof", "-o", str(path), "--starts", "1", "--family", "fourier"]
    options = ["--base-frequency", "0.25", "--harmonics", "5", "--periods", "2"]
    assert main([*asked, *options, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["family"] == "fourier"
    assert document["model"] == "dynamic"
    repeats = document["periodic"]
    assert {key: repeats[key] for key in ("base_frequency", "harmonics", "periods")} == {
        "base_frequency": 0.25,
        "harmonics": 5,
        "periods": 2,
    }
    assert document["duration"] == pytest.approx(8.0 + 2.0 * repeats["begins"])
    assert set(document["certificate"].values()) == {True}
    assert read_periodic(path).begins == repeats["begins"]
    assert main([*asked, *options]) == 0
    assert "2 periods of 4 s" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--harmonics", "5"], "needs --family fourier"),
        (["--family", "fourier", "--duration", "30"], "periods"),
        (["--family", "fourier", "--rows", "30"], "harmonics"),
        (["--family", "fourier", "--model", "energy"], "dynamic"),
        (["--family", "fourier", "--periods", "0"], "at least 1"),
        (["--family", "fourier", "--method", "one-joint"], "--method one-joint"),
    ],
)
def test_options_of_the_other_family_are_refused(tmp_path, capsys, options, told):
    path = tmp_path / "plan.yaml"
    assert main(["excite", "three_dof", "-o", str(path), *options]) == 2
    assert told in capsys.readouterr().err
    assert not path.exists()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--locked", "joint_1"),
        ("--travel", "0.01"),
        ("--stroke", "0.01"),
        ("--spread", "0.5"),
        ("--moves", "singly"),
        ("--profile", "damped"),
    ],
)
def test_options_of_one_joint_at_a_time_are_refused(tmp_path, capsys, option, value):
    path = tmp_path / "plan.yaml"
    assert main(["excite", "three_dof", "-o", str(path), option, value]) == 2
    told = capsys.readouterr().err
    assert option in told
    assert "needs --method one-joint" in told
    assert not path.exists()


def test_a_page_of_the_motion_is_written_or_refused_before_anything_is_planned(
    tmp_path, monkeypatch, capsys
):
    pytest.importorskip("coal", reason="the package coal is not installed")
    pytest.importorskip("jinja2", reason="needs the extra report")
    page, cell = tmp_path / "motion.html", tmp_path / "cell.yaml"
    cell.write_text(ARM)
    given, plan = [*QUICK, "--view", str(page)], tmp_path / "plan.yaml"
    assert main([*given, "-o", str(plan), "--cell", str(cell)]) == 0
    assert "certified motion" in page.read_text().lower()
    page.unlink()
    monkeypatch.setattr(excite, "plan", None)
    capsys.readouterr()
    assert main([*given, "-o", str(tmp_path / "other.yaml")]) == 3
    assert "nothing to be drawn" in capsys.readouterr().err
    assert not page.exists()
