"""The node that feeds a model forward: efforts of `inertial_parameters` along `joint_trajectory`.

Its clock is that of the robot: the stamps of `joint_states`.  Each effort carries the stamp from
which it holds.  The node is managed, and sends efforts only while it is active.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rclpy.experimental import EventsExecutor

from robot_identification.ros.common.process import run
from robot_identification.ros.feed_forward.parameters import ComputedTorqueParameters
from robot_identification.ros.feed_forward.works import FeedForwardWorks
from robot_identification.ros.lifecycle.node import ManagedNode, checked_when_configured


class ComputedTorque(ManagedNode[ComputedTorqueParameters, FeedForwardWorks]):
    """Takes `inertial_parameters` and `joint_trajectory`, publishes `feedforward_effort`."""

    def __init__(self) -> None:
        super().__init__("computed_torque", ComputedTorqueParameters)
        self.start()

    def load(self) -> FeedForwardWorks:
        """Return robot, topics and efforts, for the parameters as they are now."""
        return FeedForwardWorks(self, self.declared.now, self.lifecycle)

    def finish(self) -> None:
        """Take the feed-forward away, so that no old effort stays."""
        if self.works is not None:
            self.works.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(
        ComputedTorque,
        arguments,
        name="computed_torque",
        finish=ComputedTorque.finish,
        made=checked_when_configured,
        make_executor=EventsExecutor,
    )


if __name__ == "__main__":
    sys.exit(main())
