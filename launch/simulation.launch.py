"""Start a simulated robot and the nodes that move and identify it, each in a process of its own.

On request with the node computed_torque, which feeds calibrated parameters forward.
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
    feed_forward = given["computed_torque"].lower() in ("true", "1", "yes")
    shared = {
        "package": "robot_identification",
        "namespace": given["namespace"],
        "output": "screen",
    }
    return [
        Node(
            executable="simulated_robot",
            ros_arguments=ros_arguments(given, "simulated_robot"),
            parameters=[str(CONFIG / "simulated_robot.yaml"), *own, overrides],
            **shared,
        ),
        Node(
            executable="excitation",
            ros_arguments=ros_arguments(given, "excitation"),
            parameters=[str(CONFIG / "excitation.yaml"), *own, overrides],
            **shared,
        ),
        Node(
            executable="acquisition",
            ros_arguments=ros_arguments(given, "acquisition"),
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
            parameters=[str(CONFIG / "calibration.yaml"), *own, overrides],
            **shared,
        ),
        *(
            [
                Node(
                    executable="computed_torque",
                    ros_arguments=ros_arguments(given, "computed_torque"),
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
