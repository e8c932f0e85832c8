"""Which nodes a launch file starts, and with what; without launch itself, for tests and scripts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from robot_identification.errors import SettingError
from robot_identification.launching.arguments import (
    COMMANDED,
    COMMON,
    DRIVER,
    MOVING,
    OFFLINE,
    SIMULATION,
    SIMULATORS,
    Argument,
    Value,
    is_given,
)
from robot_identification.robot.values import known_values
from robot_identification.share import share_directory

_STEPS = "identify,validate,calibrate"


@dataclass(frozen=True)
class NodeStart:
    """A node to start.

    Attributes:
        executable: its executable, and its name.
        namespace: its namespace; empty: the root.
        parameter_files: files with parameters, later ones win.
        parameters: single parameters, which win over files.
        remappings: new names of topics.
        log_level: smallest level that is logged.
        enclave: its security enclave; empty: none.
    """

    executable: str
    namespace: str
    parameter_files: tuple[str, ...]
    parameters: Mapping[str, Value]
    remappings: Mapping[str, str]
    log_level: str
    enclave: str

    @property
    def ros_arguments(self) -> list[str]:
        """What the node is told about logging and security."""
        logging = ["--log-level", self.log_level]
        return [*logging, "--enclave", self.enclave] if self.enclave else logging


@dataclass(frozen=True)
class Suite:
    """What a launch file starts.

    Attributes:
        arguments: its arguments.
        nodes: executables that always start.
        optional: executables that start where the argument of the same name says yes.
        fixed: node -> parameters that this way of use demands.
    """

    arguments: tuple[Argument, ...]
    nodes: tuple[str, ...]
    optional: tuple[str, ...] = ()
    fixed: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)

    def starts(self, given: Mapping[str, str]) -> tuple[NodeStart, ...]:
        """Return the nodes to start.

        Args:
            given: arguments by name; one that is missing or empty says nothing.

        Raises:
            SettingError: an argument is unknown, or its value cannot be used.
        """
        known = [argument.name for argument in self.arguments]
        for name in given:
            if name not in known:
                raise SettingError(name, given[name], f"no such argument: {', '.join(known)}")
        values = {name: text for name, text in given.items() if text}
        simulator = values.get("simulator", SIMULATORS[0])
        chosen = [simulator if name == SIMULATORS[0] else name for name in self.nodes]
        chosen += [name for name in self.optional if is_given(values, name)]
        return tuple(self._start(name, values) for name in chosen)

    def _start(self, node: str, given: Mapping[str, str]) -> NodeStart:
        files = [str(share_directory() / "config" / f"{node}.yaml")]
        own = given.get("params_file", "")
        prefix = given.get("enclaves", "").rstrip("/")
        return NodeStart(
            executable=node,
            namespace=given.get("namespace", ""),
            parameter_files=(*files, own) if own else tuple(files),
            parameters=self._parameters(node, given),
            remappings=self._remappings(node, given),
            log_level=given.get("log_level", "info"),
            enclave=f"{prefix}/{node}" if "enclaves" in given else "",
        )

    def _parameters(self, node: str, given: Mapping[str, str]) -> dict[str, Value]:
        chosen: dict[str, Value] = dict(self.fixed.get(node, {}))
        for argument in self.arguments:
            text = given.get(argument.name, "")
            if text and argument.parameter and argument.concerns(node):
                chosen[argument.parameter] = argument.value(text)
        if node in SIMULATORS:
            chosen = {**_simulated(given), **chosen}
        return chosen

    def _remappings(self, node: str, given: Mapping[str, str]) -> dict[str, str]:
        topics = {
            argument.topic: given[argument.name]
            for argument in self.arguments
            if argument.topic and argument.name in given and argument.concerns(node)
        }
        controller = given.get("controller", "").rstrip("/")
        if controller:
            if "joint_trajectory" in given:
                problem = "give controller or joint_trajectory, not both"
                raise SettingError("controller", controller, problem)
            if node in COMMANDED:
                topics["joint_trajectory"] = f"{controller}/joint_trajectory"
        return topics


def _simulated(given: Mapping[str, str]) -> dict[str, Value]:
    """Return what follows for a simulated robot from other arguments."""
    derived: dict[str, Value] = {}
    own = f"{given.get('robot', '')}_simulated"
    if "params_file" not in given and own in known_values():
        derived["parameters_file"] = own
    if "effort_noise" in given:
        derived["effort_noise"] = [0.0]
    return derived


def offline_command(given: Mapping[str, str]) -> list[str]:
    """Return the arguments of ``robot-identification`` that identify the bags of a launch."""
    line = ["run", "--steps", _STEPS, "--wait", "120", "--bag", *_paths(given["bag"])]
    if given.get("validation_bag"):
        line += ["--validation-bag", *_paths(given["validation_bag"])]
    for name in ("namespace", "method", "output"):
        if given.get(name):
            line += [f"--{name}", given[name]]
    return line


def _paths(text: str) -> list[str]:
    return [os.path.abspath(path) for path in text.split(os.pathsep) if path]  # noqa: PTH100


_IDENTIFYING = ("excitation", "acquisition", "identification", "calibration")

LIVE = Suite((*COMMON, *MOVING, *DRIVER), _IDENTIFYING, ("computed_torque",))
"""A real robot, whose driver and controller run already."""

SIMULATED = Suite(
    (*COMMON, *MOVING, *SIMULATION), (SIMULATORS[0], *_IDENTIFYING), ("computed_torque",)
)
"""A simulated robot."""

BAGS = Suite(
    (*COMMON, *OFFLINE),
    ("identification", "calibration"),
    fixed=MappingProxyType({"calibration": MappingProxyType({"predict": False})}),
)
"""Recorded bags; nothing is live."""
