"""The files beside the URDF hold every parameter, and their readers find it there."""

from dataclasses import replace

import numpy as np
import pytest
import yaml

from random_robots import coupled_wrist, random_robot, random_values
from robot_identification.errors import OutputError
from robot_identification.files.export.bodies import mechanism_of
from robot_identification.files.export.controller import controller_yaml
from robot_identification.files.export.outputs import KINDS, mjcf_text, write_outputs
from robot_identification.files.export.text import yaml_text
from robot_identification.files.export.urdf_generation import generated_urdf
from robot_identification.files.export.xacro import xacro_text
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.urdf.prior import values_of_urdf
from robot_identification.robot.terms.temperature import TemperatureDependence
from ros_nodes import node

INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


@pytest.fixture
def tx40():
    robot = load_robot("tx40")
    return robot, random_values(np.random.default_rng(0), robot)


def test_xacro_macros_make_the_inertials_of_the_urdf(tmp_path, tx40):
    xacro = pytest.importorskip("xacro")
    robot, values = tx40
    urdf = generated_urdf(robot, values)
    for joint in robot.joints:
        begin = urdf.index("<inertial>", urdf.index(f'<link name="{joint.link}"'))
        end = urdf.index("</inertial>", begin) + len("</inertial>")
        urdf = urdf[:begin] + f"<xacro:{joint.link}_inertial/>" + urdf[end:]
        begin = urdf.index("<dynamics", urdf.index(f'<joint name="{joint.name}"'))
        urdf = (
            urdf[:begin] + f"<xacro:{joint.name}_dynamics/>" + urdf[urdf.index("/>", begin) + 2 :]
        )
    (tmp_path / "identified.xacro").write_text(xacro_text(mechanism_of(robot, values)))
    source = tmp_path / "robot.urdf.xacro"
    source.write_text(
        urdf.replace(
            '<robot name="tx40">',
            '<robot name="tx40" xmlns:xacro="http://www.ros.org/wiki/xacro">'
            f'<xacro:include filename="{tmp_path / "identified.xacro"}"/>',
        )
    )
    expanded = xacro.process_file(str(source)).toprettyxml()
    found = values_of_urdf(expanded, robot, beside=values)
    np.testing.assert_allclose(found, values, rtol=1e-13, atol=1e-14)


def test_friction_that_follows_a_temperature_is_given_with_the_one_that_it_holds_at(tx40):
    robot, _ = tx40
    first, *others = robot.joints
    warm = replace(first, temperature=TemperatureDependence(35.0))
    robot = replace(robot, joints=(warm, *others))
    values = random_values(np.random.default_rng(0), robot)
    text = controller_yaml(mechanism_of(robot, values))
    dynamics = yaml.safe_load(text)["/**"]["ros__parameters"]["dynamics"]
    stated = {
        joint: own["temperature_reference"]
        for joint, own in dynamics["by_joint"].items()
        if "temperature_reference" in own
    }
    assert stated == {first.name: 35.0}
    assert {"FvT1", "FcT1", "offT1"} <= {*dynamics["standard_names"]}
    assert "FvT * (T - temperature_reference)" in text
    plain = controller_yaml(mechanism_of(load_robot("tx40"), tx40[1]))
    assert "temperature" not in plain


def test_xacro_names_are_names_and_none_stands_twice():
    robot = random_robot(np.random.default_rng(0), joints=3)
    names = ("a-b", "a.b", "7")
    joints = [replace(j, name=n, link=n) for j, n in zip(robot.joints, names, strict=True)]
    robot = replace(robot, joints=tuple(joints))
    text = xacro_text(mechanism_of(robot, random_values(np.random.default_rng(0), robot)))
    for name in ("a_b_mass", "a_b__damping", "a_b___mass", "_7_mass", "_7__armature"):
        assert text.count(f'<xacro:property name="{name}"') == 1


def test_a_node_of_ros_2_finds_every_parameter(tmp_path, tx40):
    robot, values = tx40
    path = tmp_path / "dynamics.yaml"
    path.write_text(controller_yaml(mechanism_of(robot, values)))
    declared = {"automatically_declare_parameters_from_overrides": True}
    with node("--params-file", str(path), name="controller", **declared) as made:
        found = {name: p.value for name, p in made.get_parameters_by_prefix("dynamics").items()}
    assert list(found["joints"]) == list(robot.joint_names)
    np.testing.assert_array_equal(found["standard_values"], values)
    assert tuple(found["standard_names"]) == robot.all_parameter_names
    for j, name in enumerate(robot.joint_names):
        own = values[14 * j : 14 * j + 14]
        mass = found[f"by_joint.{name}.mass"]
        np.testing.assert_allclose(
            mass * np.array(found[f"by_joint.{name}.centre_of_mass"]), own[6:9], rtol=1e-15
        )
        assert [mass, *(found[f"by_joint.{name}.{key}"] for key in DRIVE)] == list(own[9:])
    assert found["couplings.Fcm6.value"] == values[-1]
    assert found["couplings.Fcm6.term_1.of.joint_5"] == 1.0
    assert list(found["gravity"]) == [0.0, 0.0, -9.81]


DRIVE = ("drive_inertia", "viscous_friction", "coulomb_friction", "offset")


def test_the_class_of_a_joint_is_not_that_of_everything_in_mujoco(tx40):
    mujoco = pytest.importorskip("mujoco")
    robot, _ = tx40
    first, second, *rest = robot.joints
    joints = (replace(first, name="main"), replace(second, name="main_"), *rest)
    named = replace(robot, joints=joints, couplings=())
    text = mjcf_text(mechanism_of(named, random_values(np.random.default_rng(0), named)))
    assert "<!-- the class of the joint main is main__ -->" in text
    assert text.count('<default class="main__">') == text.count('<default class="main_">') == 1
    mujoco.MjModel.from_xml_string(text)


def test_the_name_of_a_robot_is_nothing_that_xacro_evaluates(tmp_path, tx40):
    xacro = pytest.importorskip("xacro")
    robot, values = tx40
    for name in ("arm ${pi} $(arg side)", "$$${x} $ 5"):
        path = tmp_path / "arm.xacro"
        path.write_text(xacro_text(mechanism_of(replace(robot, name=name), values)))
        read = xacro.process_file(str(path)).documentElement
        assert read.getAttribute("name") == name


def test_numbers_and_words_mean_the_same_to_every_reader_of_yaml():
    data = {"on": 1e-7, "plain/name": "off", "list": [1.0, 1e22, -0.0], "flag": True, "n": 3}
    text = yaml_text({"a b": data, "none": {}}, heading=["one", "two"])
    assert text.startswith("# one\n# two\n")
    assert "1.0e-07" in text
    assert yaml.safe_load(text) == {"a b": data}


def test_every_text_comes_back_from_yaml():
    text = "\N{ROBOT FACE} é # \x85\u2028\u2029\ufeff\x7f\t\n'\"\\ $x"
    written = yaml_text({text: {"name": text}})
    assert yaml.safe_load(written) == {text: {"name": text}}
    assert yaml.load(written, Loader=yaml.CSafeLoader) == {text: {"name": text}}
    assert len(written.splitlines()) == 2
    assert "\N{ROBOT FACE}" in written


def test_couplings_of_one_parameter_each_have_their_place():
    robot = random_robot(np.random.default_rng(0), joints=3, couplings=coupled_wrist())
    again = tuple(
        replace(c, parameter="Fvm2", kind=robot.couplings[1].kind) for c in robot.couplings
    )
    robot = replace(robot, couplings=again)
    values = random_values(np.random.default_rng(0), robot)
    data = yaml.safe_load(controller_yaml(mechanism_of(robot, values)))
    couplings = data["/**"]["ros__parameters"]["dynamics"]["couplings"]
    assert list(couplings) == ["Fvm2", "Fvm2_", "Fvm2__"]
    assert {entry["parameter"] for entry in couplings.values()} == {"Fvm2"}


def test_all_targets_are_checked_before_the_first_is_written(tmp_path, tx40):
    robot, values = tx40
    targets = {kind: tmp_path / kind for kind in KINDS}
    write_outputs(targets, robot, values)
    assert all(path.stat().st_size > 100 for path in targets.values())
    before = {path: path.read_text() for path in targets.values()}
    with pytest.raises(OutputError, match="two outputs"):
        write_outputs({"urdf": tmp_path / "urdf", "xacro": tmp_path / "urdf"}, robot, values)
    with pytest.raises(OutputError, match="does not exist"):
        write_outputs(targets | {"armature": tmp_path / "none" / "a"}, robot, values * 1.5)
    with pytest.raises(OutputError, match="is what was read"):
        write_outputs(targets, robot, values * 1.5, keep=[tmp_path / "armature"])
    assert {path: path.read_text() for path in targets.values()} == before
