"""Start the nodes that move and identify a real robot, each in a process of its own.

The robot's driver publishes `joint_states`, its controller listens to `joint_trajectory`; nothing
moves before ~/plan and ~/start of the excitation node.  Other topics are remapped in the usual way.
On request with the node computed_torque, for a controller that adds `feedforward_effort` to its
own efforts.
"""

from pathlib import Path

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchContext, LaunchDescription

CONFIG = Path(__file__).resolve().parents[1] / "config"
ARGUMENTS = {
    "robot": "robot file or name of a robot; empty: as the parameter files say",
    "params_file": "parameters that replace those of the package; empty: none",
    "namespace": "namespace of all nodes",
    "joint_states": "topic of the joint states; empty: joint_states in the namespace",
    "joint_trajectory": "topic of the controller's trajectories, such as "
    "joint_trajectory_controller/joint_trajectory; empty: joint_trajectory in the namespace",
    "use_sim_time": "whether the nodes take the time from /clock; empty: as the files say",
    "computed_torque": "true starts the node that feeds inertial_parameters forward; empty: none",
    "enclaves": "where the security enclaves of the nodes are, such as /robot_identification; "
    "empty: none",
    "log_level": "debug, info, warn, error or fatal; empty: info",
}


def ros_arguments(given: dict[str, str], node: str) -> list[str]:
    """Return what a node is told about logging and security."""
    logging = ["--log-level", given["log_level"] or "info"]
    prefix = given["enclaves"]
    return [*logging, "--enclave", f"{prefix.rstrip('/')}/{node}"] if prefix else logging


def start(context: LaunchContext) -> list[Node]:
    """Return the nodes, with the values of the arguments."""
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    overrides = {}
    if given["robot"]:
        overrides["robot"] = given["robot"]
    if given["use_sim_time"]:
        overrides["use_sim_time"] = given["use_sim_time"].lower() in ("true", "1", "yes")
    own = [given["params_file"]] if given["params_file"] else []
    remappings = [("joint_states", given["joint_states"])] if given["joint_states"] else []
    commands = (
        [("joint_trajectory", given["joint_trajectory"])] if given["joint_trajectory"] else []
    )
    feed_forward = given["computed_torque"].lower() in ("true", "1", "yes")
    shared = {
        "package": "robot_identification",
        "namespace": given["namespace"],
        "output": "screen",
    }
    return [
        Node(
            executable="excitation",
            ros_arguments=ros_arguments(given, "excitation"),
            remappings=[*remappings, *commands],
            parameters=[str(CONFIG / "excitation.yaml"), *own, overrides],
            **shared,
        ),
        Node(
            executable="acquisition",
            ros_arguments=ros_arguments(given, "acquisition"),
            remappings=[*remappings, *commands],
            parameters=[str(CONFIG / "acquisition.yaml"), *own, overrides],
            **shared,
        ),
        Node(
            executable="identification",
            ros_arguments=ros_arguments(given, "identification"),
            parameters=[str(CONFIG / "identification.yaml"), *own, overrides],
            **shared,
        ),
        Node(
            executable="calibration",
            ros_arguments=ros_arguments(given, "calibration"),
            remappings=remappings,
            parameters=[str(CONFIG / "calibration.yaml"), *own, overrides],
            **shared,
        ),
        *(
            [
                Node(
                    executable="computed_torque",
                    ros_arguments=ros_arguments(given, "computed_torque"),
                    remappings=[*remappings, *commands],
                    parameters=[str(CONFIG / "computed_torque.yaml"), *own, overrides],
                    **shared,
                )
            ]
            if feed_forward
            else []
        ),
    ]


def generate_launch_description() -> LaunchDescription:
    """Return what ros2 launch starts."""
    arguments = [
        DeclareLaunchArgument(name, default_value="", description=description)
        for name, description in ARGUMENTS.items()
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=start)])
