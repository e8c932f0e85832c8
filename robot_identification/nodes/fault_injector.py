"""The node that injects faults into joint states, between a driver and its readers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

from robot_identification.errors import InputError
from robot_identification.nodes import qos
from robot_identification.nodes.fault_files import read_faults
from robot_identification.nodes.faults import Injector
from robot_identification.nodes.parameters import ParameterSpec, current, declare
from robot_identification.nodes.running import run


def _problem(path: str) -> str:
    """Return what is wrong with a fault file, or an empty text."""
    if not path:
        return ""
    try:
        read_faults(path)
    except InputError as error:
        return f"is of no use: {error}"
    return ""


FAULTS = ParameterSpec(
    "faults",
    Parameter.Type.STRING,
    "YAML file that says what goes wrong and when; empty: nothing; its time begins with the first "
    "state after it was set, also if it is set again",
    default="",
    read_only=False,
    check=_problem,
)
PARAMETERS = (FAULTS,)


class FaultInjector(Node):
    """Republishes `joint_states_in` as `joint_states`, spoilt as a file says."""

    def __init__(self) -> None:
        super().__init__("fault_injector")
        declare(self, PARAMETERS)
        self._received = self._sent = 0
        self._injector = Injector(())
        self._states = self.create_publisher(JointState, "joint_states", qos.STATES_OUT)
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", qos.STATUS)
        self._load()
        self.add_post_set_parameters_callback(self._on_parameters)
        self.create_subscription(JointState, "joint_states_in", self._on_state, qos.STATES_IN)
        self.create_timer(1.0, self._report)

    def _on_parameters(self, changed: list[Any]) -> None:
        if any(parameter.name == FAULTS.name for parameter in changed):
            self._load()

    def _load(self) -> None:
        path = current(self, FAULTS)
        self._injector = Injector(read_faults(path) if path else ())
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
