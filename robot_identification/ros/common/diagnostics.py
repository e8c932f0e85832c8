"""Statuses on /diagnostics in one form: name of the node and its part, robot, values.

Where the package diagnostic_updater is installed its Updater runs the parts and publishes them; the
same statuses, with the same names and values, come without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.callback_groups import CallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from robot_identification.errors import SettingError
from robot_identification.ros.common import qos
from robot_identification.ros.common.parameters.files import DIAGNOSTICS_PERIOD

OK, WARN = DiagnosticStatus.OK, DiagnosticStatus.WARN
ERROR, STALE = DiagnosticStatus.ERROR, DiagnosticStatus.STALE

TOPIC = "/diagnostics"
PERIOD = 1.0
"""Time between two messages of a node that has no parameter of its own for it, s."""

_SHORTEST, _LONGEST = 0.1, 60.0  # as those of the parameter diagnostics_period

Report = Callable[[], DiagnosticStatus]
"""Returns what a part of a node has to tell since the last call."""


def status_of(
    node: Node,
    level: bytes,
    message: str,
    values: Mapping[str, object],
    *,
    part: str = "",
    robot: str = "",
) -> DiagnosticStatus:
    """Return the status of a node, or of a part of it.

    Args:
        node: whose status it is.
        level: :data:`OK`, :data:`WARN`, :data:`ERROR` or :data:`STALE`.
        message: for people.
        values: by name, for programs.
        part: of the node, such as ``joint states``; the whole node where it is empty.
        robot: its name, the hardware to which the status belongs.
    """
    name = node.get_fully_qualified_name()
    return DiagnosticStatus(
        level=level,
        name=f"{name}: {part}" if part else name,
        hardware_id=robot,
        message=message,
        values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
    )


class NodeDiagnostics:
    """Publishes what the parts of a node report, all together, once a period.

    The period is that of a clock that never jumps nor rests with a simulation.

    Attributes:
        period: time between two messages in s.
        robot: name of the robot, the hardware of the node; empty as long as nobody knows it.

    Args:
        node: that publishes.
        period: time between two messages in s, where the parameter ``diagnostic_updater.period``
            does not say otherwise.
        group: callback group in which the parts are asked.

    Raises:
        SettingError: that parameter is no such time.
    """

    def __init__(
        self, node: Node, period: float = PERIOD, *, group: CallbackGroup | None = None
    ) -> None:
        _check_period(node)
        self._updater = _updater_kind()(node, period)
        self.period: float = self._updater.period
        self.robot = ""
        self._parts = 0
        node.destroy_timer(self._updater.timer)
        self._updater.timer = node.create_timer(
            self.period,
            self.update,
            callback_group=group,
            clock=Clock(clock_type=ClockType.STEADY_TIME),
        )

    def add(self, report: Report) -> None:
        """Have a part of the node asked from now on."""

        def fill(status: Any) -> Any:
            told = report()
            for field in ("level", "name", "message", "hardware_id", "values"):
                setattr(status, field, getattr(told, field))
            return status

        self._parts += 1
        self._updater.add("", fill)

    def clear(self) -> None:
        """Have no part asked any more, nor any robot named."""
        for _ in range(self._parts):
            self._updater.removeByName("")
        self._parts = 0
        self.of_robot("")

    def of_robot(self, name: str) -> None:
        """Take note of the name of the robot."""
        self.robot = name
        self._updater.setHardwareID(name)

    def update(self) -> None:
        """Ask all parts, and publish what they report; nothing of a node without any."""
        if self._parts:
            self._updater.update()

    def wait_until_read(self) -> None:
        """Wait for readers that are still there, as a node does before it ends."""
        self._updater.publisher.wait_for_all_acked(qos.ARRIVED_WITHIN)


def _check_period(node: Node) -> None:
    """Refuse a period that none can be."""
    # rclpy has no other way to see what was given and not declared.
    given = node._parameter_overrides.get(DIAGNOSTICS_PERIOD)  # noqa: SLF001
    if given is None:
        return
    value = given.value
    if not isinstance(value, float) or not _SHORTEST <= value <= _LONGEST:
        limits = f"from {_SHORTEST} to {_LONGEST}, with its point"
        raise SettingError(DIAGNOSTICS_PERIOD, value, f"is a time in s {limits}")


def _updater_kind() -> Callable[[Node, float], Any]:
    """Return what runs the parts: the Updater of diagnostic_updater, else the same by hand."""
    try:
        from diagnostic_updater import Updater
    except ModuleNotFoundError:
        return _OwnUpdater

    class FullyNamed(Updater):
        """An Updater whose statuses keep their names, which tell the namespace of the node."""

        def publish(self, statuses: Any) -> None:
            _publish(self.node, self.publisher, statuses)

        def addedTaskCallback(self, task: Any) -> None:  # noqa: N802
            """Say nothing of a part that has not been asked yet."""

    return FullyNamed


class _OwnUpdater:
    """What is used of the Updater of diagnostic_updater, where that is not installed."""

    def __init__(self, node: Node, period: float) -> None:
        self._node = node
        self.publisher = node.create_publisher(DiagnosticArray, TOPIC, qos.STATUS)
        self.period = node.declare_parameter(DIAGNOSTICS_PERIOD, period).value
        self.timer = node.create_timer(period, self.update)
        self._hardware = ""
        self._parts: list[Callable[[DiagnosticStatus], DiagnosticStatus]] = []

    def setHardwareID(self, hardware: str) -> None:  # noqa: N802
        self._hardware = hardware

    def add(self, _name: str, part: Callable[[DiagnosticStatus], DiagnosticStatus]) -> None:
        self._parts.append(part)

    def removeByName(self, _name: str) -> None:  # noqa: N802
        del self._parts[0]

    def update(self) -> None:
        empty = (DiagnosticStatus(hardware_id=self._hardware) for _ in self._parts)
        statuses = [part(status) for part, status in zip(self._parts, empty, strict=True)]
        _publish(self._node, self.publisher, statuses)


def _publish(node: Node, publisher: Any, statuses: list[DiagnosticStatus]) -> None:
    """Publish statuses in one message, stamped now by the clock of the node."""
    fields = ("level", "name", "message", "hardware_id", "values")
    plain = [DiagnosticStatus(**{f: getattr(one, f) for f in fields}) for one in statuses]
    report = DiagnosticArray(status=plain)
    report.header.stamp = node.get_clock().now().to_msg()
    publisher.publish(report)
