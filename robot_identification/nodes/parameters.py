"""Node parameters with descriptors, ranges and validation, declared from a table."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.node import Node
from rclpy.parameter import Parameter

from robot_identification.errors import SettingError
from robot_identification.nodes.parameter_files import (
    given_to_all,
    is_of_ros,
    shipped_nodes,
    shipped_parameters,
)
from robot_identification.robot.schema import suggestion
from robot_identification.settings import Kind, Setting

Type = Parameter.Type

_OF_KINDS = {
    Kind.NUMBER: Type.DOUBLE,
    Kind.WHOLE: Type.INTEGER,
    Kind.FLAG: Type.BOOL,
    Kind.TEXT: Type.STRING,
    Kind.NUMBERS: Type.DOUBLE_ARRAY,
    Kind.TEXTS: Type.STRING_ARRAY,
}
_NUMBERS = {Type.DOUBLE, Type.DOUBLE_ARRAY}
_ARRAYS = {Type.BOOL_ARRAY, Type.INTEGER_ARRAY, Type.DOUBLE_ARRAY, Type.STRING_ARRAY}


@dataclass(frozen=True)
class ParameterSpec:
    """A parameter of a node.

    Attributes:
        name: its name.
        type: its type; where numbers are wanted, whole ones may be written without a point.
        description: meaning and unit.
        default: its value where none is given; None where one must be given, a text not empty.
        minimum: smallest value allowed (of every entry of an array).
        maximum: largest value allowed.
        choices: the values allowed, where they are few.
        read_only: whether it is fixed once the node runs.
        asks: whether the node is asked before it changes; see :func:`declare`.
        check: further check; returns what is wrong with a value, or an empty text.
    """

    name: str
    type: Parameter.Type
    description: str
    default: Any = None
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[Any, ...] = ()
    read_only: bool = True
    asks: bool = False
    check: Callable[[Any], str] | None = None

    @classmethod
    def of(cls, setting: Setting, **changes: Any) -> ParameterSpec:
        """Return the parameter for a setting.

        Args:
            setting: entry of the table of its class.
            changes: attributes that differ from those of the setting.
        """
        own = {
            "name": setting.name,
            "type": _OF_KINDS[setting.kind],
            "description": setting.description,
            "default": setting.default,
            "minimum": setting.minimum,
            "maximum": setting.maximum,
            "choices": setting.choices,
        }
        return cls(**{**own, **changes})

    def problem(self, value: Any) -> str:
        """Return what is wrong with a value, or an empty text."""
        if not _fits(self.type, value):
            return f"must be of type {self.type.name.lower().replace('_', ' ')}"
        if self.default is None and value == "":
            return "must be given"
        entries = value if self.type in _ARRAYS else [value]
        for entry in entries:
            if isinstance(entry, float) and not math.isfinite(entry):
                return "must be finite"
            if self.minimum is not None and entry < self.minimum:
                return f"must be at least {self.minimum:g}"
            if self.maximum is not None and entry > self.maximum:
                return f"must be at most {self.maximum:g}"
            if self.choices and entry not in self.choices:
                return f"must be one of {', '.join(map(str, self.choices))}"
        return "" if self.check is None else self.check(value)

    def plain(self, value: Any) -> Any:
        """Return a value as bool, int, float, str, or a tuple of these."""
        convert: Callable[[Any], Any] = float if self.type in _NUMBERS else lambda entry: entry
        return tuple(map(convert, value)) if self.type in _ARRAYS else convert(value)

    def descriptor(self) -> ParameterDescriptor:
        """Return the descriptor by which tools explain and check the parameter."""
        descriptor = ParameterDescriptor(
            name=self.name,
            description=self.description,
            read_only=self.read_only,
            dynamic_typing=self.type in _NUMBERS or self.type in _ARRAYS,
        )
        if self.choices:
            descriptor.additional_constraints = f"one of {', '.join(map(str, self.choices))}"
        if self.minimum is not None and self.maximum is not None:
            if self.type is Type.DOUBLE:
                descriptor.floating_point_range = [
                    FloatingPointRange(from_value=float(self.minimum), to_value=float(self.maximum))
                ]
            elif self.type is Type.INTEGER:
                descriptor.integer_range = [
                    IntegerRange(from_value=int(self.minimum), to_value=int(self.maximum), step=1)
                ]
        return descriptor


ROBOT = ParameterSpec(
    "robot", Type.STRING, "robot file (YAML), URDF, or the name of a robot of this package"
)
CELL = ParameterSpec(
    "cell",
    Type.STRING,
    "cell file: what stands around the robot, what it carries, how it is mounted; empty: what the "
    "robot file says, and the plane of its base",
    default="",
)
CLEARANCE = ParameterSpec(
    "clearance",
    Type.DOUBLE,
    "distance that motions keep from the cell, and the arm from itself, m; 0: as the files say, "
    "else 0.02",
    default=0.0,
    minimum=0.0,
    maximum=1.0,
)
DIAGNOSTICS_PERIOD = ParameterSpec(
    "diagnostics_period",
    Type.DOUBLE,
    "time between two messages on /diagnostics, s",
    default=1.0,
    minimum=0.1,
    maximum=60.0,
)


def effort_meaning(description: str) -> ParameterSpec:
    """Return the parameter that says what efforts are, for a node that takes some in.

    Args:
        description: of which efforts.
    """
    return ParameterSpec(
        "effort_meaning",
        Type.STRING,
        description,
        default="",
        choices=("", "joint_torque", "motor_torque", "current"),
    )


def _fits(wanted: Parameter.Type, value: Any) -> bool:
    """Tell whether a value has a type; a whole number passes for a real one."""
    if wanted in _ARRAYS and (isinstance(value, (str, bytes)) or not isinstance(value, Iterable)):
        return False
    if wanted in _ARRAYS and len(value) == 0:
        return True
    if wanted is Type.DOUBLE:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if wanted is Type.DOUBLE_ARRAY:
        return all(_fits(Type.DOUBLE, entry) for entry in value)
    return bool(wanted.check(value))


Refuse = Callable[[Mapping[str, Any]], str]
"""Takes new values by name; returns why they cannot be taken over now, or an empty text."""


def declare(
    node: Node, specs: Sequence[ParameterSpec], *, refuse: Refuse | None = None
) -> Mapping[str, Any]:
    """Declare the parameters of a node and return their values by name.

    Later changes pass the same checks; read-only parameters do not change.  The returned values
    are those at the time of the call: :func:`current` gives those of parameters that change.

    Args:
        node: the node.
        specs: its parameters.
        refuse: asked before parameters change that ask the node; may raise a SettingError too.
            Without it they do not change.

    Raises:
        SettingError: if a value is missing or wrong, or the node has no such parameter.
    """
    table = {spec.name: spec for spec in specs}
    _refuse_unknown(node, table)

    def validate(changed: list[Parameter]) -> SetParametersResult:
        own = [parameter for parameter in changed if parameter.name in table]
        for parameter in own:
            spec = table[parameter.name]
            problem = spec.problem(parameter.value)
            if problem:
                return _refused(f"{parameter.name} {problem}: {spec.description}")
        asked = {p.name: table[p.name].plain(p.value) for p in own if table[p.name].asks}
        reason = _reason(refuse, asked) if asked else ""
        return _refused(reason) if reason else SetParametersResult(successful=True)

    values = {spec.name: _declare_one(node, spec) for spec in specs}
    node.add_on_set_parameters_callback(validate)
    return MappingProxyType(values)


def _refused(reason: str) -> SetParametersResult:
    return SetParametersResult(successful=False, reason=reason)


def _reason(refuse: Refuse | None, values: Mapping[str, Any]) -> str:
    """Return why a node does not take values over, or an empty text."""
    if refuse is None:
        return f"{', '.join(values)} cannot change while this node runs"
    try:
        return refuse(values)
    except SettingError as error:
        return str(error)


def _refuse_unknown(node: Node, known: Mapping[str, ParameterSpec]) -> None:
    """Refuse parameters that are given to this node, and that it does not have.

    What a file gives to all nodes need not be for this one; where it is for none it is told.
    """
    # rclpy has no other way to see what was given and not declared.
    given = node._parameter_overrides  # noqa: SLF001
    unknown = [
        name
        for name in given
        if name not in known and not node.has_parameter(name) and not is_of_ros(name)
    ]
    to_all = given_to_all(sys.argv) if unknown else frozenset()
    for name in unknown:
        problem = f"no such parameter of the node {node.get_name()}{suggestion(name, known)}"
        if name not in to_all:
            raise SettingError(name, given[name].value, problem)
        if not any(name in shipped_parameters(other) for other in shipped_nodes()):
            node.get_logger().warning(f"{name}: {problem}")


def _declare_one(node: Node, spec: ParameterSpec) -> Any:
    """Declare one parameter and return its value."""
    default = list(spec.default) if spec.type in _ARRAYS and spec.default else spec.default
    try:
        declared = node.declare_parameter(
            spec.name, spec.type if default is None else default, spec.descriptor()
        )
    except (InvalidParameterTypeException, InvalidParameterValueException) as error:
        raise SettingError(spec.name, "as given", f"{error}; it is: {spec.description}") from error
    if declared.type_ is Type.NOT_SET:
        raise SettingError(spec.name, "(not set)", f"must be given: {spec.description}")
    problem = spec.problem(declared.value)
    if problem:
        raise SettingError(spec.name, declared.value, f"{problem}: {spec.description}")
    return spec.plain(declared.value)


def current(node: Node, spec: ParameterSpec) -> Any:
    """Return the present value of a declared parameter."""
    return spec.plain(node.get_parameter(spec.name).value)


def per_joint(name: str, values: Sequence[float], joints: int) -> tuple[float, ...]:
    """Return one value per joint of a parameter that gives one for all or one for each.

    Raises:
        SettingError: if the number of values is neither.
    """
    if len(values) == 1:
        return tuple(values) * joints
    if len(values) != joints:
        raise SettingError(
            name, list(values), f"give one value, or one for each of {joints} joints"
        )
    return tuple(values)
