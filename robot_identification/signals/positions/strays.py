"""Positions that leave the way of a joint and come back at once: encoders whose reading failed.

Such a sample says nothing of the motion, and spoils what lies around it: it counts as lost.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import scipy

from robot_identification.robot.arrays import Array
from robot_identification.signals.positions.turns import largest_step
from robot_identification.signals.raw_samples import RawSamples
from robot_identification.signals.rows import Flags

_LONGEST = 3
"""Samples that may stray together."""
_LEAST = 0.01
"""How far off the way a stray position is at least, in rad or m: less spoils little."""
_USUAL = 20.0
"""The same in the usual deviations of the steps around it: noise."""
_AROUND = 9
_ACCELERATION = 1000.0
"""What no robot reaches, in rad/s^2 or m/s^2; to go somewhere and back takes 16 times the way,
divided by the square of the time."""
_OFTEN = 0.1  # of the samples: what jumps so often is no single reading that failed

_CONTEXT = _AROUND + _LONGEST


def stray_samples(stamps: npt.NDArray[np.int64], position: Array) -> Flags:
    """Return (samples, joints) which positions leave the way of their joint and come back.

    Args:
        stamps: (samples,) rising, in ns.
        position: (samples, joints) in rad or m, finite.
    """
    return _judged(stamps, position)[0]


def sound_samples(raw: RawSamples) -> tuple[RawSamples, tuple[int, ...]]:
    """Return samples none of whose positions strays, and what :func:`stray_counts` tells.

    Args:
        raw: samples in the order of their stamps, on the joint side.
    """
    strays = stray_samples(raw.stamps, raw.position)
    counts = stray_counts(strays.sum(axis=0))
    return (raw.at(np.flatnonzero(~strays.any(axis=1))) if counts else raw), counts


def stray_counts(strays: npt.NDArray[np.int64]) -> tuple[int, ...]:
    """Return (joints,) numbers of stray positions as statistics have them: empty without any."""
    return tuple(strays.tolist()) if strays.any() else ()


def _judged(stamps: npt.NDArray[np.int64], position: Array) -> tuple[Flags, int]:
    """Return (samples, joints) which positions stray, and from which sample on more may do so.

    These follow a jump of which it is not known yet whether the joint comes back.
    """
    found = np.zeros(position.shape, dtype=np.bool_)
    undecided = len(stamps)
    for joint, beyond, limits in _jumping(position):
        own, jumps = position[:, joint], np.abs(beyond) > limits
        for before in np.flatnonzero(jumps).tolist():
            if before >= len(beyond) - _LONGEST:
                undecided = min(undecided, before + 1)
            for after in range(before + 2, min(before + _LONGEST + 2, len(own))):
                turns_back = jumps[after - 1] and beyond[after - 1] * beyond[before] < 0.0
                if turns_back and _strays(stamps, own, before, after, float(limits[before])):
                    found[before + 1 : after, joint] = True
                    break
    return found, undecided


def _jumping(position: Array) -> Iterator[tuple[int, Array, Array]]:
    """Yield joints that jump.

    Beside them come by how much their (samples - 1,) steps differ from those around them, and by
    how much those of a jump do at least.
    """
    if not largest_step(position) > _LEAST / 2.0:
        return
    steps = np.diff(position, axis=0)
    for joint in np.flatnonzero((np.abs(steps) > _LEAST / 2.0).any(axis=0)).tolist():
        own = steps[:, joint]
        beyond = own - _median(own)
        limits = _LEAST + _USUAL * _median(np.abs(beyond))
        often = max(2 * _LONGEST, _OFTEN * len(own))
        if 0 < np.count_nonzero(np.abs(beyond) > limits) <= often:
            yield joint, beyond, limits


def _median(values: Array) -> Array:
    """Return (steps,) the median around each; at the ends no step counts more than twice."""
    found: Array = scipy.ndimage.median_filter(values, _AROUND, mode="reflect")
    return found


def _strays(
    stamps: npt.NDArray[np.int64], position: Array, before: int, after: int, limit: float
) -> bool:
    """Tell whether all positions between two samples lie where no motion takes a joint."""
    instants = (stamps[before : after + 1] - stamps[before]) * 1e-9
    way = position[before] + (position[after] - position[before]) * instants / instants[-1]
    off = float(np.abs(position[before : after + 1] - way)[1:-1].min())
    reached = _ACCELERATION * float(instants[-1]) ** 2 / 16.0
    return off > max(limit, reached)


class StrayWatch:
    """Takes stray samples out of those that arrive in order.

    It holds back the last few where a joint has jumped that may come back.

    Attributes:
        left_out: (joints,) positions that strayed; empty before the first sample.
    """

    def __init__(self) -> None:
        self.left_out: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._stamps: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._signals: Array | None = None
        self._given = 0  # of the samples kept, those that have been handed on

    def push(
        self, stamps: npt.NDArray[np.int64], signals: Array
    ) -> tuple[npt.NDArray[np.int64], Array]:
        """Take in samples and return those that are sound, as far as that is decided.

        Args:
            stamps: (samples,) rising, in ns.
            signals: (samples, signals, joints), positions first.
        """
        if self._signals is None:
            self._signals = signals[:0]
            self.left_out = np.zeros(signals.shape[2], dtype=np.int64)
        return self._sound(
            np.concatenate([self._stamps, stamps]),
            np.concatenate([self._signals, signals]),
            ended=False,
        )

    def rest(self) -> tuple[npt.NDArray[np.int64], Array] | None:
        """Return what has been held back; nothing follows it.  None before the first sample."""
        if self._signals is None:
            return None
        return self._sound(self._stamps, self._signals, ended=True)

    def _sound(
        self, stamps: npt.NDArray[np.int64], signals: Array, *, ended: bool
    ) -> tuple[npt.NDArray[np.int64], Array]:
        """Return the sound ones of samples, those left out that have been handed on before."""
        strays, undecided = _judged(stamps, signals[:, 0])
        first = self._given
        count = len(stamps) if ended else max(undecided, first)
        self.left_out += strays[first:count].sum(axis=0)
        sound = np.flatnonzero(~strays[:count].any(axis=1))
        given, context = sound[sound >= first], sound[-_CONTEXT:]
        kept = np.concatenate([context, np.arange(count, len(stamps))])
        self._given, self._stamps, self._signals = len(context), stamps[kept], signals[kept]
        return stamps[given], signals[given]
