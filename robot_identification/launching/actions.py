"""Suites as what ``ros2 launch`` understands; the only module that needs launch."""

from __future__ import annotations

from typing import Any

from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    ExecuteProcess,
    OpaqueFunction,
    RegisterEventHandler,
)
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.substitutions import ExecutableInPackage

from launch import LaunchContext, LaunchDescription
from robot_identification.launching.arguments import Argument
from robot_identification.launching.suites import NodeStart, Suite, offline_command
from robot_identification.share import NAME

_PROGRAM = "robot-identification"


def describe(suite: Suite) -> LaunchDescription:
    """Return the description of a launch file that starts a suite."""
    declared = [_declared(argument) for argument in suite.arguments]
    return LaunchDescription([*declared, OpaqueFunction(function=_actions, args=[suite])])


def _declared(argument: Argument) -> DeclareLaunchArgument:
    choices = {"choices": argument.choices} if argument.choices else {}
    return DeclareLaunchArgument(
        argument.name, default_value=argument.default, description=argument.description, **choices
    )


def _actions(context: LaunchContext, suite: Suite) -> list[Any]:
    """Return what to start for the values of the arguments."""
    given = {
        argument.name: LaunchConfiguration(argument.name).perform(context)
        for argument in suite.arguments
    }
    nodes = [_node(start) for start in suite.starts(given)]
    return [*nodes, *_once(given)] if given.get("bag") else nodes


def _node(start: NodeStart) -> Node:
    parameters: list[Any] = [*start.parameter_files]
    if start.parameters:
        parameters.append(dict(start.parameters))
    return Node(
        package=NAME,
        executable=start.executable,
        namespace=start.namespace,
        output="screen",
        parameters=parameters,
        remappings=list(start.remappings.items()),
        ros_arguments=start.ros_arguments,
    )


def _once(given: dict[str, str]) -> list[Any]:
    """Return what identifies bags and then ends everything."""
    client = ExecuteProcess(
        cmd=[ExecutableInPackage(_PROGRAM, NAME), *offline_command(given)],
        name=_PROGRAM,
        output="screen",
    )
    ended = OnProcessExit(
        target_action=client, on_exit=[EmitEvent(event=Shutdown(reason="the bags are done"))]
    )
    return [client, RegisterEventHandler(ended)]
