"""A live recording while it is made: samples come in one by one, numbered blocks go out."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from robot_identification.ros.common.joint_states import NANOSECONDS, Sample
from robot_identification.ros.common.stamps import StampStatistics
from robot_identification.signals.clock.arrivals import Arrival, Arrivals
from robot_identification.signals.efforts.buffer import EffortBuffer
from robot_identification.signals.raw_samples import RawSamples
from robot_identification.signals.temperature import StampedTemperatures

_SMALL = 100
_LARGEST = 500
_SPARE = 1.05


class BlockPace:
    """Has blocks sent as soon as they are full, and what does not fill one after a while.

    A full block has as many samples as come in a period, so that all blocks are alike, whenever
    they are sent.  The middleware keeps the last ones, each in a buffer that grows to the largest
    block it has ever held: blocks of what has come in a period would make it grow at every stall.
    Fewer than a hundred samples do not fill a block: of what comes all at once there would be more
    blocks than the middleware keeps.

    Args:
        period: time in which a block fills, s.

    Attributes:
        full: samples of a full block.
    """

    def __init__(self, period: float) -> None:
        self._period = period
        self.begin()

    def begin(self) -> None:
        """Begin with samples of another recording."""
        self._waiting = 0
        self._filled = False
        self.full = _LARGEST

    @property
    def most(self) -> int:
        """Samples of a block at most: those of a full one, and what hardly exceeds them."""
        return min(math.ceil(_SPARE * self.full), _LARGEST)

    def add(self, samples: int) -> bool:
        """Take note of new samples; return whether blocks are to be sent."""
        self._waiting += samples
        full = self._waiting >= self.full
        self._filled = self._filled or full
        return full

    def period_ends(self) -> bool:
        """Return whether blocks are to be sent because none has filled in this period."""
        filled, self._filled = self._filled, False
        return not filled

    def sent(self, rate: float) -> None:
        """Take note that what was due is sent.

        Args:
            rate: of the samples, Hz; NaN while it is not known.
        """
        self._waiting = 0
        self.full = _LARGEST
        if not math.isnan(rate):
            self.full = min(max(round(self._period * rate), _SMALL), _LARGEST)


_REMEMBERED = 4096
_MOST_PENDING = 20_000
"""Samples that wait for their efforts and their reference at most."""

_OTHER_CLOCK_NS = 15 * NANOSECONDS
"""A reference this far behind is of another clock; one that a stall has kept back is not."""


@dataclass(frozen=True)
class Counts:
    """Counts of the samples of a recording; see SampleBlock.msg."""

    received: int = 0
    duplicate: int = 0
    out_of_order: int = 0
    refused: int = 0
    without_effort: int = 0
    lost: int = 0


@dataclass(frozen=True)
class Block:
    """A run of samples in order of their stamps, as SampleBlock.msg has it.

    Attributes:
        recording: identifier of the recording.
        sequence: number of the block, from 0.
        first_sample: number of its first sample, from 0.
        last: whether the recording has ended with it.
        samples: the samples; there may be none in the last block.
        counts: what became of the samples of the recording so far.
        effort_topic: topic of the efforts; empty: they came with the joint states.
        effort_delay: time by which their stamps lie behind the motion, in s; accounted for.
        temperatures: name of a joint -> its temperatures that have come since the block before.
    """

    recording: str
    sequence: int
    first_sample: int
    last: bool
    samples: RawSamples
    counts: Counts
    effort_topic: str = ""
    effort_delay: float = 0.0
    temperatures: Mapping[str, StampedTemperatures] = field(default_factory=dict)


def continuation(recording: str) -> str:
    """Return the name of the recording that begins where the clock is set back in another."""
    found = re.fullmatch(r"(.*)\.(\d+)", recording)
    return f"{found[1]}.{int(found[2]) + 1}" if found else f"{recording}.2"


class Recorder:
    """Puts samples in order, drops duplicates, and accounts for every one of them.

    A sample that is older than a block already taken has lost its place; it is dropped and
    counted as out of order.

    Args:
        recording: identifier of the recording.
        joints: number of joints.
        rate: rate at which samples are sent, Hz; 0 takes it from the stamps.
        efforts: efforts of a topic of their own; None: they come with the samples.
    """

    def __init__(
        self,
        recording: str,
        joints: int,
        rate: float = 0.0,
        efforts: EffortBuffer | None = None,
    ) -> None:
        self.recording = recording
        self.counts = Counts()
        self._joints = joints
        self._efforts = efforts
        self._statistics = StampStatistics(rate)
        self._waiting = Arrivals[Sample](_REMEMBERED)
        self._sequence = 0
        self._samples = 0

    @property
    def pending(self) -> int:
        """Number of samples that wait for the next block."""
        return len(self._waiting.stamps)

    def refuse(self) -> None:
        """Count a message that was received but is of no use."""
        self._count(received=1, refused=1)

    def add(self, sample: Sample) -> None:
        """Take in a sample."""
        arrival = self._waiting.add(sample.stamp, sample)
        if arrival is Arrival.DUPLICATE:
            self._count(received=1, duplicate=1)
        elif arrival is Arrival.PASSED:
            filled = self._statistics.filled(*self._waiting.fill(sample.stamp))
            self._count(received=1, out_of_order=1, lost=-filled)
        else:
            self._count(received=1, out_of_order=int(arrival is Arrival.LATE))

    @property
    def rate(self) -> float:
        """Rate of the samples, Hz, as stated or measured; NaN as long as that is not known."""
        return NANOSECONDS / self._statistics.period

    def take(
        self,
        *,
        last: bool = False,
        wait: bool = True,
        until: int | None = None,
        most: int | None = None,
    ) -> Block | None:
        """Return what has come in since the last call, None if that is nothing.

        Args:
            last: end the recording; there is a block even if it is empty, and nothing waits.
            wait: whether samples wait for efforts of a topic of their own that are still to come.
            until: stamp in ns up to which their reference is known; later samples wait for it,
                unless it is so far behind that it has another clock.  None: no sample waits.
            most: samples of a block; the others are for the next call.  By default all are taken.
        """
        waiting = self._waiting
        due = self.pending if last else self._due(wait=wait, until=until)
        count = due if most is None else min(due, most)
        ending, last = last, last and count == due
        if not count and not last:
            return None
        reach = [*waiting.passed[-1:], *waiting.stamps[:count]]
        self._count(lost=self._statistics.add(np.diff(reach).tolist()))
        samples = _stack(waiting.take(count), self._joints)
        if self._efforts is not None:
            samples = self._efforts.merge(samples)
            self._count(without_effort=count - len(samples.stamps))
            if not len(samples.stamps) and not last:
                return self.take(last=ending, wait=wait, until=until, most=most)
        block = Block(
            recording=self.recording,
            sequence=self._sequence,
            first_sample=self._samples,
            last=last,
            samples=samples,
            counts=self.counts,
        )
        self._sequence += 1
        self._samples += len(samples.stamps)
        return block

    def _due(self, *, wait: bool, until: int | None) -> int:
        """Return how many samples are complete, or do not wait any longer."""
        waiting, complete = self._waiting, self.pending
        if until is not None and waiting.stamps and waiting.stamps[-1] - until < _OTHER_CLOCK_NS:
            complete = waiting.until(until)
        if self._efforts is not None and wait:
            ready = self._efforts.ready
            complete = min(complete, 0 if ready is None else waiting.until(ready))
        return max(complete, self.pending - _MOST_PENDING)

    def _count(self, **changes: int) -> None:
        new = {name: getattr(self.counts, name) + change for name, change in changes.items()}
        self.counts = replace(self.counts, **new)


def _stack(samples: list[Sample], joints: int) -> RawSamples:
    shape = (len(samples), joints)
    velocities = [sample.velocity for sample in samples if sample.velocity is not None]
    measured = len(velocities) == len(samples) > 0
    return RawSamples(
        stamps=np.array([sample.stamp for sample in samples], dtype=np.int64),
        position=np.array([sample.position for sample in samples]).reshape(shape),
        velocity=np.array(velocities).reshape(shape) if measured else None,
        effort=np.array([sample.effort for sample in samples]).reshape(shape),
    )
