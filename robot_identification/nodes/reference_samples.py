"""Samples of the controller's reference, on a topic of their own."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_identification.nodes.patience import Patience
from robot_identification.nodes.setback import SETBACK_NS
from robot_identification.robot.model import Array

_REMEMBERED = 20_000
"""Samples that are kept while nothing is recorded."""


class ReferenceSamples:
    """Positions in order of their stamps; each holds until the next one.

    A sample that comes after a newer one is left out.  One that lies so far behind that the clock
    must have been set back begins anew.
    """

    def __init__(self) -> None:
        self._stamps: list[int] = []
        self._positions: list[Array] = []
        self._patience = Patience()

    def __bool__(self) -> bool:
        return bool(self._stamps)

    def known_until(self) -> int | None:
        """Return the stamp up to which the reference is known; None where no more samples are due.

        States and their reference come on two topics, in any order.  What is asked for after the
        newest sample is known only once the next one has come, or none comes for a while.
        """
        if not self._stamps or not self._patience.lasts():
            return None
        return self._stamps[-1]

    def add(self, stamp: int, position: Array) -> None:
        """Take in a sample: its stamp in ns, and the positions of all joints, rad or m."""
        if self._stamps and stamp < self._stamps[-1]:
            if self._stamps[-1] - stamp < SETBACK_NS:
                return
            self._forget(len(self._stamps))
        self._patience.renew()
        self._stamps.append(stamp)
        self._positions.append(position)
        if len(self._stamps) > 2 * _REMEMBERED:
            self._forget(_REMEMBERED)

    def at(self, stamps: npt.NDArray[np.int64]) -> Array | None:
        """Return the reference at later and later stamps, of shape (samples, joints).

        What went before the last of them is forgotten.

        Returns:
            None where the first stamp lies before the first sample.
        """
        places = np.searchsorted(np.array(self._stamps, dtype=np.int64), stamps, side="right") - 1
        if not self._stamps or (len(places) and places[0] < 0):
            return None
        reference = np.array(self._positions)[places]
        if len(places):
            self._forget(int(places[-1]))
        return reference

    def _forget(self, count: int) -> None:
        del self._stamps[:count], self._positions[:count]
