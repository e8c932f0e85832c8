"""A driver and controller made of ROS messages: follows what it is sent, and may lie about it."""

import numpy as np
from sensor_msgs.msg import JointState

from robot_identification.ros.common import qos
from robot_identification.ros.common.joint_states import NANOSECONDS, stamp_of
from robot_identification.ros.messages.common import time_of

_LATEST = 2**31 * NANOSECONDS - 1


class FakeDriver:
    """A robot that follows the last trajectory exactly.

    Args:
        cell: to talk through; its ``sent`` is what is followed.  Whoever makes a driver has it
            :meth:`say` something now and then.

    Attributes:
        place: where the robot is.
        tell: takes time in s and position, returns stamp in s, positions and velocities to send,
            None for silence.
    """

    def __init__(self, cell):
        self._cell, self.tell = cell, honest
        self.place = np.zeros(len(cell.robot.joints))
        self._states = cell.client.node.create_publisher(JointState, "joint_states", qos.STATES_OUT)

    def teleport(self, place):
        """Stand somewhere else, and forget what was sent."""
        self._cell.sent.clear()
        self.place, self.tell = np.array(place), honest

    def follow(self, now):
        """Go on; ``now`` in ns."""
        if self._cell.sent:
            sent = self._cell.sent[-1]
            start = stamp_of(sent.message) or sent.clock
            self.place = sent.trajectory.sample((now - start) / NANOSECONDS)[0][0]

    def say(self):
        """Send a state, or what it is told to send."""
        now = self._cell.now()
        self.follow(now)
        told = self.tell(0.0, self.place)
        if told is None:
            return
        after, position, velocity = told
        message = JointState(
            name=list(self._cell.robot.joint_names), position=position, velocity=velocity
        )
        stamp = now + round(after * NANOSECONDS)
        message.header.stamp = time_of(min(max(stamp, 0), _LATEST))
        self._states.publish(message)


def honest(time, position):
    """Tell the truth."""
    return time, np.array(position).tolist(), []
