"""Serialised messages, held against the serialiser of rosbags."""

import numpy as np
import pytest
from rosbags.typesys import Stores, get_typestore

from robot_identification.files.bags.cdr.messages import (
    PointMessage,
    TrajectoryMessage,
    read_array,
    read_temperature,
)
from robot_identification.files.bags.cdr.values import LayoutError

STORE = get_typestore(Stores.ROS2_JAZZY)
TYPES = STORE.types
TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"
ARRAY = "std_msgs/msg/Float64MultiArray"
TEMPERATURE = "sensor_msgs/msg/Temperature"
ORDERS = pytest.mark.parametrize("little_endian", [True, False])


def serialised(message, kind, little_endian=True):
    return bytes(STORE.serialize_cdr(message, kind, little_endian=little_endian))


def header(stamp, frame=""):
    time = TYPES["builtin_interfaces/msg/Time"](*divmod(stamp, 1_000_000_000))
    return TYPES["std_msgs/msg/Header"](stamp=time, frame_id=frame)


def trajectory(frame, names, sizes, seed=0):
    """Return a message whose points have arrays of some sizes, and what is to be read of it."""
    rng = np.random.default_rng(seed)
    duration = TYPES["builtin_interfaces/msg/Duration"]
    points, expected = [], []
    for number, counts in enumerate(sizes):
        arrays = [rng.standard_normal(count) for count in counts]
        points.append(
            TYPES["trajectory_msgs/msg/JointTrajectoryPoint"](
                *arrays, time_from_start=duration(number, 5)
            )
        )
        expected.append(PointMessage(number * 1_000_000_000 + 5, *arrays[:3]))
    message = TYPES[TRAJECTORY](header(-3, frame), list(names), points)
    return message, TrajectoryMessage(-3, tuple(names), tuple(expected))


@ORDERS
@pytest.mark.parametrize("frame", ["", "base", "Gelenk ü"])
@pytest.mark.parametrize("sizes", [[], [(2, 2, 2, 2)], [(2, 0, 1, 0), (0, 0, 0, 3), (1, 2, 3, 4)]])
def test_trajectories(frame, sizes, little_endian):
    message, expected = trajectory(frame, ["hip", "k", "ankle ü"], sizes)
    assert TrajectoryMessage.read(serialised(message, TRAJECTORY, little_endian)) == expected


def test_a_trajectory_is_written_as_by_others():
    message, expected = trajectory("", ["hip", "knee"], [(2, 2, 0, 0), (2, 2, 2, 0)])
    assert expected.written() == serialised(message, TRAJECTORY)


@ORDERS
def test_arrays_and_temperatures(little_endian):
    dimension = TYPES["std_msgs/msg/MultiArrayDimension"]("joints", 3, 3)
    layout = TYPES["std_msgs/msg/MultiArrayLayout"]([dimension, dimension], 0)
    numbers = np.array([1.5, -np.inf, 3.0])
    message = TYPES[ARRAY](layout, numbers)
    assert np.array_equal(read_array(serialised(message, ARRAY, little_endian)), numbers)
    warm = TYPES[TEMPERATURE](header(1_700_000_000_000_000_007, "motor"), 41.5, 0.25)
    read = read_temperature(serialised(warm, TEMPERATURE, little_endian))
    assert read == (1_700_000_000_000_000_007, 41.5)


def test_no_part_of_a_message_and_nothing_longer_passes_for_one():
    message, _ = trajectory("base", ["hip"], [(1, 1, 1, 1)])
    whole = serialised(message, TRAJECTORY)
    for size in range(len(whole)):
        with pytest.raises(LayoutError):
            TrajectoryMessage.read(whole[:size])
    TrajectoryMessage.read(whole + bytes(3))
    with pytest.raises(LayoutError, match="4 bytes follow"):
        TrajectoryMessage.read(whole + bytes(4))
    with pytest.raises(LayoutError, match="serialised as 0003, not in CDR"):
        TrajectoryMessage.read(b"\x00\x03" + whole[2:])


@pytest.mark.parametrize("count", [0xFFFFFFFF, 1 << 28])
def test_no_number_of_elements_is_believed_for_which_the_message_is_too_short(count):
    message, _ = trajectory("", [], [])
    damaged = serialised(message, TRAJECTORY)[:-4] + np.uint32(count).tobytes()
    with pytest.raises(LayoutError, match=f"{count} points in a message of 28 bytes"):
        TrajectoryMessage.read(damaged)
