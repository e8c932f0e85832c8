"""What requests read of the reference in a bag: DIDIM what follows it, nobody else."""

import numpy as np
import pytest
from robot_identification.srv import IdentifyDidim
from rosbags.typesys import Stores, get_typestore

from robot_identification import msg
from robot_identification.dynamics.reference import sample
from robot_identification.errors import MissingSignalError, SampleError, TopicError
from robot_identification.files.bags.cdr.joint_states import MESSAGE_TYPE as JOINT_STATE
from robot_identification.files.bags.cdr.joint_states import encode
from robot_identification.files.bags.trajectories import MESSAGE_TYPE as JOINT_TRAJECTORY
from robot_identification.files.bags.writing import write_bag
from robot_identification.robot.files.loading import load_robot
from robot_identification.ros.acquisition.recorder import Block, Counts
from robot_identification.ros.identification.didim_requests import references_of
from robot_identification.ros.identification.recordings.live_recordings import LiveRecordings
from robot_identification.ros.identification.recordings.selection import live_recordings, read_data
from robot_identification.signals.raw_samples import RawSamples

ROBOT = load_robot("scara")
START = 1_700_000_000_000_000_000
STAMPS = START + 10_000_000 * np.arange(300)
CONTROLLER = "/my_controller/joint_trajectory"
TYPES = get_typestore(Stores.ROS2_JAZZY)


def states(position):
    """Return serialised joint states, all joints at the same positions."""
    values = np.repeat(np.asarray(position, dtype=float)[:, None], 2, axis=1)
    return encode(STAMPS, ROBOT.joint_names, values, None, values + 1.0)


def trajectory():
    """Return a serialised trajectory that takes both joints from 0 to 2 in 2 s."""
    kinds, none = TYPES.types, np.zeros(0)
    points = [
        kinds["trajectory_msgs/msg/JointTrajectoryPoint"](
            positions=np.full(2, place),
            velocities=none,
            accelerations=none,
            effort=none,
            time_from_start=kinds["builtin_interfaces/msg/Duration"](sec=int(place), nanosec=0),
        )
        for place in (0.0, 2.0)
    ]
    stamp = kinds["builtin_interfaces/msg/Time"](sec=START // 10**9, nanosec=0)
    message = kinds[JOINT_TRAJECTORY](
        header=kinds["std_msgs/msg/Header"](stamp=stamp, frame_id=""),
        joint_names=list(ROBOT.joint_names),
        points=points,
    )
    return bytes(TYPES.serialize_cdr(message, JOINT_TRAJECTORY))


def written(path, **topics):
    """Return a bag of joint states, and what else is on it: samples or one trajectory."""
    with write_bag(path) as bag:
        for time, raw in zip(STAMPS, states(np.sin(0.01 * np.arange(300))), strict=True):
            bag.write("/joint_states", JOINT_STATE, int(time), raw.tobytes())
        for topic, content in topics.items():
            if content is trajectory:
                bag.write(CONTROLLER, JOINT_TRAJECTORY, START, trajectory())
                continue
            for time, raw in zip(STAMPS, states(content), strict=True):
                bag.write(f"/{topic}", JOINT_STATE, int(time), raw.tobytes())
    return str(path)


def read(data, **needed):
    return read_data(data, ROBOT, [], lambda: False, **needed)


def references(data):
    request = IdentifyDidim.Request(data=data)
    return references_of(request, read(data, reference_needed=True), ROBOT)


def test_the_trajectory_topic_of_a_controller_can_be_named(tmp_path):
    bag = written(tmp_path / "bag", controller=trajectory)
    (found,) = references(msg.DataSelection(bags=[bag], reference_topic=CONTROLLER))
    np.testing.assert_allclose(sample(found, [1.0])[0], [[1.0, 1.0]])
    with pytest.raises(MissingSignalError, match="reference"):
        references(msg.DataSelection(bags=[bag]))


def test_a_topic_with_samples_of_the_reference_can_be_named(tmp_path):
    wave = np.cos(0.01 * np.arange(300))
    bag = written(tmp_path / "bag", commands=wave, controller=trajectory)
    (found,) = references(msg.DataSelection(bags=[bag], reference_topic="/commands"))
    np.testing.assert_allclose(sample(found, [1.0])[0][0], wave[100], atol=1e-6)


def test_a_named_topic_that_is_not_there_is_told_with_those_that_are(tmp_path):
    bag = written(tmp_path / "bag", controller=trajectory)
    with pytest.raises(TopicError, match=r"on topic /my_controler; .*/my_controller"):
        references(msg.DataSelection(bags=[bag], reference_topic="/my_controler"))


def test_a_reference_that_is_spoilt_concerns_didim_alone(tmp_path):
    wave = np.zeros(300)
    wave[17] = np.nan
    data = msg.DataSelection(bags=[written(tmp_path / "bag", joint_reference=wave)])
    (recording,) = read(data)
    assert recording.samples == 300
    with pytest.raises(SampleError, match="reference of joint joint_1 is nan at sample 17"):
        read(data, reference_needed=True)


def test_a_live_reference_that_is_spoilt_concerns_didim_alone():
    position = np.repeat(np.sin(0.01 * np.arange(300))[:, None], 2, axis=1)
    reference = position.copy()
    reference[17, 0] = np.nan
    live = LiveRecordings(10**6, 10)
    samples = RawSamples(STAMPS, position, None, position + 1.0, reference)
    live.add(Block("run", 0, 0, last=True, samples=samples, counts=Counts()), "joint_torque")
    data = msg.DataSelection(recordings=["run"])
    sources = live_recordings(data, live)
    (recording,) = read_data(data, ROBOT, sources, lambda: False)
    assert recording.samples == 300
    assert recording.segments[0].reference is None
    with pytest.raises(SampleError, match="reference of joint joint_1 is nan at sample 17"):
        read_data(data, ROBOT, sources, lambda: False, reference_needed=True)


def test_what_was_recorded_live_before_the_first_trajectory_is_left_to_the_other_methods():
    position = np.repeat(np.sin(0.01 * np.arange(300))[:, None], 2, axis=1)
    live = LiveRecordings(10**6, 10)
    for number, part in enumerate(np.split(np.arange(300), 3)):
        there = position[part]
        reference = there if number else None
        samples = RawSamples(STAMPS[part], there, None, there + 1.0, reference)
        block = Block(
            "run", number, int(part[0]), last=number == 2, samples=samples, counts=Counts()
        )
        live.add(block, "joint_torque")
    data = msg.DataSelection(recordings=["run"])
    sources = live_recordings(data, live)
    (recording,) = read_data(data, ROBOT, sources, lambda: False)
    assert recording.samples == 300
    (recording,) = read_data(data, ROBOT, sources, lambda: False, reference_needed=True)
    assert recording.start_stamp == STAMPS[100]
    (found,) = references_of(IdentifyDidim.Request(data=data), [recording], ROBOT)
    np.testing.assert_allclose(sample(found, [0.5])[0], position[150:151], atol=1e-6)
