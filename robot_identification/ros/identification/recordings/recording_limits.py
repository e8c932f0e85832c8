"""Room for live recordings: which of them are forgotten for samples that arrive.

The acquisition node announces its recordings.  What it has not announced goes first, and never
makes room for itself among what it has; then its own, oldest first, but never the one that runs,
nor the one that ended last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

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
