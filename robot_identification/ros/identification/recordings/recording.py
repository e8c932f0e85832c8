"""A live recording as the identification node has it: its blocks, and what is missing of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from robot_identification.errors import UnknownRecordingError
from robot_identification.identification.source import SPOILT
from robot_identification.robot.arrays import Array, by_value
from robot_identification.ros.acquisition.recorder import Block, Counts
from robot_identification.signals.raw_samples import RawSamples, joined_samples
from robot_identification.signals.temperature import StampedTemperatures, joined


@by_value
@dataclass(frozen=True)
class Repetition:
    """Number of samples in a row that repeat the one before bit by bit.

    Measured efforts hardly ever repeat exactly in all joints, so many such samples tell of a
    driver that is stuck, or of a robot at rest without power.

    Attributes:
        longest: repetitions in a row, at most; 0 where every sample differs from the one before.
        newest: repetitions in a row at the end.
        last: (2, joints) position and effort of the newest sample; None before the first.
    """

    longest: int = 0
    newest: int = 0
    last: Array | None = None

    def followed_by(self, position: Array, effort: Array) -> Repetition:
        """Return the repetitions with the samples that follow.

        Args:
            position: (samples, joints).
            effort: (samples, joints).
        """
        if not len(position):
            return self
        states = np.stack([position, effort], axis=1)
        before = states[:0] if self.last is None else self.last[None]
        same = (np.diff(np.concatenate([before, states]), axis=0) == 0.0).all(axis=(1, 2))
        differ = np.flatnonzero(~same)
        first = int(differ[0]) if len(differ) else len(same)
        newest = len(same) - 1 - int(differ[-1]) if len(differ) else self.newest + len(same)
        inside = int(np.diff(differ).max(initial=1)) - 1
        longest = max(self.longest, self.newest + first, inside, newest)
        return Repetition(longest, newest, states[-1].copy())


# Repetitions in a row from which on they are told.
_STUCK = 10
# Bytes that a block takes beside its samples.
_OVERHEAD = 1000


@dataclass(frozen=True)
class LiveRecording:
    """The blocks of a recording that have arrived, and what is missing of it, at one moment.

    It never changes: whoever works on it is not disturbed by blocks that come meanwhile.

    Attributes:
        recording: identifier.
        effort_meaning: what its efforts are.
        next_block: number of the block that should come next.
        next_sample: number of the sample that should come next.
        missing_blocks: blocks that never arrived.
        missing_samples: samples in these blocks.
        ended: whether its last block has arrived.
        full: whether blocks were dropped because the memory granted is used up.
        counts: what the acquisition node says became of its samples.
        before: recording that this one continues after the clock was set back; empty if none.
        after: recording that continues this one; empty if none.
        effort_topic: topic of its efforts; empty: they came with the joint states.
        effort_delay: time by which their stamps lie behind the motion, in s; accounted for.
        conflicts: number of blocks that contradict others.
        conflict: what is wrong with the first of them.
        blocks: the samples that are kept, block by block.
        temperatures: those of the joints, in parts that are in no order.
        size: bytes that they take.
        repetition: how many of them in a row repeat the one before.
        arrived: when the newest block came, in s on a steady clock.
    """

    recording: str
    effort_meaning: str
    next_block: int = 0
    next_sample: int = 0
    missing_blocks: int = 0
    missing_samples: int = 0
    ended: bool = False
    full: bool = False
    counts: Counts = field(default_factory=Counts)
    before: str = ""
    after: str = ""
    effort_topic: str = ""
    effort_delay: float = 0.0
    conflicts: int = 0
    conflict: str = ""
    blocks: tuple[RawSamples, ...] = ()
    temperatures: tuple[Mapping[str, StampedTemperatures], ...] = ()
    size: int = 0
    repetition: Repetition = field(default_factory=Repetition)
    arrived: float = 0.0

    @property
    def last_stamp(self) -> int:
        """Stamp of the newest sample that is kept, in ns; 0 without any."""
        newest = (int(block.stamps[-1]) for block in reversed(self.blocks) if len(block.stamps))
        return next(newest, 0)

    @property
    def spoilt(self) -> str:
        """Warning of blocks that contradict each other; empty where none do."""
        if not self.conflicts:
            return ""
        return (
            f"{SPOILT}: {self.conflict}, and {self.conflicts} blocks contradict others; somebody "
            "else sends samples of it: do not use the result"
        )

    def followed_by(self, block: Block, *, keep: bool, arrived: float) -> LiveRecording:
        """Return the recording with its next block; a number that was skipped is a block lost.

        Args:
            block: with a number that has not been passed yet.
            keep: whether there is memory for its samples.
            arrived: when it came, in s on a steady clock.
        """
        samples = block.samples
        followed = replace(
            self,
            next_block=block.sequence + 1,
            next_sample=block.first_sample + len(samples.stamps),
            missing_blocks=self.missing_blocks + block.sequence - self.next_block,
            missing_samples=self.missing_samples + max(block.first_sample - self.next_sample, 0),
            ended=self.ended or block.last,
            counts=block.counts,
            effort_topic=block.effort_topic,
            effort_delay=block.effort_delay,
            arrived=arrived,
        )
        if not keep:
            return replace(followed, full=True)
        return replace(
            followed,
            blocks=(*self.blocks, samples),
            temperatures=self._temperatures_with(block),
            size=self.size + size_of(block),
            repetition=self.repetition.followed_by(samples.position, samples.effort),
        )

    def completed_by(self, block: Block, place: int) -> LiveRecording:
        """Return the recording with a block that was counted as lost, before others.

        Args:
            block: the block.
            place: number of the blocks before it.
        """
        samples = block.samples
        blocks = (*self.blocks[:place], samples, *self.blocks[place:])
        repetition = Repetition()
        for one in blocks:
            repetition = repetition.followed_by(one.position, one.effort)
        return replace(
            self,
            missing_blocks=self.missing_blocks - 1,
            missing_samples=max(self.missing_samples - len(samples.stamps), 0),
            blocks=blocks,
            temperatures=self._temperatures_with(block),
            size=self.size + size_of(block),
            repetition=repetition,
        )

    def _temperatures_with(self, block: Block) -> tuple[Mapping[str, StampedTemperatures], ...]:
        own = (block.temperatures,) if block.temperatures else ()
        return (*self.temperatures, *own)

    def samples(self, *, reference: bool = True) -> RawSamples:
        """Return all samples; velocities and references only if every block has them.

        Args:
            reference: whether the reference is wanted at all; what came before anybody knew it is
                left out then, as before the first motion since the nodes have started.

        Raises:
            UnknownRecordingError: if there is no sample yet.
        """
        blocks = [block for block in self.blocks if len(block.stamps)]
        if not blocks:
            fate = ", ".join(self._not_kept())
            raise UnknownRecordingError(self.recording, [self.recording], fate=fate)
        known = (i for i, block in enumerate(blocks) if reference and block.reference is not None)
        return joined_samples(blocks[next(known, 0) :], reference=reference)

    def as_blocks(self) -> list[Block]:
        """Return what is kept as blocks, numbered anew from 0."""
        blocks = []
        first = 0
        for number, samples in enumerate(self.blocks, 1):
            last = self.ended and number == len(self.blocks)
            own = (self.counts, self.effort_topic, self.effort_delay)
            measured = joined(self.temperatures) if number == 1 else {}
            blocks.append(Block(self.recording, number - 1, first, last, samples, *own, measured))
            first += len(samples.stamps)
        return blocks

    def _not_kept(self) -> list[str]:
        """Return what became of samples that were not simply kept."""
        counts = self.counts
        return [
            f"{count} of {counts.received} samples {name.replace('_', ' ')}"
            for name in ("lost", "refused", "without_effort", "duplicate", "out_of_order")
            if (count := getattr(counts, name))
        ]

    def warnings(self) -> list[str]:
        """Return what a user should know about the recording, one line each."""
        lines = [self.spoilt] if self.conflicts else []
        if self.missing_blocks:
            lines.append(
                f"{self.missing_blocks} blocks, {self.missing_samples} samples, not arrived"
            )
        if self.full:
            lines.append("cut short: the memory granted to recordings is used up")
        if self.before:
            lines.append(f"begins where the clock was set back in {self.before}")
        if self.after:
            lines.append(f"ends where the clock was set back; {self.after} goes on")
        if self.repetition.longest >= _STUCK:
            lines.append(
                f"{self.repetition.longest} samples in a row repeat the one before: the driver was "
                "stuck, or the robot rested"
            )
        lines += self._not_kept()
        if not self.ended:
            lines.append("not ended: it is still being made, or the acquisition node is gone")
        return [f"recording {self.recording}: {line}" for line in lines]


def size_of(block: Block) -> int:
    """Return the bytes that a block takes, with what is kept about it."""
    samples, measured = block.samples, block.temperatures.values()
    arrays = (samples.velocity, samples.reference, samples.position, samples.effort)
    kept = sum(a.nbytes for a in arrays if a is not None)
    kept += sum(own.stamps.nbytes + own.celsius.nbytes for own in measured)
    return _OVERHEAD + samples.stamps.nbytes + kept
