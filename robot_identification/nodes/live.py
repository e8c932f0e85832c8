"""Live recordings as the identification node keeps them: by identifier, in bounded memory."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import numpy as np

from robot_identification.errors import UnknownRecordingError
from robot_identification.identification.result import SPOILT
from robot_identification.nodes.block_ledger import Arrival, BlockLedger
from robot_identification.nodes.recorder import Block, Counts, continuation
from robot_identification.nodes.recording_room import Kept, RecordingRoom
from robot_identification.robot.model import Array
from robot_identification.signals.recording import RawSamples
from robot_identification.signals.standstill import longest_repetition

# Repetitions in a row from which on they are told.
_STUCK = 10
# Bytes that a block takes beside its samples.
_OVERHEAD = 1000


@dataclass
class LiveRecording:
    """The blocks of a recording that have arrived, and what is missing of it.

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
    _blocks: list[RawSamples] = field(default_factory=list)
    _bytes: int = 0

    @property
    def size(self) -> int:
        """Bytes in use."""
        return self._bytes

    @property
    def spoilt(self) -> str:
        """What is to be said of blocks that contradict each other; empty where none do."""
        if not self.conflicts:
            return ""
        return (
            f"{SPOILT}: {self.conflict}, and {self.conflicts} blocks contradict others; somebody "
            "else sends samples of it: do not use the result"
        )

    def add(self, block: Block, *, keep: bool) -> None:
        """Take in the next block; a number that was skipped is a block lost."""
        self.missing_blocks += block.sequence - self.next_block
        self.missing_samples += max(block.first_sample - self.next_sample, 0)
        self.next_block = block.sequence + 1
        self.next_sample = block.first_sample + len(block.samples.stamps)
        self.ended = self.ended or block.last
        self.counts = block.counts
        self.effort_topic, self.effort_delay = block.effort_topic, block.effort_delay
        if keep:
            self._blocks.append(block.samples)
            self._bytes += size_of(block.samples)
        else:
            self.full = True

    def insert(self, block: Block, place: int) -> None:
        """Take in a block that was counted as lost, before others that have come.

        Args:
            block: the block.
            place: number of the blocks before it.
        """
        self.missing_blocks -= 1
        self.missing_samples = max(self.missing_samples - len(block.samples.stamps), 0)
        self._blocks.insert(place, block.samples)
        self._bytes += size_of(block.samples)

    def samples(self) -> RawSamples:
        """Return all samples; velocities and references only if every block has them.

        Raises:
            UnknownRecordingError: if there is no sample yet.
        """
        blocks = [block for block in self._blocks if len(block.stamps)]
        if not blocks:
            raise UnknownRecordingError(self.recording, [self.recording])
        return RawSamples(
            stamps=np.concatenate([block.stamps for block in blocks]),
            position=np.concatenate([block.position for block in blocks]),
            velocity=_joined([block.velocity for block in blocks]),
            effort=np.concatenate([block.effort for block in blocks]),
            reference=_joined([block.reference for block in blocks]),
        )

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
        repeated = self._repeated()
        if repeated >= _STUCK:
            lines.append(
                f"{repeated} samples in a row repeat the one before: the driver was stuck, or the "
                "robot rested"
            )
        for name in ("lost", "refused", "without_effort", "duplicate", "out_of_order"):
            count = getattr(self.counts, name)
            if count:
                lines.append(f"{count} of {self.counts.received} samples {name.replace('_', ' ')}")
        if not self.ended:
            lines.append("not ended: it is still being made, or the acquisition node is gone")
        return [f"recording {self.recording}: {line}" for line in lines]

    def _repeated(self) -> int:
        if not any(len(block.stamps) for block in self._blocks):
            return 0
        return longest_repetition(
            np.concatenate([block.position for block in self._blocks]),
            np.concatenate([block.effort for block in self._blocks]),
        )


class LiveRecordings:
    """All recordings in memory; safe to use from several threads.

    Args:
        max_bytes: memory that samples may take; others make room (:mod:`.recording_room`).
        max_recordings: number of recordings that are kept.
    """

    def __init__(self, max_bytes: int, max_recordings: int) -> None:
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
            if ignored:
                self._changed.notify_all()
                return [f"{block.recording}: {ignored}"]
            problems = self._make_room(block)
            fits = self._used() + size_of(block.samples) <= self._max_bytes
            if place is not None and fits:
                recording.insert(block, place)
                self._changed.notify_all()
                return [*problems, f"{block.recording}: block {block.sequence} came late"]
            expected, was_full = recording.next_block, recording.full
            if place is None:
                recording.add(block, keep=fits and not was_full)
            else:
                recording.full = True
            if block.sequence > expected:
                numbers = f"{expected} to {block.sequence - 1}"
                problems.append(f"{block.recording}: blocks {numbers} did not arrive")
            if recording.full and not was_full:
                problems.append(f"{block.recording}: memory is used up, the rest is not kept")
            self._changed.notify_all()
            return problems

    def get(self, recording: str = "", *, patience: float = 0.0) -> LiveRecording:
        """Return a recording; the one begun last if none is named.

        Args:
            recording: its identifier.
            patience: how long to wait for the first block of a recording that is named, and for the
                last one of what may just have been stopped, in s.

        Raises:
            UnknownRecordingError: if there is none.
        """
        with self._changed:
            if recording:
                self._changed.wait_for(lambda: recording in self._recordings, timeout=patience)
            name = recording or self._current()
            if name not in self._recordings:
                raise UnknownRecordingError(recording, tuple(self._recordings))
            found = self._recordings[name]
            self._changed.wait_for(lambda: found.ended, timeout=patience)
            return found

    def _begin(self, name: str, effort_meaning: str) -> LiveRecording:
        """Return a new recording; it knows, and is known to, the one that it continues."""
        begun = LiveRecording(name, effort_meaning)
        for other in self._recordings.values():
            if continuation(other.recording) == name:
                begun.before, other.after = other.recording, name
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
        recording.conflicts, recording.conflict = ledger.conflicts, ledger.conflict
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


def size_of(samples: RawSamples) -> int:
    """Return the bytes that samples take, with what is kept about them."""
    arrays = (samples.velocity, samples.reference, samples.position, samples.effort)
    return _OVERHEAD + samples.stamps.nbytes + sum(a.nbytes for a in arrays if a is not None)


def _joined(arrays: list[Array | None]) -> Array | None:
    present = [array for array in arrays if array is not None]
    return np.concatenate(present) if len(present) == len(arrays) else None
