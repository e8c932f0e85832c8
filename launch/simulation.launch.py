"""Start a simulated robot and the nodes that move and identify it, each in a process of its own.

On request with the node computed_torque, which feeds calibrated parameters forward, and with the
physics of MuJoCo.
"""

from launch import LaunchDescription
from robot_identification.ros.launching.actions import describe
from robot_identification.ros.launching.suites import SIMULATED


def generate_launch_description() -> LaunchDescription:
    """Return what ros2 launch starts."""
    return describe(SIMULATED)
