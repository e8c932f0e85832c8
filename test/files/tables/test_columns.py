"""Units of columns are those of what each joint is measured as: angles or lengths."""

from dataclasses import replace

import numpy as np
import pytest

import robot_identification as ri
from robot_identification.errors import SettingError
from robot_identification.files.tables.columns import Columns
from robot_identification.robot.model import EffortMeaning, PositionMeaning

SLIDE = 2  # joint of the Stanford arm that is prismatic
TURNING, SLIDING = (False, False), (False, True)


@pytest.fixture
def arm():
    return replace(ri.load_robot("stanford"), effort_meaning=EffortMeaning.JOINT_TORQUE)


@pytest.fixture
def log(arm, tmp_path):
    """Return a function that writes positions and efforts and reads them again."""
    time = 0.01 * np.arange(80)
    signal = np.sin(time[:, None] + np.arange(len(arm.joints)))

    def read(robot, columns, positions, efforts=1.0):
        path = tmp_path / "log.csv"
        np.savetxt(path, np.column_stack([time, positions * signal, efforts * signal]))
        (found,) = ri.read_bags(robot, path, columns={"time": "1", **columns})
        return found.segments[0]

    return read, signal


def scales(turning, sliding):
    """Return what a table has of each joint where it should have 1."""
    values = np.full(6, turning)
    values[SLIDE] = sliding
    return values


@pytest.mark.parametrize(
    ("unit", "sliding"), [("deg", 1.0), ("deg,mm", 1e3), ("mm,deg", 1e3), ("deg, m", 1.0)]
)
def test_units_of_angles_leave_slides_alone(arm, log, unit, sliding):
    read, signal = log
    found = read(
        arm, {f"position[{unit}]": "2-7", "effort[mNm]": "8-13"},
        scales(np.degrees(1.0), sliding), scales(1e3, 1.0),
    )  # fmt: skip
    np.testing.assert_allclose(found.position, signal)
    np.testing.assert_allclose(found.effort, signal)


def test_a_unit_of_lengths_leaves_what_turns_alone(arm, log):
    read, signal = log
    found = read(arm, {"position[mm]": "2-7", "effort": "8-13"}, scales(1.0, 1e3))
    np.testing.assert_allclose(found.position, signal)


def test_a_motor_that_turns_to_move_a_slide_has_angles(arm, log):
    read, signal = log
    own = arm.joints[SLIDE]
    geared = replace(own, transmission={own.name: 50.0})
    motors = replace(
        arm,
        joints=(*arm.joints[:SLIDE], geared, *arm.joints[SLIDE + 1 :]),
        position_meaning=PositionMeaning.MOTOR,
        effort_meaning=EffortMeaning.MOTOR_TORQUE,
    )
    found = read(
        motors, {"position[deg]": "2-7", "effort[mNm]": "8-13"},
        np.degrees(scales(1.0, 50.0)), 1e3 * scales(1.0, 1.0 / 50.0),
    )  # fmt: skip
    np.testing.assert_allclose(found.position, signal)
    np.testing.assert_allclose(found.effort, signal)


def test_currents_are_those_of_every_drive():
    columns = Columns.of({"effort[mA]": "effort"})
    np.testing.assert_array_equal(columns.factors("effort", SLIDING), [1e-3, 1e-3])


@pytest.mark.parametrize(
    ("meaning", "unit"), [("joint_torque", "mA"), ("motor_torque", "A"), ("current", "Nm")]
)
def test_a_unit_that_contradicts_what_efforts_are_is_refused(arm, log, meaning, unit):
    read, _ = log
    robot = replace(arm, effort_meaning=EffortMeaning(meaning))
    with pytest.raises(SettingError, match=rf"effort\[{unit}\]: the efforts of .* are {meaning}"):
        read(robot, {"position": "2-7", f"effort[{unit}]": "8-13"}, 1.0)


@pytest.mark.parametrize(
    ("key", "linear", "words"),
    [
        ("position[mm]", TURNING, r"position\[mm\]: nothing that is measured moves along a line"),
        ("position[deg,mm]", TURNING, r"position\[mm\]: nothing"),
        ("velocity[rpm]", (True, True), r"velocity\[rpm\]: nothing that is measured turns"),
    ],
)
def test_units_that_no_joint_can_have_are_refused(key, linear, words):
    columns = Columns.of({key: "2-3"})
    with pytest.raises(SettingError, match=words):
        columns.factors(key.partition("[")[0], linear)


@pytest.mark.parametrize(
    "key",
    ["position[deg,rad]", "position[mm,m]", "position[deg,mm,m]", "effort[mA,N]", "time[ms,s]"],
)
def test_two_units_of_the_same_joints_are_refused(key):
    with pytest.raises(SettingError, match="one unit, or one of what turns and one of what moves"):
        Columns.of({key: "2-3"})
