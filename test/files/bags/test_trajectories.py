import numpy as np
import pytest
from rosbags.typesys import Stores, get_typestore

from made_up_bags import START, write_messages
from robot_identification.errors import BagError, TopicError, TrajectoryError
from robot_identification.files.bags.trajectories import MESSAGE_TYPE, read_trajectories

TYPES = get_typestore(Stores.ROS2_JAZZY)


def trajectory(times=(0.0, 1.5), *, stamp=5, velocities=True, values=2) -> bytes:
    """Return a serialised trajectory of two joints."""
    kinds = TYPES.types
    empty = np.zeros(0)
    points = [
        kinds["trajectory_msgs/msg/JointTrajectoryPoint"](
            positions=np.full(values, time),
            velocities=np.ones(values) if velocities else empty,
            accelerations=empty,
            effort=empty,
            time_from_start=kinds["builtin_interfaces/msg/Duration"](
                sec=int(time), nanosec=int(time % 1 * 1e9)
            ),
        )
        for time in times
    ]
    message = kinds[MESSAGE_TYPE](
        header=kinds["std_msgs/msg/Header"](
            stamp=kinds["builtin_interfaces/msg/Time"](sec=stamp, nanosec=stamp), frame_id=""
        ),
        joint_names=["hip", "knee"],
        points=points,
    )
    return bytes(TYPES.serialize_cdr(message, MESSAGE_TYPE))


def written(folder, messages):
    return write_messages(folder / "bag", messages, topic="/joint_trajectory", kind=MESSAGE_TYPE)


def test_trajectories_come_with_their_start(tmp_path):
    path = written(tmp_path, [trajectory(), trajectory(stamp=0, velocities=False)])
    first, second = read_trajectories(path)
    assert first.start_stamp == 5_000_000_005
    assert first.trajectory.joint_names == ("hip", "knee")
    np.testing.assert_array_equal(first.trajectory.times, [0.0, 1.5])
    np.testing.assert_array_equal(first.trajectory.positions, [[0.0, 0.0], [1.5, 1.5]])
    np.testing.assert_array_equal(first.trajectory.velocities, np.ones((2, 2)))
    assert second.start_stamp == START + 1_000_000  # stamp zero: at once
    assert second.trajectory.velocities is None


def test_empty_trajectory_is_a_stop_and_no_motion(tmp_path):
    path = written(tmp_path, [trajectory(), trajectory(times=())])
    assert len(read_trajectories(path)) == 1


@pytest.mark.parametrize("wrong", [{"times": (1.0, 0.5)}, {"values": 3}])
def test_trajectory_that_cannot_be_followed_is_refused(tmp_path, wrong):
    path = written(tmp_path, [trajectory(), trajectory(**wrong)])
    with pytest.raises(TrajectoryError, match="message 1 on /joint_trajectory"):
        read_trajectories(path)


def test_damaged_trajectory_is_refused(tmp_path):
    with pytest.raises(BagError, match="cannot be read"):
        read_trajectories(written(tmp_path, [trajectory()[:-20]]))


def test_topic_must_be_there(tmp_path):
    with pytest.raises(TopicError, match="the bag has /joint_trajectory"):
        read_trajectories(written(tmp_path, [trajectory()]), topic="/other")
