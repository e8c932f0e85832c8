"""Nodes and arguments of every launch file, without the package launch, for tests and scripts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from robot_identification.errors import SettingError
from robot_identification.identification.estimators.choice import DIDIM
from robot_identification.robot.files.schema import suggestion
from robot_identification.ros.clients.client import READY_WITHIN
from robot_identification.ros.common.parameters.files import (
    shipped_file,
    shipped_parameters,
    simulation_file,
)
from robot_identification.ros.launching.argument import Argument, Value, is_given
from robot_identification.ros.launching.arguments import (
    COMMANDED,
    COMMON,
    DRIVER,
    MOVING,
    OFFLINE,
    SIMULATION,
    SIMULATORS,
)
from robot_identification.ros.launching.given_parameters import NO_FILE, GivenParameters
from robot_identification.ros.launching.namespaces import resolved

_NO_EFFORT_NOISE = MappingProxyType({"effort_noise": [0.0], "effort_noise_fraction": 0.0})
_PACE = "real_time_factor"
_STEPS = ("identify", "validate", "calibrate")
_SIMULATED_ROBOTS = MappingProxyType({"simulated_robot": "tx40", "mujoco_robot": "ur10"})


@dataclass(frozen=True)
class NodeStart:
    """A node to start.

    Attributes:
        executable: its executable, and its name.
        namespace: its namespace; empty: the root.
        parameter_file: shipped file with all its parameters.
        parameters: those that are different, from the arguments and their params_file.
        remappings: new names of topics.
        log_level: smallest level that is logged.
        enclave: its security enclave; empty: none.
    """

    executable: str
    namespace: str
    parameter_file: str
    parameters: Mapping[str, Any]
    remappings: Mapping[str, str]
    log_level: str
    enclave: str

    @property
    def ros_arguments(self) -> list[str]:
        """Arguments of the node about logging and security."""
        logging = ["--log-level", self.log_level]
        return [*logging, "--enclave", self.enclave] if self.enclave else logging


@dataclass(frozen=True)
class Suite:
    """Nodes of a launch file.

    Attributes:
        arguments: its arguments.
        nodes: executables that always start.
        optional: executables that start where the argument of the same name says yes.
        needed: executables without which the others are of no use.
        fixed: node -> parameters that this way of use demands.
    """

    arguments: tuple[Argument, ...]
    nodes: tuple[str, ...]
    optional: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    fixed: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)

    def refuse_unknown(self, given: Mapping[str, str]) -> None:
        """Refuse arguments that this suite does not have.

        Args:
            given: arguments by name.

        Raises:
            SettingError: there is one; with the argument that may have been meant.
        """
        known = [argument.name for argument in self.arguments]
        for name, text in given.items():
            if name not in known:
                hint = suggestion(name, known) or f"; there are {', '.join(known)}"
                raise SettingError(name, text, f"no such argument{hint}")

    def starts(self, given: Mapping[str, str], *, within: str = "") -> tuple[NodeStart, ...]:
        """Return the nodes to start.

        Args:
            given: arguments by name; one that is missing or empty says nothing.
            within: namespace in which the namespace of the arguments is.

        Raises:
            SettingError: an argument is unknown, or its value cannot be used, or no robot is given,
                or the namespace is none.
            RobotDescriptionError: the params_file cannot be read, or gives something to no node.
        """
        self.refuse_unknown(given)
        values = {name: text for name, text in given.items() if text}
        namespace = resolved(values.get("namespace", ""), within).rstrip("/")
        file = _params_file(values, {f"{namespace}/{name}": name for name in self._possible})
        own = {name: file.of(f"{namespace}/{name}") for name in self._chosen(values)}
        self._refuse_idle(values, own.values())
        if not any(of_node.get("robot") for of_node in own.values()):
            values = {**_robot_of_simulation(own), **values}
        starts = tuple(self._start(name, values, of_node) for name, of_node in own.items())
        _require_robot(starts)
        return starts

    def _refuse_idle(self, given: Mapping[str, str], nodes: Iterable[Mapping[str, Any]]) -> None:
        """Refuse arguments that have no effect without another one that nobody gives.

        Args:
            given: arguments by name.
            nodes: what the params_file gives to each node.

        Raises:
            SettingError: there is one.
        """
        known = {*given, *(name for of_node in nodes for name, value in of_node.items() if value)}
        for argument in self.arguments:
            if argument.name in given and argument.needs and argument.needs not in known:
                raise SettingError(
                    argument.name,
                    given[argument.name],
                    f"has no effect without {argument.needs}: give that too, or leave it out",
                )

    @property
    def _possible(self) -> tuple[str, ...]:
        """The executables that some arguments start."""
        simulators = SIMULATORS if SIMULATORS[0] in self.nodes else ()
        return tuple(dict.fromkeys((*self.nodes, *simulators, *self.optional)))

    def _chosen(self, given: Mapping[str, str]) -> list[str]:
        simulator = given.get("simulator", SIMULATORS[0])
        chosen = [simulator if name == SIMULATORS[0] else name for name in self.nodes]
        return chosen + [name for name in self.optional if is_given(given, name)]

    def _start(self, node: str, given: Mapping[str, str], own: Mapping[str, Any]) -> NodeStart:
        prefix = given.get("enclaves", "").rstrip("/")
        return NodeStart(
            executable=node,
            namespace=given.get("namespace", ""),
            parameter_file=str(shipped_file(node)),
            parameters=self._parameters(node, given, own),
            remappings=self._remappings(node, given),
            log_level=given.get("log_level", "info"),
            enclave=f"{prefix}/{node}" if "enclaves" in given else "",
        )

    def _parameters(
        self, node: str, given: Mapping[str, str], own: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the parameters of a node that differ from the shipped ones; later ones win."""
        chosen: dict[str, Any] = {}
        if node in SIMULATORS:
            _require_pace(own)
            chosen |= _simulated(node, given.get("robot") or own.get("robot", ""))
            if _NO_EFFORT_NOISE.keys() & own.keys():
                chosen |= _NO_EFFORT_NOISE  # what is given goes in place of either
        chosen |= own
        chosen |= self.fixed.get(node, {})
        if node in SIMULATORS and "effort_noise" in given:
            chosen |= _NO_EFFORT_NOISE
        controller = given.get("controller", "").rstrip("/")
        if controller and node == "excitation":
            chosen["controller_action"] = f"{controller}/follow_joint_trajectory"
        for argument in self.arguments:
            text = given.get(argument.name, "")
            if text and argument.parameter and argument.concerns(node):
                chosen[argument.parameter] = argument.value(text)
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


def _params_file(given: Mapping[str, str], nodes: Mapping[str, str]) -> GivenParameters:
    """Return what the argument params_file gives to nodes, checked."""
    if "params_file" not in given:
        return NO_FILE
    file = GivenParameters.read(_path(given["params_file"]))
    file.check(nodes)
    return file


def _robot_of_simulation(nodes: Iterable[str]) -> dict[str, str]:
    """Return the argument that a simulation has where nobody names a robot."""
    robots = [_SIMULATED_ROBOTS[name] for name in nodes if name in _SIMULATED_ROBOTS]
    return {"robot": robots[0]} if robots else {}


def _require_robot(starts: Sequence[NodeStart]) -> None:
    """Refuse to start nodes that do not know their robot: none has one of its own.

    Raises:
        SettingError: there are some.
    """
    without = [
        start.executable
        for start in starts
        if "robot" in shipped_parameters(start.executable) and not start.parameters.get("robot")
    ]
    if without:
        raise SettingError(
            "robot",
            "(not given)",
            f"{', '.join(without)} must know the robot: add robot:=FILE, a robot file (YAML) or a "
            "URDF, or the name of a robot of this package, or robot:=topic:robot_description",
        )


def _require_pace(own: Mapping[str, Any]) -> None:
    """Refuse a simulated clock that leaves that of the other nodes: to them states are stale.

    Raises:
        SettingError: the params_file of the simulated robot gives it another pace.
    """
    factor = own.get(_PACE, 1.0)
    if factor != 1.0:
        raise SettingError(
            _PACE,
            factor,
            "the other nodes of this launch go by the clock, which stamps would leave: nothing "
            "could be planned or moved; leave it out (demo --speed simulates faster)",
        )


def _simulated(node: str, robot: str) -> Mapping[str, Any]:
    """Return the parameters of a shipped simulated robot; nothing for others."""
    path = simulation_file(robot)
    return {} if path is None else GivenParameters.read(path).of(f"/{node}")


def offline_command(given: Mapping[str, str], *, within: str = "") -> list[str]:
    """Return the arguments of ``robot-identification`` that identify the bags of a launch.

    DIDIM holds nothing out of its bags, and is validated on others only.

    Args:
        given: arguments by name; those that are missing or empty say nothing.
        within: namespace in which the namespace of the arguments is.

    Raises:
        SettingError: the namespace is none.
    """
    unvalidated = given.get("method") == DIDIM.name and not given.get("validation_bag")
    steps = ",".join(step for step in _STEPS if not (unvalidated and step == "validate"))
    wait = f"{READY_WITHIN:g}"  # nodes compile at their first start, and answer after that
    line = ["run", "--steps", steps, "--wait", wait, "--bag", *_paths(given["bag"])]
    if given.get("validation_bag"):
        line += ["--validation-bag", *_paths(given["validation_bag"])]
    line += ["--namespace", resolved(given.get("namespace", ""), within)]
    if given.get("method"):
        line += ["--method", given["method"]]
    if given.get("output"):
        line += ["--output", str(_path(given["output"]))]
    return line


def _paths(text: str) -> list[str]:
    return [os.path.abspath(_path(path)) for path in text.split(os.pathsep) if path]  # noqa: PTH100


def _path(text: str) -> Path:
    """Return a path of an argument; the shell leaves ``~`` behind ``:=`` as it is."""
    return Path(os.path.expanduser(text))  # noqa: PTH111 (leaves an unknown user's as it is)


_IDENTIFYING = ("excitation", "acquisition", "identification", "calibration")

_RECORDING = ("excitation", "acquisition", "identification")

LIVE = Suite((*COMMON, *MOVING, *DRIVER), _IDENTIFYING, ("computed_torque",), _RECORDING)
"""A real robot, whose driver and controller run already."""

SIMULATED = Suite(
    (*COMMON, *MOVING, *SIMULATION),
    (SIMULATORS[0], *_IDENTIFYING),
    ("computed_torque",),
    (*SIMULATORS, *_RECORDING),
    fixed=MappingProxyType({"excitation": MappingProxyType({"acknowledge_unchecked": True})}),
)
"""A simulated robot, which can touch nothing."""

BAGS = Suite(
    (*COMMON, *OFFLINE),
    ("identification", "calibration"),
    needed=("identification",),
    fixed=MappingProxyType({"calibration": MappingProxyType({"predict": False})}),
)
"""Recorded bags; nothing is live."""
