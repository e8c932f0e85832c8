"""Start the nodes that identify and calibrate from recorded bags; nothing live, nothing moves.

With `bag` they identify, validate and calibrate at once and end; without, they wait for requests
that name bags.
"""

from launch import LaunchDescription
from robot_identification.ros.launching.actions import describe
from robot_identification.ros.launching.suites import BAGS


def generate_launch_description() -> LaunchDescription:
    """Return what ros2 launch starts."""
    return describe(BAGS)
