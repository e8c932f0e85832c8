"""Trajectories that a controller was sent, as the reference at the stamps of the joint states."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from robot_identification.files.bags.trajectories import SentTrajectory, followed_by
from robot_identification.robot.arrays import Array
from robot_identification.ros.common.joint_states import NANOSECONDS
from robot_identification.signals.clock.stamps import newest_at

_REMEMBERED = 20 * NANOSECONDS
"""What was replaced so long before the start of the newest one is asked for by no state any more:
states wait for efforts and references for 15 s at most."""


class SentTrajectories:
    """The trajectories that a controller follows, each until another one takes its place.

    Between the end of one and the start of the next the reference stands still.
    """

    def __init__(self) -> None:
        self._followed: Sequence[SentTrajectory] = ()

    def add(self, sent: SentTrajectory) -> None:
        """Take in a trajectory; see :func:`.followed_by`."""
        self._followed = followed_by(self._followed, sent)
        self._forget(sent.start_stamp - _REMEMBERED)

    def forget(self) -> None:
        """Forget all: nobody knows what the controller follows."""
        self._followed = ()

    def at(self, stamps: npt.NDArray[np.int64]) -> Array | None:
        """Return the reference at later and later stamps, of shape (samples, joints).

        What was replaced before the last of them is forgotten.

        Returns:
            None where no trajectory has come.
        """
        if not self._followed or not len(stamps):
            return None
        starts = [one.start_stamp for one in self._followed]
        places = np.maximum(newest_at(np.array(starts, dtype=np.int64), stamps), 0)
        parts = [
            one.trajectory.sample((stamps[places == place] - one.start_stamp) / NANOSECONDS)[0]
            for place, one in enumerate(self._followed)
        ]
        self._forget(int(stamps[-1]))
        return np.concatenate(parts)

    def _forget(self, stamp: int) -> None:
        """Forget what was replaced at or before a stamp in ns."""
        pairs = pairwise(self._followed)
        replaced = sum(following.start_stamp <= stamp for _, following in pairs)
        self._followed = self._followed[replaced:]
