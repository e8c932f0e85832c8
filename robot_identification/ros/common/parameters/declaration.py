"""Node parameters with descriptors, ranges and validation, declared from a table of settings.

Those of a managed node that are not ``live`` are read when it is configured, and may change while
it is not.
"""

from __future__ import annotations

import sys
import threading
from array import array
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.node import Node
from rclpy.parameter import Parameter

from robot_identification.errors import InputError, SettingError
from robot_identification.files.output_folder import OutputFolder, default_folder
from robot_identification.robot.files.schema import suggestion
from robot_identification.ros.common.parameters.files import (
    given_to_all,
    is_of_ros,
    shipped_nodes,
    shipped_parameters,
)
from robot_identification.setting_kinds import Kind, Setting
from robot_identification.settings import Settings


def output_folder(node: Node, directory: str) -> OutputFolder:
    """Return the folder that the services of a node may write to.

    Args:
        node: the node.
        directory: its parameter ``output_directory``; empty: one of its own.
    """
    owner = node.get_fully_qualified_name()
    return OutputFolder(directory or default_folder(owner), owner)


Type = Parameter.Type
Own = TypeVar("Own", bound=Settings)

TYPES: Mapping[Kind, Parameter.Type] = {
    Kind.NUMBER: Type.DOUBLE,
    Kind.WHOLE: Type.INTEGER,
    Kind.FLAG: Type.BOOL,
    Kind.TEXT: Type.STRING,
    Kind.NUMBERS: Type.DOUBLE_ARRAY,
    Kind.TEXTS: Type.STRING_ARRAY,
}
"""Types of parameters; where real numbers are wanted, whole ones may be written without a point."""


class NodeParameters(Generic[Own]):
    """The parameters of a node.

    Args:
        kind: table of the parameters.
        values: of each; None where none is given yet.
    """

    def __init__(self, kind: type[Own], values: Mapping[str, Any]) -> None:
        self._kind, self._values = kind, dict(values)
        self._now: Own | None = None
        self._changing = threading.Lock()  # values may be read while they are changed

    @classmethod
    def of(cls, now: Own) -> NodeParameters[Own]:
        """Return parameters with these values."""
        return cls(type(now), {name: getattr(now, name) for name in now.table()})

    @property
    def now(self) -> Own:
        """Present values; those that are not ``live`` change while nobody works with them only.

        Raises:
            SettingError: one that must be given is missing.
        """
        with self._changing:
            if self._now is None:
                for entry in self._kind.table().values():
                    value = self._values[entry.name]
                    if entry.required and entry.problem(value):
                        raise _missing(entry, value)
                self._now = self._kind(**self._values)
            return self._now

    def change(self, values: Mapping[str, Any]) -> None:
        """Take over new values by name."""
        with self._changing:
            self._values |= values
            self._now = None


def _missing(entry: Setting, value: object) -> SettingError:
    shown = "(not set)" if value is None else value
    return SettingError(entry.name, shown, f"must be given: {entry.description}")


Refuse = Callable[[Mapping[str, Any]], str]
"""Takes new values by name; returns why they cannot be taken over now, or an empty text."""


def declare(
    node: Node,
    kind: type[Own],
    *,
    refuse: Refuse | None = None,
    changed: Callable[[], None] | None = None,
    unconfigured: Callable[[], bool] | None = None,
) -> NodeParameters[Own]:
    """Declare the parameters of a node.

    Later changes pass the same checks; only those of ``live`` settings are possible, and, while a
    managed node is not configured, of all that are not ``fixed``.

    Args:
        node: the node.
        kind: table of its parameters.
        refuse: asked before parameters change that ask the node; may raise an InputError too.
            Without it they do not change.
        changed: called after parameters were set.
        unconfigured: of a managed node: whether it is not configured, so that nobody is asked, and
            what must be given may be given later.

    Raises:
        SettingError: if a value is missing or wrong, or the node has no such parameter.
    """
    table = kind.table()
    managed = unconfigured is not None
    _refuse_unknown(node, table)

    def validate(wanted: list[Parameter]) -> SetParametersResult:
        own = {one.name: _plain(one.value) for one in wanted if one.name in table}
        for name, value in own.items():
            if problem := _problem(table[name], value):
                return _refused(f"{name} {problem}: {table[name].description}")
        if unconfigured is not None and unconfigured():
            return SetParametersResult(successful=True)
        if held := [name for name in own if managed and not table[name].live]:
            return _refused(_held(node, held))
        asked = {name: table[name].read(own[name]) for name in own if table[name].asks}
        reason = _reason(refuse, asked) if asked else ""
        return _refused(reason) if reason else SetParametersResult(successful=True)

    def take_over(new: list[Parameter]) -> None:
        own = {
            one.name: table[one.name].read(_plain(one.value)) for one in new if one.name in table
        }
        if own:
            parameters.change(own)
            if changed is not None:
                changed()

    values = {name: _declare_one(node, table[name], managed=managed) for name in table}
    parameters = NodeParameters(kind, values)
    if not managed:
        _ = parameters.now  # what is missing is told at once
    node.add_on_set_parameters_callback(validate)
    node.add_post_set_parameters_callback(take_over)
    return parameters


def _problem(setting: Setting, value: object) -> str:
    """Return what is wrong with the value of a parameter, or an empty text.

    Where a list is wanted one number may stand for a list of one.
    """
    try:
        setting.read(value)
    except SettingError as error:
        return error.problem
    return ""


def _held(node: Node, names: list[str]) -> str:
    """Return why parameters of a node that is configured do not change."""
    return (
        f"{', '.join(names)}: read when the node is configured; first ros2 lifecycle set "
        f"{node.get_fully_qualified_name()} cleanup"
    )


def _refused(reason: str) -> SetParametersResult:
    return SetParametersResult(successful=False, reason=reason)


def _reason(refuse: Refuse | None, values: Mapping[str, Any]) -> str:
    """Return why a node does not take values over, or an empty text."""
    if refuse is None:
        return f"{', '.join(values)} cannot change while this node runs"
    try:
        return refuse(values)
    except InputError as error:
        return str(error)


def _refuse_unknown(node: Node, known: Mapping[str, Setting]) -> None:
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


def _declare_one(node: Node, setting: Setting, *, managed: bool) -> Any:
    """Declare one parameter and return its value; None where a managed node has none yet."""
    name, default = setting.name, setting.default
    if setting.kind.is_list and default:
        default = list(default)
    try:
        declared = node.declare_parameter(
            name, TYPES[setting.kind] if default is None else default, _descriptor(setting, managed)
        )
    except (InvalidParameterTypeException, InvalidParameterValueException) as error:
        raise SettingError(name, "as given", f"{error}; it is: {setting.description}") from error
    if declared.type_ is Type.NOT_SET:
        if managed:
            return None
        raise _missing(setting, None)
    value = _plain(declared.value)
    if managed and setting.required and not value:
        return value
    if problem := _problem(setting, value):
        raise SettingError(name, value, f"{problem}: {setting.description}")
    return setting.read(value)


def _descriptor(setting: Setting, managed: bool) -> ParameterDescriptor:
    """Return the descriptor by which tools explain and check a parameter."""
    descriptor = ParameterDescriptor(
        name=setting.name,
        description=setting.description,
        read_only=setting.fixed or not (setting.live or managed),
        dynamic_typing=setting.kind is Kind.NUMBER or setting.kind.is_list,
    )
    if setting.choices:
        descriptor.additional_constraints = f"one of {', '.join(setting.choices)}"
    least, most = setting.minimum, setting.maximum
    if least is not None and most is not None:
        if setting.kind is Kind.NUMBER:
            descriptor.floating_point_range = [
                FloatingPointRange(from_value=float(least), to_value=float(most))
            ]
        elif setting.kind is Kind.WHOLE:
            descriptor.integer_range = [
                IntegerRange(from_value=int(least), to_value=int(most), step=1)
            ]
    return descriptor


def _plain(value: Any) -> Any:
    """Return the value of a parameter with arrays as lists."""
    return list(value) if isinstance(value, array | tuple) else value
