"""Live recordings as the identification node keeps them: by identifier, in bounded memory.

The acquisition node announces its recordings.  What it has not announced goes first, and never
makes room for itself among what it has; then its own, oldest first, but never the one that runs,
nor the one that ended last.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from robot_identification.errors import CancelledError, UnknownRecordingError
from robot_identification.identification.source import SPOILT
from robot_identification.ros.acquisition.recorder import Block, continuation
from robot_identification.ros.common.jobs import Cancelled
from robot_identification.ros.identification.recordings.block_ledger import Arrival, BlockLedger
from robot_identification.ros.identification.recordings.recording import LiveRecording, size_of

LONGEST_NAME = 255
_FEWEST_OWN = 2  # the recording that runs, and the one that ended last


class Kept(NamedTuple):
    """A recording in memory.

    Attributes:
        name: its identifier.
        size: bytes that it takes.
        ended: whether its last block has come.
    """

    name: str
    size: int
    ended: bool


class RecordingRoom:
    """The bounds of the memory for recordings, and whose they are.

    Args:
        max_bytes: memory that samples may take.
        max_recordings: number of recordings that are kept.

    Attributes:
        own: recordings that the acquisition node has announced, oldest first.
    """

    def __init__(self, max_bytes: int, max_recordings: int) -> None:
        self._max_bytes = max_bytes
        self._max_recordings = max_recordings
        self.own: tuple[str, ...] = ()

    def announce(self, name: str) -> None:
        """Take in that the acquisition node has begun a recording."""
        if 0 < len(name) <= LONGEST_NAME and name.isprintable():
            own = (*(other for other in self.own if other != name), name)
            self.own = own[-max(self._max_recordings, _FEWEST_OWN) :]

    def is_own(self, name: str) -> bool:
        """Tell whether a recording is the acquisition node's; of any, while none was announced."""
        return not self.own or name in self.own

    def to_forget(self, kept: Sequence[Kept], arriving: str, size: int) -> list[str]:
        """Return the recordings to forget, in order, so that a block finds room.

        Args:
            kept: all recordings, oldest first, with the one that the block is of.
            arriving: that one.
            size: bytes of the block.
        """
        own = arriving in self.own
        candidates = [one for one in kept if one.name not in self.own and one.name != arriving]
        if own:
            candidates += self._forgettable(kept, arriving)
        # Where all that are kept are its own, there is room for one other: it may be announced in
        # a moment.
        most = self._max_recordings if own else max(self._max_recordings, self._owned(kept) + 1)
        number, used = len(kept), sum(one.size for one in kept)
        forgotten = []
        for one in candidates:
            ended = one.ended or (own and one.name not in self.own)
            if number > most or (used + size > self._max_bytes and ended):
                forgotten.append(one.name)
                number, used = number - 1, used - one.size
        return forgotten

    def _owned(self, kept: Sequence[Kept]) -> int:
        return sum(one.name in self.own for one in kept)

    def _forgettable(self, kept: Sequence[Kept], arriving: str) -> list[Kept]:
        """Return what may be forgotten of the acquisition node's recordings, oldest first."""
        known = {one.name: one for one in kept}
        own = [known[name] for name in self.own if name in known]
        running = bool(own) and not own[-1].ended
        newest = own[-_FEWEST_OWN:] if running else own[-1:]
        return [one for one in own if one not in newest and one.name != arriving]


# The last block of a recording comes so long after the one before at most, s, and blocks that are
# sent together when it ends arrive within the second time.
_LAST_BLOCK_WITHIN, _BURST = 1.0, 0.05
_CANCELLED_WITHIN = 0.1  # s


class LiveRecordings:
    """All recordings in memory; safe to use from several threads.

    Args:
        max_bytes: memory that samples may take; others make room (:mod:`.recording_limits`).
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

    def announce(self, name: str) -> LiveRecording | None:
        """Take in that the acquisition node has begun a recording.

        Returns:
            What came of it before it was known whose it is; None where nothing did.
        """
        with self._changed:
            early = None if self._room.is_own(name) else self._recordings.get(name)
            self._room.announce(name)
            return early

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
            fits = self._used() + size_of(block) <= self._max_bytes
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

    def get(
        self, recording: str = "", *, patience: float = 0.0, cancelled: Cancelled = lambda: False
    ) -> LiveRecording:
        """Return a recording as it is now; the one begun last if none is named.

        Args:
            recording: its identifier.
            patience: how long to wait for the first block of a recording that is named or
                announced, and at most for the last one of what may just have been stopped, in s;
                see :func:`last_block_due`.
            cancelled: asked while it waits whether to stop.

        Raises:
            UnknownRecordingError: if there is none.
            CancelledError: if ``cancelled`` says so.
        """
        with self._changed:
            name = recording or self._current()
            if name:
                until = self._clock() + patience
                while name not in self._recordings and (left := until - self._clock()) > 0.0:
                    self._wait(left, cancelled)
            if name not in self._recordings:
                begun = name in self._room.own[-1:]  # what has ended since may be forgotten
                raise UnknownRecordingError(name, tuple(self._recordings), begun=begun)
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
                self._wait(due, cancelled)

    def _wait(self, longest: float, cancelled: Cancelled) -> None:
        """Wait for what comes next, no longer than a time in s, or than it takes to be cancelled.

        Raises:
            CancelledError: ``cancelled`` says so.
        """
        if cancelled():
            raise CancelledError("cancelled while waiting for a recording")
        self._changed.wait(min(longest, _CANCELLED_WITHIN))

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
        """Return the recording begun last, "" for none: that announced last, if any was.

        Before its first block has come that is none in memory; another one is not meant.
        """
        return self._room.own[-1] if self._room.own else next(reversed(self._recordings), "")

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
        forgotten = self._room.to_forget(kept, block.recording, size_of(block))
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
