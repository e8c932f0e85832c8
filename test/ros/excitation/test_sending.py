"""Commands on their way to the controller, without a node."""

from types import SimpleNamespace

import numpy as np

from hand_moved_controller import NoEfforts
from node_loggers import NodeLogger
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.ros.excitation.sending import CommandSender
from robot_identification.ros.supervision.phases import Command

MOTION = Trajectory(("a",), np.array([0.0, 1.0]), *np.zeros((3, 2, 1)))


class BrokenTransport:
    """Notes what it is told, once it is mended."""

    def __init__(self):
        self.broken, self.followed, self.braked = True, [], []

    def follow(self, command):
        self._take(self.followed, command)

    def brake(self, command, now):
        self._take(self.braked, command)
        return ""

    def _take(self, commands, command):
        if self.broken:
            raise RuntimeError("the middleware is broken")
        commands.append(command)


def test_braking_that_is_tried_again_still_takes_the_place_of_what_is_running():
    node = SimpleNamespace(get_logger=NodeLogger)
    transport = BrokenTransport()
    sender = CommandSender(node, NoEfforts(), transport, now=lambda: None)
    braking = Command(MOTION, 5, braking=True)
    sender.send_or_keep(braking)
    assert sender.unsent is braking
    transport.broken = False
    sender.send_or_keep(sender.unsent)
    assert (transport.braked, transport.followed, sender.unsent) == ([braking], [], None)
