"""Start the nodes that move and identify a real robot, each in a process of its own.

The robot's driver publishes `joint_states`, its joint_trajectory_controller takes trajectories;
nothing moves before ~/plan and ~/start of the excitation node.  On request with the node
computed_torque, for a controller that adds `feedforward_effort` to its own efforts.
"""

from launch import LaunchDescription
from robot_identification.ros.launching.actions import describe
from robot_identification.ros.launching.suites import LIVE


def generate_launch_description() -> LaunchDescription:
    """Return what ros2 launch starts."""
    return describe(LIVE)
