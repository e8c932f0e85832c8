"""Size of blocks of samples, and the moments at which they are sent."""

from __future__ import annotations

import math

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
