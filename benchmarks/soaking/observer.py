"""What comes out of the nodes during the soak: whether all of it, and how late."""

from __future__ import annotations

import time
from array import array
from dataclasses import dataclass, field
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from robot_identification.msg import IdentificationResult, SampleBlock

from robot_identification.ros.common import qos
from robot_identification.ros.common.joint_states import NANOSECONDS, stamp_of
from soaking.percentiles import percentiles


@dataclass
class Blocks:
    """Blocks of samples of one topic, and every number that should follow from the one before.

    Attributes:
        period: time between two samples, ns; 0: not known, stamps need only rise.
        newest: age of the newest sample of each block when it is received, s.
        oldest: age of the oldest one, s.
        samples: samples received.
        recordings: recordings begun.
        first_stamp: stamp of the first sample, ns.
        last_stamp: stamp of the last one, ns.
        ended: whether the recording has ended with the last block.
        counts: what the node has counted in each recording.
        faults: block, sample or stamp that did not follow, one line each.
    """

    period: int
    newest: array[float] = field(default_factory=lambda: array("d"))
    oldest: array[float] = field(default_factory=lambda: array("d"))
    samples: int = 0
    recordings: int = 0
    first_stamp: int = 0
    last_stamp: int = 0
    ended: bool = False
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    _recording: str = ""
    _sequence: int = 0
    _sample: int = 0

    def take(self, message: SampleBlock) -> None:
        """Take in a block."""
        now = time.time_ns()
        if message.recording != self._recording:
            self._recording, self._sequence, self._sample = message.recording, 0, 0
            self.recordings += 1
        if (message.sequence, message.first_sample) != (self._sequence, self._sample):
            self.faults.append(
                f"block {message.sequence}, sample {message.first_sample} came in place of block "
                f"{self._sequence}, sample {self._sample}"
            )
        stamps = message.stamps
        self._sequence = message.sequence + 1
        self._sample = message.first_sample + len(stamps)
        self.ended = message.last
        names = ("received", "lost", "duplicate", "out_of_order", "refused")
        self.counts[message.recording] = {name: getattr(message, name) for name in names}
        if not stamps:
            return
        self._check(stamps)
        self.samples += len(stamps)
        if message.last:  # holds what the filters had kept back, however long ago the driver ended
            return
        self.newest.append((now - stamps[-1]) / NANOSECONDS)
        self.oldest.append((now - stamps[0]) / NANOSECONDS)

    def _check(self, stamps: array[int]) -> None:
        if not self.first_stamp:
            self.first_stamp, self.last_stamp = stamps[0], stamps[0] - (self.period or 1)
        for stamp in stamps:
            step = stamp - self.last_stamp
            if step <= 0 or (self.period and step != self.period):
                self.faults.append(f"{step} ns from stamp {self.last_stamp} to the next")
            self.last_stamp = stamp

    def forget_ages(self) -> None:
        """Have the ages begin again."""
        self.newest, self.oldest = array("d"), array("d")

    def summary(self) -> dict[str, Any]:
        """Return what came and how late."""
        totals: dict[str, int] = {}
        for counts in self.counts.values():
            for name, count in counts.items():
                totals[name] = totals.get(name, 0) + count
        return {
            "samples": self.samples,
            "recordings": self.recordings,
            "counted_by_node": totals,
            "faults": len(self.faults),
            "first_faults": self.faults[:20],
            "age_of_newest_sample_s": percentiles(self.newest),
            "age_of_oldest_sample_s": percentiles(self.oldest),
        }


class Observer:
    """Subscribes to what the nodes publish.

    Args:
        node: the node that subscribes.
        period: time between two joint states, ns.

    Attributes:
        raw: blocks of ``samples``.
        filtered: blocks of ``filtered_samples``.
        estimates: age of the newest sample behind each estimate when that is received, s.
        last_estimate: the last estimate.
        reports: name of a status -> its last values on ``/diagnostics``.
        levels: name of a status -> message -> how often it was worse than OK.
    """

    def __init__(self, node: Node, period: int) -> None:
        self.raw, self.filtered = Blocks(period), Blocks(0)
        self.estimates: array[float] = array("d")
        self.last_estimate: IdentificationResult | None = None
        self.reports: dict[str, dict[str, str]] = {}
        self.levels: dict[str, dict[str, int]] = {}
        for kind, topic, callback, profile in (
            (SampleBlock, "samples", self.raw.take, qos.BLOCKS),
            (SampleBlock, "filtered_samples", self.filtered.take, qos.BLOCKS),
            (IdentificationResult, "identified_parameters", self._on_estimate, qos.LATCHED),
            (DiagnosticArray, "/diagnostics", self._on_report, qos.STATUS),
        ):
            node.create_subscription(kind, topic, callback, profile)

    def _on_estimate(self, message: IdentificationResult) -> None:
        self.last_estimate = message
        if not self.raw.ended:  # afterwards its samples are as old as the end of the driver
            self.estimates.append((time.time_ns() - stamp_of(message)) / NANOSECONDS)

    def forget_ages(self) -> None:
        """Have all ages begin again."""
        self.raw.forget_ages()
        self.filtered.forget_ages()
        self.estimates = array("d")

    def estimate_ages(self) -> dict[str, dict[str, float]]:
        """Return how old the newest sample behind an estimate was when that was received."""
        return {"age_s": percentiles(self.estimates)}

    def _on_report(self, message: DiagnosticArray) -> None:
        for status in message.status:
            self.reports[status.name] = {value.key: value.value for value in status.values}
            if status.level != b"\x00":
                found = self.levels.setdefault(status.name, {})
                found[status.message] = found.get(status.message, 0) + 1
