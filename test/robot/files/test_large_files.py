"""Files that are within their size and still too much: refused at once, not after minutes."""

import time

import pytest

from robot_identification.errors import RobotDescriptionError, TrajectoryError
from robot_identification.files.plans.trajectories import read_trajectory
from robot_identification.robot.files.document import MAXIMUM_BYTES, MAXIMUM_ENTRIES, parse_document
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.urdf.prior import urdf_prior
from robot_identification.robot.files.urdf.robot import MAXIMUM_JOINTS
from robot_identification.robot.files.urdf.xml_document import MAXIMUM_ELEMENTS

HEAD = "name: a\neffort_meaning: current\n"
SECONDS = 20.0  # of the processor; each took minutes, or failed otherwise


@pytest.fixture(autouse=True)
def _quick():
    began = time.process_time()
    yield
    assert time.process_time() - began < SECONDS


def filled(begin, unit, end=""):
    return begin + unit * ((MAXIMUM_BYTES - len(begin) - len(end)) // len(unit)) + end


def refused(path, text):
    path.write_text(text)
    with pytest.raises(RobotDescriptionError) as caught:
        load_robot(path)
    assert len(str(caught.value)) < 1000
    return caught.value.problem


@pytest.mark.parametrize(
    "text",
    [
        filled(f"{HEAD}gravity: [", "x,", "1]"),
        filled(f"{HEAD}joints: [", "1,", "1]"),
        filled(f"{HEAD}joints: [", "{},", "{}]"),
        HEAD + "".join(f"k{i}: 1\n" for i in range(MAXIMUM_ENTRIES)),
    ],
)
def test_too_many_entries_are_refused(tmp_path, text):
    assert (
        refused(tmp_path / "robot.yaml", text)
        == "too many entries; more than 20000 entries are not read"
    )


def test_the_limit_of_entries_counts_all_of_them():
    text = f"[{'1,' * (MAXIMUM_ENTRIES - 1)}]"
    assert len(parse_document(text, "numbers.yaml").data) == MAXIMUM_ENTRIES - 1
    with pytest.raises(RobotDescriptionError, match="too many entries"):
        parse_document(f"[1,{text[1:]}", "numbers.yaml")


def test_many_wrong_entries_are_told_by_the_first(tmp_path):
    text = f"{HEAD}gravity: [{'x,' * 15000}1]"
    assert "is not a number" in refused(tmp_path / "robot.yaml", text)


@pytest.mark.parametrize("angle", ["1" * 400 + "*pi", "pi/0." + "0" * 400 + "1"])
def test_an_angle_that_is_not_finite_is_refused(tmp_path, angle):
    text = f"{HEAD}joints: [{{name: a, type: revolute, geometry: {{alpha: '{angle}'}}}}]"
    problem = refused(tmp_path / "robot.yaml", text)
    assert "is not finite" in problem or "divides by zero" in problem


def chain(links, kind):
    return (
        "<robot>"
        + "".join(f'<link name="l{i}"/>' for i in range(links))
        + "".join(
            f'<joint name="j{i}" type="{kind}"><parent link="l{i}"/>'
            f'<child link="l{i + 1}"/></joint>'
            for i in range(links - 1)
        )
        + "</robot>"
    )


def test_a_urdf_with_too_many_elements_is_refused(tmp_path):
    text = f"<robot>{'<a/>' * MAXIMUM_ELEMENTS}</robot>"
    assert "elements" in refused(tmp_path / "arm.urdf", text)


def test_a_long_chain_of_links_is_followed_once(tmp_path):
    assert "no joint" in refused(tmp_path / "arm.urdf", chain(4000, "fixed"))


def test_as_many_joints_as_in_a_robot_file_are_accepted(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(chain(MAXIMUM_JOINTS + 1, "revolute"))
    assert len(load_robot(path).joints) == MAXIMUM_JOINTS
    assert "201 joints move; at most 200" in refused(path, chain(MAXIMUM_JOINTS + 2, "revolute"))


def test_a_long_attribute_is_not_repeated_in_the_error(tmp_path):
    text = f'<robot><link name="a"><inertial><mass value="{"1 " * 10**6}"/><inertia/></inertial>'
    assert "is not a finite number" in refused(tmp_path / "arm.urdf", text + "</link></robot>")


def test_a_trajectory_of_too_many_points_is_refused(tmp_path):
    path = tmp_path / "trajectory.yaml"
    path.write_text(filled("joint_names: [a]\npoints: [", "{},", "{}]"))
    with pytest.raises((RobotDescriptionError, TrajectoryError), match="too many entries"):
        read_trajectory(path)


@pytest.mark.parametrize(
    ("inertial", "place"),
    [
        ('<origin xyz="1e200 0 0"/><mass value="1e200"/>', "link[b]"),
        ('<origin rpy="0 0 0.8"/><mass value="1"/>', "link[b].inertia"),
    ],
)
def test_inertials_that_overflow_are_refused(tmp_path, inertial, place):
    ixx, ixy = ("1.7e308", "1e308") if "rpy" in inertial else ("1", "0")
    path = tmp_path / "arm.urdf"
    path.write_text(
        f'<robot name="r"><link name="a"/><link name="b"><inertial>{inertial}'
        f'<inertia ixx="{ixx}" ixy="{ixy}" ixz="0" iyy="{ixx}" iyz="0" izz="{ixx}"/></inertial>'
        '</link><joint name="j" type="revolute"><parent link="a"/><child link="b"/></joint></robot>'
    )
    with pytest.raises(RobotDescriptionError, match="too large to be computed with") as caught:
        urdf_prior(path, load_robot(path))
    assert caught.value.field == place
