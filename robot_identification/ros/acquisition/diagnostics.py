"""Diagnostics of the acquisition node about the joint states that it receives."""

from __future__ import annotations

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node

from robot_identification.ros.acquisition.bag import BagRecording
from robot_identification.ros.acquisition.judgement import Judgement
from robot_identification.ros.acquisition.recorder import Recorder
from robot_identification.ros.common.diagnostics import ERROR, OK, STALE, WARN, status_of
from robot_identification.ros.common.joint_states import (
    DriverSubscription,
    Sample,
    why_not_later,
)
from robot_identification.ros.common.stamps import StampStatistics
from robot_identification.signals.positions.held_joints import HeldJoints

_REPEAT = 10.0
_FROZEN = 10


class Diagnostics:
    """Counts joint states and reports on them.

    Args:
        node: the node that receives.
        robot: name of the robot.
        states: where they come from.
        held: where joints stand that the robot holds fixed.
        judgement: of what is recorded; None where samples are not whole, as efforts come apart.
    """

    def __init__(
        self,
        node: Node,
        robot: str,
        states: DriverSubscription,
        held: HeldJoints,
        judgement: Judgement | None = None,
    ) -> None:
        self._node = node
        self._states = states
        self._held = held
        self._judgement = judgement
        self._robot = robot
        self._statistics = StampStatistics()
        self._stamps: list[int] = []
        self._received = self._refused = self._lost = 0
        self._setbacks = self._frozen = self._stuck = 0
        self._values_before = b""
        self._before = (0, 0, 0, 0, 0)
        self._reason = self._bag_problem = ""

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

    @property
    def newest(self) -> int | None:
        """Stamp of the last good message in ns; None before the first."""
        return self._stamps[-1] if self._stamps else None

    def bag_ended(self, problem: str) -> None:
        """Take note of a bag that has ended before its recording."""
        if problem != self._bag_problem:
            self._node.get_logger().error(f"the recording goes on without a bag: {problem}")
        self._bag_problem = problem

    def report(
        self, recorder: Recorder | None, bag: BagRecording | None = None
    ) -> DiagnosticStatus:
        """Return what was seen since the last call.

        Args:
            recorder: the recording under way, None if there is none.
            bag: its bag, None if there is none.
        """
        if bag is not None and not bag.problem:
            self._bag_problem = ""
        self._lost += self._statistics.between(self._stamps)
        self._stamps = self._stamps[-1:]
        level, message = self._verdict(recorder)
        values = dict(self._values(recorder, bag))
        return status_of(self._node, level, message, values, part="joint states", robot=self._robot)

    def _verdict(self, recorder: Recorder | None) -> tuple[bytes, str]:
        now = (self._received, self._refused, self._states.lost, self._lost, self._setbacks)
        news = [new - old for new, old in zip(now, self._before, strict=True)]
        self._before = now
        if self._states.incompatible:
            return ERROR, self._states.incompatible
        if self._bag_problem:
            return (
                ERROR,
                f"the recording goes on without a bag: {self._bag_problem}",
            )
        if news[0] == 0:
            return STALE, "no joint states arrive"
        if news[1] > 0:
            return ERROR, f"{news[1]} joint states refused: {self._reason}"
        if self._stuck >= _FROZEN:
            return STALE, why_not_later(self._stamps[-1])
        if self._frozen >= _FROZEN and recorder:
            return STALE, (
                f"positions and efforts have not changed in {self._frozen} joint states: the "
                "driver repeats its last ones, or nothing is measured"
            )
        if news[4] > 0:
            return WARN, "the clock of the joint states was set back"
        if news[2] > 0 or news[3] > 0:
            return WARN, "joint states are being lost"
        if recorder and (wrong := self._mistakes()):
            return WARN, "; ".join(wrong)
        return OK, "recording" if recorder else "receiving"

    def _mistakes(self) -> list[str]:
        """Return what is wrong with what is recorded."""
        found = () if self._judgement is None else self._judgement.mistakes()
        return [*(finding.line for finding in found), *self._held.lines()]

    def _values(self, recorder: Recorder | None, bag: BagRecording | None) -> list[tuple[str, str]]:
        values = [
            ("rate_hz", f"{self._statistics.rate:.3f}"),
            ("jitter", f"{self._statistics.jitter:.4f}"),
            ("messages_received", str(self._received)),
            ("messages_refused", str(self._refused)),
            ("messages_lost", str(self._lost)),
            ("messages_lost_by_middleware", str(self._states.lost)),
            ("messages_unchanged", str(self._frozen)),
            ("clock_set_back", str(self._setbacks)),
            ("last_refusal", self._reason),
            ("recording", recorder.recording if recorder else ""),
            ("bag", str(bag.path) if bag else ""),
            ("bag_messages_on_disk", str(bag.messages) if bag else ""),
            ("bag_problem", self._bag_problem),
        ]
        counts = vars(recorder.counts) if recorder else {}
        return values + [(f"recording_{name}", str(value)) for name, value in counts.items()]
