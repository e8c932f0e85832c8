"""The section springs of robot files: what is read, what is refused and where."""

import json

import numpy as np
import pytest
import yaml

from robot_identification.calibration.consistency.conditions import conditions
from robot_identification.errors import RobotDescriptionError
from robot_identification.robot.files.document import parse_document
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.robot_yaml.robot import build
from robot_identification.robot.terms.springs import SpringEnd, SpringKind

FILE = """\
name: arm
effort_meaning: joint_torque
joints:
  - {name: shoulder, type: revolute, geometry: {alpha: pi/2, r: 0.4}}
  - {name: elbow, type: revolute, link: forearm, geometry: {d: 0.3}}
springs:
  - name: balancer
    kind: gas
    between:
      - {link: base, point: [0.2, 0, 0]}
      - {link: forearm, point: [0.1, 0.05, 0]}
"""
URDF = """\
<robot name="arm">
  <link name="world"/><link name="upper"/><link name="plate"/>
  <joint name="shoulder" type="revolute">
    <parent link="world"/><child link="upper"/><origin xyz="0 0 0.5"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="1"/>
  </joint>
  <joint name="bolt" type="fixed">
    <parent link="upper"/><child link="plate"/><origin xyz="0.3 0 0"/>
  </joint>
</robot>
"""


def read(text):
    return build(parse_document(text, "arm.yaml"))


def changed(**entries):
    data = yaml.safe_load(FILE)
    data["springs"][0].update(entries)
    return read(json.dumps(data))


def test_a_spring_adds_two_parameters_behind_all_others():
    robot = read(FILE)
    assert robot.all_parameter_names[-2:] == ("balancer_preload", "balancer_stiffness")
    assert robot.standard_names[-2:] == robot.all_parameter_names[-2:]
    assert [robot.unit_of(name) for name in robot.all_parameter_names[-2:]] == ["N", "N/m"]
    (spring,) = robot.springs
    assert spring.kind is SpringKind.GAS
    assert spring.ends == (SpringEnd(-1, (0.2, 0.0, 0.0)), SpringEnd(1, (0.1, 0.05, 0.0)))


def test_the_length_is_that_at_position_zero_unless_it_is_stated():
    """The forearm's point is at x = 0.3 + 0.1 and, with alpha a quarter turn, z = 0.05 below r."""
    found = read(FILE).springs[0].length
    assert found == pytest.approx(np.linalg.norm([0.4 - 0.2, -0.4, 0.05]))
    assert changed(length=0.7).springs[0].length == 0.7


def test_a_parameter_that_is_left_out_has_no_name():
    assert changed(stiffness=False).all_parameter_names[-1] == "balancer_preload"
    assert changed(preload=False).added_parameters.keys() == {"balancer_stiffness"}


def test_gas_springs_push_and_no_stiffness_is_negative():
    kinds = {c.kind for c in conditions(read(FILE)) if c.owner == "balancer"}
    assert kinds == {"preload", "stiffness"}
    kinds = {c.kind for c in conditions(changed(kind="coil")) if c.owner == "balancer"}
    assert kinds == {"stiffness"}


def end(link, *point):
    return {"link": link, "point": list(point)}


@pytest.mark.parametrize(
    ("entries", "field", "problem"),
    [
        ({"between": [end("base", 0, 0, 0), end("fore arm", 0, 0, 0)]}, "link", "fore arm"),
        ({"between": [end("base", 0, 0, 0), end("forarm", 0, 0, 0)]}, "link", "mean forearm"),
        ({"between": [end("elbow", 0, 0, 0), end("forearm", 1, 0, 0)]}, "between", "same rigid"),
        ({"between": [end("base", 0, 0), end("forearm", 0, 0, 0)]}, "point", "entries"),
        ({"kind": "leaf"}, "kind", "coil, gas"),
        ({"name": "left balancer"}, "name", "letters"),
        ({"stiffness": False, "preload": False}, "springs[0]", "neither"),
        ({"lenght": 0.2}, "lenght", "length"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(entries, field, problem):
    with pytest.raises(RobotDescriptionError) as refused:
        changed(**entries)
    assert field in str(refused.value)
    assert problem in str(refused.value)


def test_two_springs_of_one_name_are_refused():
    data = yaml.safe_load(FILE)
    data["springs"] *= 2
    with pytest.raises(RobotDescriptionError, match="second spring named balancer"):
        read(json.dumps(data))


def test_points_of_a_urdf_are_in_the_frames_of_its_links(tmp_path):
    """The axis is y, so that frame 1 is turned; the plate is fixed to the upper arm."""
    (tmp_path / "arm.urdf").write_text(URDF)
    (tmp_path / "arm.yaml").write_text(
        "name: arm\neffort_meaning: joint_torque\nurdf: arm.urdf\nsprings:\n"
        "  - {name: balancer, kind: coil, between: [{link: world, point: [0, 0, 1.5]},\n"
        "     {link: plate, point: [0.1, 0, 0.2]}]}\n"
    )
    robot = load_robot(tmp_path / "arm.yaml")
    (spring,) = robot.springs
    assert spring.ends[1].joint == 0
    place = robot.joints[0].rotation @ spring.ends[1].point + robot.joints[0].translation
    np.testing.assert_allclose(place, [0.4, 0.0, 0.7], atol=1e-15)
    assert spring.length == pytest.approx(np.hypot(0.4, 0.8))
