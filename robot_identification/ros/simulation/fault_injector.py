"""The node that injects faults into joint states, between a driver and its readers."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState

from robot_identification.errors import InputError, SettingError
from robot_identification.robot.files.document import Document, read_document
from robot_identification.ros.common import qos
from robot_identification.ros.common.diagnostics import OK, WARN, NodeDiagnostics, status_of
from robot_identification.ros.common.parameters.declaration import declare
from robot_identification.ros.common.process import run
from robot_identification.ros.simulation.faults import SIGNALS, Fault, Injector, Kind
from robot_identification.settings import Settings, setting

_NUMBERS: Mapping[str, tuple[str, float, float]] = {
    "from": ("begin", 0.0, math.inf),
    "until": ("end", 0.0, math.inf),
    "probability": ("probability", 0.0, 1.0),
    "by": ("by", -math.inf, math.inf),
}
_TEXTS = ("joint", "signal", "to")


def read_faults(path: str | Path) -> tuple[Fault, ...]:
    """Return the faults in a YAML file, in the order in which they act.

    Args:
        path: the file; ``docs/faults.md`` describes it.

    Raises:
        SettingError: an entry has a value that it cannot have.
        RobotDescriptionError: the file cannot be read or is no YAML.
    """
    document = read_document(Path(path))
    content = document.data
    if not isinstance(content, dict) or set(content) - {"seed", "faults"}:
        raise document.error("needs the keys faults and, if wanted, seed, and no others")
    entries = content.get("faults")
    if not isinstance(entries, list):
        raise document.error("must be a list", "faults")
    seed = content.get("seed", 0)
    return tuple(_fault(entry, seed, place, document) for place, entry in enumerate(entries))


def _fault(entry: Any, seed: Any, place: int, document: Document) -> Fault:
    """Return one fault."""
    if not isinstance(entry, dict):
        raise document.error("must be a mapping", "faults", place)
    unknown = set(entry) - {"kind", "seed", *_NUMBERS, *_TEXTS}
    if unknown:
        raise document.error(f"unknown key {min(unknown)}", "faults", place)
    kinds = {kind.value: kind for kind in Kind}
    kind = entry.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise SettingError("kind", kind, f"choose one of {', '.join(kinds)}")
    fields: dict[str, Any] = {"seed": _whole(entry.get("seed", seed))}
    for key, (name, least, most) in _NUMBERS.items():
        if key in entry:
            fields[name] = _number(key, entry[key], least, most)
    for key in _TEXTS:
        if key in entry:
            fields[key] = str(entry[key])
    fault = Fault(kinds[kind], **fields)
    if fault.signal not in SIGNALS:
        raise SettingError("signal", fault.signal, f"choose one of {', '.join(SIGNALS)}")
    if fault.begin >= fault.end:
        raise SettingError("until", fault.end, f"must come after from, which is {fault.begin:g}")
    if fault.kind is Kind.DELAY and fault.by <= 0.0:
        raise SettingError("by", fault.by, "must be the longest delay, in s")
    return fault


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise SettingError("seed", value, "must be a whole number")
    return value


def _number(key: str, value: Any, least: float, most: float) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise SettingError(key, value, "must be a number")
    if not least <= value <= most:
        raise SettingError(key, value, f"must lie between {least:g} and {most:g}")
    return float(value)


@dataclass(frozen=True)
class FaultInjectorParameters(Settings):
    """Parameters of the fault injector."""

    faults: str = setting(
        "YAML file that says what goes wrong and when; empty: nothing; its time begins with the "
        "first state after it was set, also if it is set again",
        "",
        path=True,
        live=True,
        asks=True,
    )


def _refuse(values: Mapping[str, Any]) -> str:
    """Return what is wrong with a fault file, or an empty text."""
    try:
        _faults_of(values["faults"])
    except InputError as error:
        return f"faults is of no use: {error}"
    return ""


def _faults_of(path: str) -> tuple[Fault, ...]:
    return read_faults(path) if path else ()


class FaultInjector(Node):
    """Republishes `joint_states_in` as `joint_states`, spoilt as a file says."""

    def __init__(self) -> None:
        super().__init__("fault_injector")
        self._declared = declare(self, FaultInjectorParameters, refuse=_refuse, changed=self._load)
        self._received = self._sent = 0
        self._injector = Injector(())
        self._states = qos.create_publisher(self, JointState, "joint_states", qos.STATES_OUT)
        self._load()
        qos.create_subscription(self, JointState, "joint_states_in", self._on_state, qos.STATES_IN)
        NodeDiagnostics(self).add(self._report)

    def _load(self) -> None:
        path = self._declared.now.faults
        self._injector = Injector(_faults_of(path))
        self.get_logger().info(f"ready: {len(self._injector.faults)} faults from {path or '-'}")

    def _on_state(self, message: JointState) -> None:
        self._received += 1
        for spoilt in self._injector.apply(message):
            self._states.publish(spoilt)
            self._sent += 1

    def _report(self) -> DiagnosticStatus:
        """Return what /diagnostics say of how often each fault has acted."""
        counts = [("received", self._received), ("sent", self._sent), *self._injector.counts]
        level, text = OK, "passing on"
        if self._injector.faults:
            level, text = WARN, "joint states are being spoilt"
        return status_of(self, level, text, dict(counts))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(FaultInjector, arguments, name="fault_injector", make_executor=EventsExecutor)


if __name__ == "__main__":
    sys.exit(main())
