"""The reference as the node acquisition hears of it, by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
from sensor_msgs.msg import JointState

from live_nodes import ROBOT
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.ros.acquisition.recorder import Block, Counts
from robot_identification.ros.acquisition.reference import Reference
from robot_identification.ros.messages.common import time_of
from robot_identification.ros.messages.trajectories import message_of
from robot_identification.signals.raw_samples import RawSamples

BEGIN = 10**18


class Subscribers:
    """Stands for a node; what it is sent goes to whoever has subscribed."""

    def __init__(self):
        self._callbacks, self.kept, self.warnings = {}, [], []

    def create_subscription(self, _kind, topic, callback, _profile, **_options):
        self._callbacks[topic] = callback
        return SimpleNamespace(topic_name=topic)

    def get_logger(self):
        return SimpleNamespace(warning=lambda line, **_: self.warnings.append(line))

    def keep(self, topic, _kind, message, _received):
        self.kept.append((topic, message))

    def send(self, topic, message):
        self._callbacks[topic](message)


@pytest.fixture
def node():
    return Subscribers()


@pytest.fixture
def reference(node):
    return Reference(node, ROBOT, node.keep)


def trajectory(start, *positions):
    """Return the message of a trajectory with a point every second, all joints alike."""
    points = np.repeat(np.array(positions, dtype=float)[:, None], len(ROBOT.joints), axis=1)
    times = np.arange(len(positions), dtype=float)
    return message_of(Trajectory(ROBOT.joint_names, times, points), BEGIN + round(start * 1e9))


def wanted(start, position):
    """Return a sample of the reference."""
    message = JointState(name=list(ROBOT.joint_names), position=[position] * len(ROBOT.joints))
    message.header.stamp = time_of(BEGIN + round(start * 1e9))
    return message


def at(reference, *seconds):
    """Return the reference of the first joint in a block of states; None where none is known."""
    stamps = np.array([BEGIN + round(second * 1e9) for second in seconds], dtype=np.int64)
    still = np.zeros((len(stamps), len(ROBOT.joints)))
    block = Block(
        "run", 0, 0, last=False, samples=RawSamples(stamps, still, None, still), counts=Counts()
    )
    found = reference.complete(block).samples.reference
    return None if found is None else found[:, 0].tolist()


def test_a_trajectory_is_followed_until_the_next_one_begins(node, reference):
    node.send("joint_trajectory", trajectory(0.0, 0.0, 2.0))
    node.send("followed_trajectory", trajectory(0.5, 1.0, 0.0))
    assert at(reference, 0.25, 0.5, 1.0) == pytest.approx([0.5, 1.0, 0.5])


def test_a_trajectory_of_a_clock_that_was_set_back_is_followed_no_longer(node, reference):
    node.send("joint_trajectory", trajectory(9.0, 0.0, 2.0))
    assert at(reference, 9.5) == pytest.approx([1.0])
    reference.next_clock(BEGIN)
    assert at(reference, 0.1) is None
    assert reference.newest == ()
    node.send("joint_trajectory", trajectory(1.0, 0.0, 3.0))
    assert at(reference, 1.5, 9.5) == pytest.approx([1.5, 3.0])


def test_samples_of_a_clock_that_was_set_back_are_forgotten_and_those_since_are_kept(
    node, reference
):
    node.send("joint_reference", wanted(9.0, 1.0))
    reference.next_clock(BEGIN)
    assert at(reference, 9.1) is None
    assert reference.newest == ()
    node.send("joint_reference", wanted(0.1, 2.0))
    node.send("joint_reference", wanted(9.0, 3.0))
    node.send("joint_reference", wanted(0.2, 4.0))
    reference.next_clock(BEGIN + 200_000_000)
    assert at(reference, 0.3) == [4.0]
    assert len(reference.newest) == 1


@pytest.mark.parametrize("unknown", [np.nan, np.inf])
def test_a_sample_that_is_not_finite_holds_nowhere(node, reference, unknown):
    """A block with it would have no reference at all, and the recording none for DIDIM."""
    node.send("joint_reference", wanted(0.1, unknown))
    assert at(reference, 0.15) is None
    node.send("joint_reference", wanted(0.2, 2.0))
    node.send("joint_reference", wanted(0.3, unknown))
    assert at(reference, 0.25, 0.35) == [2.0, 2.0]
    (line, _) = node.warnings
    assert ROBOT.joint_names[0] in line
