"""The node that injects faults into joint states, between a driver and its readers."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState

from robot_identification.errors import InputError
from robot_identification.ros.common import qos
from robot_identification.ros.common.parameters import declare
from robot_identification.ros.common.process import run
from robot_identification.ros.simulation.fault_files import read_faults
from robot_identification.ros.simulation.faults import Fault, Injector
from robot_identification.settings import Settings, setting


@dataclass(frozen=True)
class FaultInjectorParameters(Settings):
    """What goes wrong."""

    faults: str = setting(
        "YAML file that says what goes wrong and when; empty: nothing; its time begins with the "
        "first state after it was set, also if it is set again",
        "",
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
        self._states = self.create_publisher(JointState, "joint_states", qos.STATES_OUT)
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", qos.STATUS)
        self._load()
        self.create_subscription(JointState, "joint_states_in", self._on_state, qos.STATES_IN)
        self.create_timer(1.0, self._report)

    def _load(self) -> None:
        path = self._declared.now.faults
        self._injector = Injector(_faults_of(path))
        self.get_logger().info(f"ready: {len(self._injector.faults)} faults from {path or '-'}")

    def _on_state(self, message: JointState) -> None:
        self._received += 1
        for spoilt in self._injector.apply(message):
            self._states.publish(spoilt)
            self._sent += 1

    def _report(self) -> None:
        """Tell on /diagnostics how often each fault has acted."""
        counts = [("received", self._received), ("sent", self._sent), *self._injector.counts]
        status = DiagnosticStatus(
            level=DiagnosticStatus.WARN if self._injector.faults else DiagnosticStatus.OK,
            name=self.get_fully_qualified_name(),
            message="joint states are being spoilt" if self._injector.faults else "passing on",
            values=[KeyValue(key=key, value=str(count)) for key, count in counts],
        )
        report = DiagnosticArray(status=[status])
        report.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(report)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(FaultInjector, arguments, name="fault_injector", make_executor=EventsExecutor)


if __name__ == "__main__":
    sys.exit(main())
