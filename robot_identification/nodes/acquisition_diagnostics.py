"""What the acquisition node says on /diagnostics about the joint states that it receives."""

from __future__ import annotations

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node
from rclpy.qos import qos_policy_name_from_kind

from robot_identification.nodes import qos
from robot_identification.nodes.joint_states import Sample
from robot_identification.nodes.recorder import Recorder
from robot_identification.nodes.stamps import StampStatistics

_REPEAT = 10.0
_FROZEN = 10


class Diagnostics:
    """Counts joint states and reports on them.

    Attributes:
        incompatible: what does not fit in the quality of service of a publisher, empty if nothing.

    Args:
        node: the node that publishes.
        robot: name of the robot.
    """

    def __init__(self, node: Node, robot: str) -> None:
        self._node = node
        self._robot = robot
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", qos.STATUS)
        self._statistics = StampStatistics()
        self._stamps: list[int] = []
        self._received = self._refused = self._lost = self._lost_on_the_way = 0
        self._setbacks = self._frozen = self._stuck = 0
        self._values_before = b""
        self._before = (0, 0, 0, 0, 0)
        self._reason = self.incompatible = ""

    def count(self) -> int:
        """Count a message; return its number, from 0."""
        self._received += 1
        return self._received - 1

    def observe(self, sample: Sample) -> None:
        """Take note of a good message."""
        stuck = bool(self._stamps) and sample.stamp == self._stamps[-1]
        self._stuck = self._stuck + 1 if stuck else 0
        self._stamps.append(sample.stamp)
        values = sample.position.tobytes() + sample.effort.tobytes()
        self._frozen = self._frozen + 1 if values == self._values_before else 0
        self._values_before = values

    def set_back(self) -> None:
        """Count a clock that was set back."""
        self._setbacks += 1

    def refuse(self, reason: str) -> None:
        """Count a message of no use and say why."""
        self._refused += 1
        self._reason = reason
        self._node.get_logger().warning(
            f"joint state refused: {reason}", throttle_duration_sec=_REPEAT
        )

    def on_message_lost(self, event: object) -> None:
        """Count messages that the middleware lost."""
        self._lost_on_the_way = event.total_count  # type: ignore[attr-defined]

    def on_incompatible_qos(self, event: object) -> None:
        """Report a publisher whose quality of service does not fit."""
        kind = event.last_policy_kind  # type: ignore[attr-defined]
        policy = qos_policy_name_from_kind(kind)
        self.incompatible = f"a publisher offers an incompatible {policy}"
        self._node.get_logger().error(f"joint_states: {self.incompatible}")

    def publish(self, recorder: Recorder | None) -> None:
        """Publish what was seen since the last call.

        Args:
            recorder: the recording under way, None if there is none.
        """
        steps = [b - a for a, b in zip(self._stamps, self._stamps[1:], strict=False) if b > a]
        self._lost += self._statistics.add(steps)
        self._stamps = self._stamps[-1:]
        level, message = self._verdict(recorder)
        status = DiagnosticStatus(
            level=level,
            name=f"{self._node.get_fully_qualified_name()}: joint states",
            hardware_id=self._robot,
            message=message,
            values=[KeyValue(key=key, value=value) for key, value in self._values(recorder)],
        )
        report = DiagnosticArray(status=[status])
        report.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(report)

    def _verdict(self, recorder: Recorder | None) -> tuple[bytes, str]:
        now = (self._received, self._refused, self._lost_on_the_way, self._lost, self._setbacks)
        news = [new - old for new, old in zip(now, self._before, strict=True)]
        self._before = now
        if self.incompatible:
            return DiagnosticStatus.ERROR, self.incompatible
        if news[0] == 0:
            return DiagnosticStatus.STALE, "no joint states arrive"
        if news[1] > 0:
            return DiagnosticStatus.ERROR, f"{news[1]} joint states refused: {self._reason}"
        if self._stuck >= _FROZEN:
            return DiagnosticStatus.STALE, "the stamps of the joint states do not rise"
        if self._frozen >= _FROZEN and recorder:
            return DiagnosticStatus.STALE, (
                f"positions and efforts have not changed in {self._frozen} joint states: the "
                "driver repeats its last ones, or nothing is measured"
            )
        if news[4] > 0:
            return DiagnosticStatus.WARN, "the clock of the joint states was set back"
        if news[2] > 0 or news[3] > 0:
            return DiagnosticStatus.WARN, "joint states are being lost"
        return DiagnosticStatus.OK, "recording" if recorder else "receiving"

    def _values(self, recorder: Recorder | None) -> list[tuple[str, str]]:
        values = [
            ("rate_hz", f"{self._statistics.rate:.3f}"),
            ("jitter", f"{self._statistics.jitter:.4f}"),
            ("messages_received", str(self._received)),
            ("messages_refused", str(self._refused)),
            ("messages_lost", str(self._lost)),
            ("messages_lost_by_middleware", str(self._lost_on_the_way)),
            ("messages_unchanged", str(self._frozen)),
            ("clock_set_back", str(self._setbacks)),
            ("last_refusal", self._reason),
            ("recording", recorder.recording if recorder else ""),
        ]
        counts = vars(recorder.counts) if recorder else {}
        return values + [(f"recording_{name}", str(value)) for name, value in counts.items()]
