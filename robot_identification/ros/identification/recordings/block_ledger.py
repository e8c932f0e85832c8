"""Check that the blocks of a recording agree: each number stands for one block, in order of time.

An acquisition node sends the blocks of a recording once, in order, and the middleware may deliver
some of them again.  A block that contradicts another one is somebody else's, and nobody can tell
which of the two: the recording is spoilt.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from enum import Enum
from typing import NamedTuple

from robot_identification.ros.acquisition.recorder import Block


class Arrival(Enum):
    """Treatment of a block."""

    NEWEST = "newest"
    """It comes behind all that have come."""
    LATE = "late"
    """It belongs before one that has come."""
    REPEATED = "repeated"
    """It has come before, just so, and is ignored."""
    REFUSED = "refused"
    """It cannot stand beside one that has come, and is left out."""


class _Entry(NamedTuple):
    """Record of a block that has arrived."""

    number: int
    first_sample: int
    samples: int
    first_stamp: int
    last_stamp: int
    last: bool
    digest: bytes


class BlockLedger:
    """The blocks of a recording that have come, by their numbers, without their samples.

    Attributes:
        conflicts: number of blocks that contradict others.
        conflict: what the first of them contradicts; empty while there is none.
    """

    def __init__(self) -> None:
        self.conflicts = 0
        self.conflict = ""
        self._entries: list[_Entry] = []
        self._about: tuple[str, str, float] | None = None

    def place(self, number: int) -> int:
        """Return how many blocks of smaller numbers have come."""
        return bisect_left(self._entries, number, key=lambda entry: entry.number)

    def judge(self, block: Block, effort_meaning: str) -> Arrival:
        """Take in a block and return what becomes of it.

        One whose number or kind contradicts others is left out.  One that others only number
        wrongly, or say is behind the end, is kept: it may be them that are forged.

        Args:
            block: the block.
            effort_meaning: what its efforts are.
        """
        entry = _entry_of(block, effort_meaning)
        place = self.place(entry.number)
        present = self._entries[place : place + 1]
        if present and present[0].number == entry.number:
            if present[0].digest == entry.digest:
                return Arrival.REPEATED
            return self._refused(f"block {entry.number} has come with two contents")
        about = (effort_meaning, block.effort_topic, block.effort_delay)
        self._about = self._about or about
        if about != self._about:
            return self._refused(f"block {entry.number} has efforts of another kind")
        before = self._entries[max(place - 1, 0) : place]
        pairs = [*((one, entry) for one in before), *((entry, other) for other in present)]
        for one, other in pairs:
            if one.samples and other.samples and one.last_stamp >= other.first_stamp:
                numbers = f"{one.number} and {other.number}"
                return self._refused(f"the stamps of blocks {numbers} do not rise")
        problem = next(filter(None, (_disorder(*pair) for pair in pairs)), "")
        if problem:
            self._note(problem)
        self._entries.insert(place, entry)
        return Arrival.LATE if present else Arrival.NEWEST

    def _note(self, problem: str) -> None:
        self.conflicts += 1
        self.conflict = self.conflict or problem

    def _refused(self, problem: str) -> Arrival:
        self._note(problem)
        return Arrival.REFUSED


def _entry_of(block: Block, effort_meaning: str) -> _Entry:
    samples = block.samples
    digest = hashlib.blake2b(digest_size=16)
    told = (effort_meaning, block.effort_topic, block.effort_delay, block.last, block.first_sample)
    digest.update(repr((told, block.counts)).encode())
    for name in ("stamps", "position", "velocity", "effort", "reference"):
        values = getattr(samples, name)
        digest.update(b"-" if values is None else values.tobytes())
    for joint, own in sorted(block.temperatures.items()):
        digest.update(joint.encode() + own.stamps.tobytes() + own.celsius.tobytes())
    stamps = samples.stamps
    return _Entry(
        number=block.sequence,
        first_sample=block.first_sample,
        samples=len(stamps),
        first_stamp=int(stamps[0]) if len(stamps) else 0,
        last_stamp=int(stamps[-1]) if len(stamps) else 0,
        last=block.last,
        digest=digest.digest(),
    )


def _disorder(one: _Entry, other: _Entry) -> str:
    """Return why numbers say that a block does not come before another one; empty where it does."""
    if one.last:
        return f"block {other.number} lies behind block {one.number}, which is the last one"
    end = one.first_sample + one.samples
    between = other.number - one.number - 1  # blocks with a sample each, at least
    if end + between > other.first_sample or (not between and end != other.first_sample):
        return f"blocks {one.number} and {other.number} do not number their samples alike"
    return ""
