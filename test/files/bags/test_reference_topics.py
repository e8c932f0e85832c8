"""References that a bag holds beside its joint states: of a topic, of a controller's states."""

from pathlib import Path

import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from made_up_bags import NAMES, START, message
from robot_identification.errors import BagError
from robot_identification.files.bags.cdr.joint_states import CONTROLLER_STATE, MESSAGE_TYPE
from robot_identification.files.bags.joint_states.reading import read_joint_states
from robot_identification.files.bags.writing import write_bag

STORAGES = ["sqlite3", "mcap"]
DEFINITION = "controller_interfaces/msg/JointTrajectoryControllerState.msg"
CONTROLLERS = get_typestore(Stores.ROS2_JAZZY)
CONTROLLERS.register(
    get_types_from_msg(Path(__file__).parents[2].joinpath(DEFINITION).read_text(), CONTROLLER_STATE)
)


def test_reference_is_the_newest_one_at_the_stamp(tmp_path):
    with write_bag(tmp_path / "bag") as bag:
        for i in range(10):
            state = message(START + 10 * i, NAMES, np.ones(3), None, np.ones(3))
            bag.write("/joint_states", MESSAGE_TYPE, START + 10 * i, state)
        for i in range(4):
            reference = message(START + 30 * i - 5, NAMES[::-1], [3.0 * i, 2.0 * i, i])
            bag.write("/joint_reference", MESSAGE_TYPE, START + 30 * i, reference)
    read = read_joint_states(tmp_path / "bag", NAMES, reference_topic="/joint_reference").samples
    np.testing.assert_array_equal(read.reference[:, 0], [0, 0, 0, 1, 1, 1, 2, 2, 2, 3])
    np.testing.assert_array_equal(read.reference[-1], [3.0, 6.0, 9.0])


def controller_state(stamp, names, positions, speed):
    """Return a state of joint_trajectory_controller, which aims at positions."""
    kinds, none = CONTROLLERS.types, np.zeros(0)
    point = kinds["trajectory_msgs/msg/JointTrajectoryPoint"]
    multi = kinds["trajectory_msgs/msg/MultiDOFJointTrajectoryPoint"]
    duration = kinds["builtin_interfaces/msg/Duration"](sec=0, nanosec=0)
    nothing = multi(transforms=[], velocities=[], accelerations=[], time_from_start=duration)
    aims = [np.array(positions), np.full(3, speed), none, none]
    other = [np.full(3, 77.0), none, none, none]
    state = kinds[CONTROLLER_STATE](
        kinds["std_msgs/msg/Header"](
            kinds["builtin_interfaces/msg/Time"](*divmod(stamp, 10**9)), frame_id="arm"
        ),
        list(names),
        point(*aims, duration),
        *(point(*other, duration) for _ in range(3)),
        [],
        *[nothing] * 4,
        1.0,
    )
    return bytes(CONTROLLERS.serialize_cdr(state, CONTROLLER_STATE))


@pytest.mark.parametrize("storage", STORAGES)
def test_a_controller_s_state_says_what_it_was_to_follow(tmp_path, storage):
    plugin = StoragePlugin[storage.upper()]
    with Writer(tmp_path / "bag", version=9, storage_plugin=plugin) as bag:
        states = bag.add_connection("/joint_states", MESSAGE_TYPE, typestore=CONTROLLERS)
        aims = bag.add_connection("/jtc/controller_state", CONTROLLER_STATE, typestore=CONTROLLERS)
        for i in range(10):
            now = START + 10 * i
            bag.write(states, now, message(now, NAMES, np.ones(3), None, np.ones(3)))
            state = controller_state(now - 5, (*NAMES[::-1],), [3.0 * i, 2.0 * i, i], 0.1 * i)
            bag.write(aims, now, state)
    read = read_joint_states(tmp_path / "bag", NAMES, reference_topic="/jtc/controller_state")
    np.testing.assert_array_equal(read.samples.reference, np.outer(range(10), [1.0, 2.0, 3.0]))


def test_a_damaged_state_of_a_controller_is_refused(tmp_path):
    with Writer(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.MCAP) as bag:
        states = bag.add_connection("/joint_states", MESSAGE_TYPE, typestore=CONTROLLERS)
        aims = bag.add_connection("/controller_state", CONTROLLER_STATE, typestore=CONTROLLERS)
        bag.write(states, START, message(START, NAMES, np.ones(3), None, np.ones(3)))
        bag.write(aims, START, controller_state(START, NAMES, [1.0, 2.0, 3.0], 0.0)[:70])
    with pytest.raises(BagError, match="/controller_state is damaged: the message ends within"):
        read_joint_states(tmp_path / "bag", NAMES, reference_topic="/controller_state")


def test_reference_that_begins_too_late_is_left_out(tmp_path):
    with write_bag(tmp_path / "bag") as bag:
        state = message(START, NAMES, np.ones(3), None, np.ones(3))
        bag.write("/joint_states", MESSAGE_TYPE, START, state)
        bag.write("/joint_reference", MESSAGE_TYPE, START, message(START + 1, NAMES, np.ones(3)))
    read = read_joint_states(tmp_path / "bag", NAMES, reference_topic="/joint_reference")
    assert read.samples.reference is None
    assert "begins after the joint states" in read.warnings[-1]


@pytest.mark.parametrize(("stamped", "known"), [(True, False), (False, True)])
def test_a_reference_without_stamps_counts_only_where_the_states_have_none_either(
    tmp_path, stamped, known
):
    with write_bag(tmp_path / "bag") as bag:
        for i in range(10):
            now = START + 10 * i
            state = message(now if stamped else 0, NAMES, np.ones(3), None, np.ones(3))
            bag.write("/joint_reference", MESSAGE_TYPE, now, message(0, NAMES, np.full(3, i)))
            bag.write("/joint_states", MESSAGE_TYPE, now, state)
    read = read_joint_states(tmp_path / "bag", NAMES, reference_topic="/joint_reference")
    if known:
        np.testing.assert_array_equal(read.samples.reference[:, 0], range(10))
    else:
        assert read.samples.reference is None
    told = "/joint_reference: reference ignored: a sample without a stamp holds at an unknown time"
    assert any(told in line for line in read.warnings) is not known


def test_absent_reference_is_no_error(tmp_path):
    with write_bag(tmp_path / "bag") as bag:
        state = message(START, NAMES, np.ones(3), None, np.ones(3))
        bag.write("/joint_states", MESSAGE_TYPE, START, state)
    read = read_joint_states(tmp_path / "bag", NAMES, reference_topic="/joint_reference")
    assert read.samples.reference is None
