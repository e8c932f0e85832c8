"""Samples of the controller's reference, on a topic of their own."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_identification.robot.model import Array
from robot_identification.ros.common.grace_period import Patience
from robot_identification.signals.arrivals import SETBACK_NS, Arrivals
from robot_identification.signals.clock import newest_at

_REMEMBERED = 20_000
"""Samples that are kept while nothing is recorded."""


class ReferenceSamples:
    """Positions in order of their stamps; each holds until the next one.

    A sample that comes after a newer one is left out.  One that lies so far behind that the clock
    must have been set back begins anew.
    """

    def __init__(self) -> None:
        self._samples = Arrivals[Array]()
        self._patience = Patience()

    def __bool__(self) -> bool:
        return bool(self._samples.stamps)

    def known_until(self) -> int | None:
        """Return the stamp up to which the reference is known; None where no more samples are due.

        States and their reference come on two topics, in any order.  What is asked for after the
        newest sample is known only once the next one has come, or none comes for a while.
        """
        if not self or not self._patience.lasts():
            return None
        return self._samples.stamps[-1]

    def add(self, stamp: int, position: Array) -> None:
        """Take in a sample: its stamp in ns, and the positions of all joints, rad or m."""
        stamps = self._samples.stamps
        if stamps and stamp < stamps[-1]:
            if stamps[-1] - stamp < SETBACK_NS:
                return
            self._samples = Arrivals()
        self._patience.renew()
        self._samples.add(stamp, position)
        if len(self._samples.stamps) > 2 * _REMEMBERED:
            self._samples.take(_REMEMBERED)

    def at(self, stamps: npt.NDArray[np.int64]) -> Array | None:
        """Return the reference at later and later stamps, of shape (samples, joints).

        What went before the last of them is forgotten.

        Returns:
            None where the first stamp lies before the first sample.
        """
        places = newest_at(np.array(self._samples.stamps, dtype=np.int64), stamps)
        if not self or (len(places) and places[0] < 0):
            return None
        reference = np.array(self._samples.values)[places]
        if len(places):
            self._samples.take(int(places[-1]))
        return reference
