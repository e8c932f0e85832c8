"""However a description is damaged, it is either read or refused; nothing else happens."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_identification.errors import RobotDescriptionError
from robot_identification.robot.files.document import parse_document
from robot_identification.robot.files.loading import find_robot, load_robot
from robot_identification.robot.files.robot_yaml.robot import build

TX40 = find_robot("tx40").read_text()
PIECES = st.sampled_from(
    [
        "",
        "\n",
        ":",
        "- ",
        "{",
        "]",
        "null",
        "0",
        "-1",
        "1e400",
        "x",
        "[]",
        "{}",
        "&a",
        "'",
        "\t",
        "pi",
    ]
)
URDF = (
    '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>'
    '<origin xyz="0 0 0"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    '</link><joint name="j" type="revolute"><parent link="a"/><child link="b"/>'
    '<axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>'
)


@st.composite
def damaged(draw, text):
    """Draw a text in which a few places have been replaced."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text) - 1))
        end = draw(st.integers(start, min(len(text), start + 30)))
        text = text[:start] + draw(PIECES) + text[end:]
    return text


@settings(max_examples=300)
@given(damaged(TX40))
def test_a_damaged_robot_file_is_read_or_refused(text):
    try:
        robot = build(parse_document(text, "tx40.yaml"))
    except RobotDescriptionError:
        return
    assert robot.joints
    assert robot.motor_matrix.shape == (len(robot.joints),) * 2


@settings(max_examples=300)
@given(text=damaged(URDF))
def test_a_damaged_urdf_is_read_or_refused(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "damaged.urdf"
    path.write_text(text)
    try:
        robot = load_robot(path)
    except RobotDescriptionError:
        return
    assert robot.joints


def test_the_examples_of_the_reference_are_valid():
    reference = Path(__file__).resolve().parents[3] / "docs" / "robot_file.md"
    if not reference.is_file():
        pytest.skip("the documentation is not installed with the tests")
    first, couplings = re.findall(r"```yaml\n(.*?)```", reference.read_text(), re.DOTALL)[:2]
    robot = build(parse_document(first, "docs/robot_file.md"))
    assert robot.joint_names == ("shoulder", "elbow")
    six = "".join(f"  - {{name: joint_{n}, type: revolute, geometry: {{}}}}\n" for n in range(1, 7))
    text = f"name: x\neffort_meaning: current\njoints:\n{six}{couplings}"
    assert build(parse_document(text, "docs/robot_file.md")).coupling_parameters == ("Fcm6",)
