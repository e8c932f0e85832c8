"""Live recordings as the identification node keeps them: by identifier, in bounded memory."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from robot_identification.errors import UnknownRecordingError
from robot_identification.identification.result import SPOILT
from robot_identification.nodes.block_ledger import Arrival, BlockLedger
from robot_identification.nodes.recorder import Block, Counts, continuation
from robot_identification.nodes.recording_room import Kept, RecordingRoom
from robot_identification.signals.recording import RawSamples, joined_samples
from robot_identification.signals.standstill import Repetition

# Repetitions in a row from which on they are told.
_STUCK = 10
# Bytes that a block takes beside its samples.
_OVERHEAD = 1000
# The last block of a recording comes so long after the one before at most, s, and blocks that are
# sent together when it ends arrive within the second time.
_LAST_BLOCK_WITHIN, _BURST = 1.0, 0.05


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
        size: bytes that they take.
        repetition: how many of them in a row repeat the one before.
        arrived: when the newest block came, in s on a steady clock.
        revision: how often blocks came late and were put before others.
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
    size: int = 0
    repetition: Repetition = field(default_factory=Repetition)
    arrived: float = 0.0
    revision: int = 0

    @property
    def last_stamp(self) -> int:
        """Stamp of the newest sample that is kept, in ns; 0 without any."""
        newest = (int(block.stamps[-1]) for block in reversed(self.blocks) if len(block.stamps))
        return next(newest, 0)

    @property
    def spoilt(self) -> str:
        """What is to be said of blocks that contradict each other; empty where none do."""
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
            size=self.size + size_of(samples),
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
            size=self.size + size_of(samples),
            repetition=repetition,
            revision=self.revision + 1,
        )

    def samples(self, *, reference: bool = True) -> RawSamples:
        """Return all samples; velocities and references only if every block has them.

        Args:
            reference: whether the reference is wanted at all.

        Raises:
            UnknownRecordingError: if there is no sample yet.
        """
        blocks = [block for block in self.blocks if len(block.stamps)]
        if not blocks:
            raise UnknownRecordingError(self.recording, [self.recording])
        return joined_samples(blocks, reference=reference)

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
        for name in ("lost", "refused", "without_effort", "duplicate", "out_of_order"):
            count = getattr(self.counts, name)
            if count:
                lines.append(f"{count} of {self.counts.received} samples {name.replace('_', ' ')}")
        if not self.ended:
            lines.append("not ended: it is still being made, or the acquisition node is gone")
        return [f"recording {self.recording}: {line}" for line in lines]


class LiveRecordings:
    """All recordings in memory; safe to use from several threads.

    Args:
        max_bytes: memory that samples may take; others make room (:mod:`.recording_room`).
        max_recordings: number of recordings that are kept.
        clock: steady clock, in s.
    """

    def __init__(
        self,
        max_bytes: int,
        max_recordings: int,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._max_bytes = max_bytes
        self._recordings: dict[str, LiveRecording] = {}
        self._ledgers: dict[str, BlockLedger] = {}
        self._room = RecordingRoom(max_bytes, max_recordings)
        self._changed = threading.Condition()

    def announce(self, name: str) -> None:
        """Take in that the acquisition node has begun a recording."""
        with self._changed:
            self._room.announce(name)

    def is_own(self, name: str) -> bool:
        """Tell whether a recording is one of the acquisition node's, as far as that says so."""
        with self._changed:
            return self._room.is_own(name)

    def spoilt(self, name: str) -> str:
        """Return what is to be said of a recording whose blocks contradict each other, else ""."""
        with self._changed:
            found = self._recordings.get(name)
            return "" if found is None or not found.spoilt else f"recording {name}: {found.spoilt}"

    def add(self, block: Block, effort_meaning: str) -> list[str]:
        """Take in a block; return what went wrong, one line each.

        One that comes again is ignored; one that contradicts others spoils the recording.
        """
        with self._changed:
            recording = self._recordings.get(block.recording)
            if recording is None:
                recording = self._begin(block.recording, effort_meaning)
            place, ignored = self._place(recording, block, effort_meaning)
            recording = self._recordings[block.recording]
            if ignored:
                self._changed.notify_all()
                return [f"{block.recording}: {ignored}"]
            problems = self._make_room(block)
            fits = self._used() + size_of(block.samples) <= self._max_bytes
            if place is not None and fits:
                self._recordings[block.recording] = recording.completed_by(block, place)
                self._changed.notify_all()
                return [*problems, f"{block.recording}: block {block.sequence} came late"]
            expected, was_full = recording.next_block, recording.full
            if place is None:
                recording = recording.followed_by(
                    block, keep=fits and not was_full, arrived=self._clock()
                )
            else:
                recording = replace(recording, full=True)
            self._recordings[block.recording] = recording
            if block.sequence > expected:
                numbers = f"{expected} to {block.sequence - 1}"
                problems.append(f"{block.recording}: blocks {numbers} did not arrive")
            if recording.full and not was_full:
                problems.append(f"{block.recording}: memory is used up, the rest is not kept")
            self._changed.notify_all()
            return problems

    def get(self, recording: str = "", *, patience: float = 0.0) -> LiveRecording:
        """Return a recording as it is now; the one begun last if none is named.

        Args:
            recording: its identifier.
            patience: how long to wait for the first block of a recording that is named, and at
                most for the last one of what may just have been stopped, in s; see
                :func:`last_block_due`.

        Raises:
            UnknownRecordingError: if there is none.
        """
        with self._changed:
            if recording:
                self._changed.wait_for(lambda: recording in self._recordings, timeout=patience)
            name = recording or self._current()
            if name not in self._recordings:
                raise UnknownRecordingError(recording, tuple(self._recordings))
            asked = found = self._recordings[name]
            followed: float | None = None
            while True:
                # What has been forgotten meanwhile, to make room, is answered as it was.
                found = self._recordings.get(name, found)
                if followed is None and found.next_block > asked.next_block:
                    followed = found.arrived
                within = min(patience, _LAST_BLOCK_WITHIN)
                due = last_block_due(found, followed, within) - self._clock()
                if due <= 0.0:
                    return found
                self._changed.wait(due)

    def _begin(self, name: str, effort_meaning: str) -> LiveRecording:
        """Return a new recording; it knows, and is known to, the one that it continues."""
        begun = LiveRecording(name, effort_meaning)
        for other in list(self._recordings.values()):
            if continuation(other.recording) == name:
                begun = replace(begun, before=other.recording)
                self._recordings[other.recording] = replace(other, after=name)
        self._recordings[name] = begun
        self._ledgers[name] = BlockLedger()
        return begun

    def _current(self) -> str:
        """Return the recording begun last: of the acquisition node's, where it says which."""
        own = (name for name in reversed(self._room.own) if name in self._recordings)
        return next(own, next(reversed(self._recordings), ""))

    def _place(
        self, recording: LiveRecording, block: Block, effort_meaning: str
    ) -> tuple[int | None, str]:
        """Return where a block belongs, None for the end, and why it is ignored, if it is."""
        if recording.full:
            passed = block.sequence < recording.next_block
            return None, f"block {block.sequence} is not kept" if passed else ""
        ledger = self._ledgers[recording.recording]
        arrival = ledger.judge(block, effort_meaning)
        if arrival is Arrival.REPEATED:
            return None, f"block {block.sequence} came twice; ignored"
        self._recordings[recording.recording] = replace(
            recording, conflicts=ledger.conflicts, conflict=ledger.conflict
        )
        if arrival is Arrival.REFUSED:
            return None, f"{SPOILT}: {ledger.conflict}"
        return (ledger.place(block.sequence) if arrival is Arrival.LATE else None), ""

    def _make_room(self, block: Block) -> list[str]:
        kept = [Kept(name, one.size, one.ended) for name, one in self._recordings.items()]
        forgotten = self._room.to_forget(kept, block.recording, size_of(block.samples))
        for name in forgotten:
            del self._recordings[name], self._ledgers[name]
        return [f"{name}: forgotten to make room" for name in forgotten]

    def _used(self) -> int:
        return sum(recording.size for recording in self._recordings.values())


def last_block_due(recording: LiveRecording, followed: float | None, within: float) -> float:
    """Return when to stop waiting for the last block of a recording, in s on the steady clock.

    A recording that runs has none: the next block says so.  One that has just been stopped sends
    what is left, the last block at its end, in one burst.

    Args:
        recording: as it is now.
        followed: when the first block came after somebody asked for it; None: none has come.
        within: how long after the newest block the last one may still come, in s.
    """
    if recording.ended:
        return -math.inf
    silent = recording.arrived + within
    return silent if followed is None else min(silent, followed + _BURST)


def size_of(samples: RawSamples) -> int:
    """Return the bytes that samples take, with what is kept about them."""
    arrays = (samples.velocity, samples.reference, samples.position, samples.effort)
    return _OVERHEAD + samples.stamps.nbytes + sum(a.nbytes for a in arrays if a is not None)
