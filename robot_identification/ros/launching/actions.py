"""Suites as what ``ros2 launch`` understands; the only module that needs launch."""

from __future__ import annotations

import sys
from pathlib import Path
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
from launch.events.process import ProcessExited
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import ExecutableInPackage

from launch import LaunchContext, LaunchDescription
from robot_identification.ros.clients.processes import ending_with_this_process
from robot_identification.ros.launching.argument import Argument
from robot_identification.ros.launching.ends import Ends
from robot_identification.ros.launching.suites import NodeStart, Suite, offline_command
from robot_identification.share import NAME

_PROGRAM = "robot-identification"
_OF_LAUNCH = ("launch-prefix", "launch-prefix-filter", "sigterm_timeout", "sigkill_timeout")
_ORDERLY_END = "20"  # s; acquisition waits 10 s for the disk and 4 s for its readers


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
    if _is_named_on_the_command_line(context):
        words = dict(word.partition(":=")[::2] for word in context.argv)
        suite.refuse_unknown({k: v for k, v in words.items() if k not in _OF_LAUNCH})
    configurations = context.launch_configurations
    given = {argument.name: configurations[argument.name] for argument in suite.arguments}
    within = configurations.get("ros_namespace", "")
    starts = suite.starts(given, within=within)
    processes = {start.executable: _node(start) for start in starts}
    needed = set(suite.needed)
    if given.get("bag"):
        processes[_PROGRAM] = _client(given, within)
        needed.add(_PROGRAM)
    ends = Ends(processes, needed)
    return [
        *(_watched(name, process, ends) for name, process in processes.items()),
        *processes.values(),
    ]


def _is_named_on_the_command_line(context: LaunchContext) -> bool:
    """Tell whether the arguments of the command line are for this launch file.

    Where another launch file includes it they are for that one, which may have others.
    """
    own = Path(context.get_locals_as_dict().get("current_launch_file_path", "")).name
    return any(own and Path(word).name == own for word in sys.argv)


def _node(start: NodeStart) -> Node:
    parameters: list[Any] = [start.parameter_file]
    if start.parameters:
        parameters.append({name: _parameter(value) for name, value in start.parameters.items()})
    return Node(
        package=NAME,
        executable=start.executable,
        exec_name=start.executable,
        namespace=start.namespace,
        output="screen",
        parameters=parameters,
        remappings=list(start.remappings.items()),
        ros_arguments=start.ros_arguments,
        prefix=_prefix(),
        sigterm_timeout=LaunchConfiguration("sigterm_timeout", default=_ORDERLY_END),
    )


def _parameter(value: Any) -> Any:
    """Return the value of a parameter; a text stays one, even where it looks like a number."""
    if isinstance(value, str):
        return ParameterValue(value, value_type=str)
    if isinstance(value, list) and any(isinstance(entry, str) for entry in value):
        return ParameterValue(value, value_type=list[str])
    return value


def _prefix() -> list[Any]:
    """Return what stands before every command: SIGTERM to launch itself would leave it behind."""
    return [
        " ".join([*ending_with_this_process(), ""]),
        LaunchConfiguration("launch-prefix", default=""),
    ]


def _client(given: dict[str, str], within: str) -> ExecuteProcess:
    """Return what identifies bags."""
    return ExecuteProcess(
        cmd=[ExecutableInPackage(_PROGRAM, NAME), *offline_command(given, within=within)],
        name=_PROGRAM,
        output="screen",
        prefix=_prefix(),
    )


def _watched(name: str, process: ExecuteProcess, ends: Ends) -> RegisterEventHandler:
    """Return the handler of the end of a process."""

    def ended(event: ProcessExited, context: LaunchContext) -> EmitEvent | None:
        ends.ended(name, event.returncode, stopping=context.is_shutdown)
        done = name == _PROGRAM and not context.is_shutdown
        return EmitEvent(event=Shutdown(reason="the bags are done")) if done else None

    return RegisterEventHandler(OnProcessExit(target_action=process, on_exit=ended))
