"""Joints of a bag beside those that are identified: where the bag says that they stand."""

from types import SimpleNamespace

import numpy as np
import pytest

from looped_robots import parallelogram
from made_up_bags import NAMES, START, message, write_messages
from made_up_states import state
from robot_identification.errors import LoopMismatchError
from robot_identification.files.bags.cdr.dynamic_states import INTERFACES
from robot_identification.files.bags.cdr.dynamic_states import MESSAGE_TYPE as DYNAMIC_STATE
from robot_identification.files.bags.joint_states.other_joints import other_joint_warnings
from robot_identification.files.bags.recordings import read_recordings
from robot_identification.files.tables.columns import Columns

ROBOT = SimpleNamespace(fixed_joints={"finger": 0.0, "lift": 0.2})
STEP = 1_000_000


def told(path, topic="/joint_states", part=(-1.0, 1.0)):
    """Return what is said of a part of a bag that begins at START, in s."""
    segment = SimpleNamespace(time=part)
    recording = SimpleNamespace(start_stamp=START, segments=(segment,))
    return other_joint_warnings(path, ROBOT, None, recording, topic=topic, interfaces=INTERFACES)


def together(finger, count=20):
    """Return states of a robot with a finger among its joints, and no lift."""
    names = ("finger", *NAMES)
    return [
        message(START + STEP * i, names, [finger(i), *np.zeros(3)], effort=np.zeros(4))
        for i in range(count)
    ]


@pytest.mark.parametrize("storage", ["sqlite3", "mcap"])
def test_a_finger_among_the_joints_is_compared(tmp_path, storage):
    path = write_messages(tmp_path / "bag", together(lambda _: 0.04), storage=storage)
    (line,) = told(path)
    assert line.startswith(f"{path}: finger stands at 0.04")
    assert told(write_messages(tmp_path / "held", together(lambda _: 0.0))) == []


def test_a_gripper_with_states_of_its_own_is_compared(tmp_path):
    """Its positions are not numbers until its driver has read them."""
    arm = [message(START + STEP * i, NAMES, np.zeros(3), effort=np.zeros(3)) for i in range(20)]
    gripper = [
        message(START + STEP * i + 300, ("lift", "finger"), [0.2, np.nan if i < 5 else 0.002 * i])
        for i in range(20)
    ]
    mixed = [one for pair in zip(arm, gripper, strict=True) for one in pair]
    (line,) = told(write_messages(tmp_path / "bag", mixed))
    assert "finger moved from 0.01 to 0.038" in line


def test_interfaces_of_every_joint_are_read_too(tmp_path):
    states = [
        state(
            START + STEP * i, {"hip": {"position": 0.0, "effort": 1.0}, "lift": {"position": 0.5}}
        )
        for i in range(5)
    ]
    path = write_messages(
        tmp_path / "bag", states, topic="/dynamic_joint_states", kind=DYNAMIC_STATE
    )
    (line,) = told(path, "/dynamic_joint_states")
    assert "lift stands at 0.5" in line


@pytest.mark.parametrize("positions", [False, True])
def test_a_bag_that_does_not_tell_says_nothing(tmp_path, positions):
    names = ("finger", *NAMES) if not positions else NAMES
    position = np.zeros(len(names)) if positions else None
    states = [message(START + i, names, position, effort=np.zeros(len(names))) for i in range(5)]
    assert told(write_messages(tmp_path / "bag", states)) == []


def test_a_gripper_that_closes_before_the_part_that_counts_is_no_matter(tmp_path):
    path = write_messages(tmp_path / "bag", together(lambda i: 0.04 if i < 10 else 0.0))
    assert "finger moved from 0 to 0.04" in told(path)[0]
    assert told(path, part=(0.010, 0.019)) == []
    assert "finger stands at 0.04" in told(path, part=(0.0, 0.009))[0]


def test_states_without_a_stamp_are_compared_by_the_times_of_recording(tmp_path):
    names = ("finger", *NAMES)
    states = [message(0, names, [0.04, *np.zeros(3)], effort=np.zeros(4)) for _ in range(20)]
    (line,) = told(write_messages(tmp_path / "bag", states))
    assert "finger stands at 0.04" in line


def crank(count=200):
    """Return positions of a parallelogram: those of its crank, its coupler and its rocker."""
    turned = np.sin(0.05 * np.arange(count))
    return {"joint_1": turned, "joint_2": -turned, "joint_3": turned}


def test_a_follower_is_judged_in_the_part_that_counts(tmp_path):
    """As where its encoder is homed after the recorder was started."""
    positions = crank()
    positions["joint_2"] = np.where(np.arange(200) < 60, 2.0, positions["joint_2"])
    table = np.stack(list(positions.values()), axis=1)
    states = [
        message(START + STEP * i, list(positions), row, effort=np.ones(3))
        for i, row in enumerate(table)
    ]
    path = write_messages(tmp_path / "bag", states)
    with pytest.raises(LoopMismatchError, match="joint_2"):
        read_recordings([path], parallelogram())
    (recording,) = read_recordings([path], parallelogram(), begin=0.3)
    assert not any("joint_2" in line for line in recording.warnings)


def test_a_follower_is_read_from_the_interface_that_is_named(tmp_path):
    states = [
        state(
            START + STEP * i,
            {
                name: {"angle": own[i] + 0.03 * (name == "joint_2"), "effort": 1.0}
                for name, own in crank().items()
            },
        )
        for i in range(200)
    ]
    topic = "/dynamic_joint_states"
    path = write_messages(tmp_path / "bag", states, topic=topic, kind=DYNAMIC_STATE)
    columns = Columns.of({"position": "angle"})
    (recording,) = read_recordings([path], parallelogram(), topic=topic, columns=columns)
    assert any("joint_2 is off the relation" in line for line in recording.warnings)
