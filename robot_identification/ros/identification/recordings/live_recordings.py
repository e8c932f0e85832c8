"""Live recordings as the identification node keeps them: by identifier, in bounded memory."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from robot_identification.errors import CancelledError, UnknownRecordingError
from robot_identification.identification.source import SPOILT
from robot_identification.ros.acquisition.recorder import Block, continuation
from robot_identification.ros.common.jobs import Cancelled
from robot_identification.ros.identification.recordings.block_ledger import Arrival, BlockLedger
from robot_identification.ros.identification.recordings.recording import LiveRecording, size_of
from robot_identification.ros.identification.recordings.recording_limits import Kept, RecordingRoom

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
