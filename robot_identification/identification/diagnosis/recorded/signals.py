"""Faults that one signal shows by itself: plateaus, frozen values, spikes, steps of resolution."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from robot_identification.robot.arrays import Array

_SAME = 1e-9
"""Samples closer than this part of the signal's range are the same value."""

# A smooth signal of amplitude A stays within e of its extreme for a time that grows with the root
# of e: the outer half of a narrow band at the extreme holds 2.4 times as many samples as the inner
# one.  A plateau of exactly equal values that holds so many times those of the band has been cut.
_BAND = 0.01
_CUT = 5.0
_SHORTEST_PLATEAU = 10

# A signal passes zero at most as fast as around it: where exactly zero holds so many times the
# samples of a narrow band on both sides, small values have been taken away.
_EMPTIED = 2.0
_FEWEST_CROSSINGS = 3  # a driver that tells nothing for a while is zero once or twice

# Of a million samples of Gaussian noise none lies beyond 5 deviations, of a Laplacian one none
# beyond 20; a spike also stands out of what the signal itself does.
_SPIKE_DEVIATIONS = 20.0
_SPIKE_SHARE = 0.3
_LONGEST_SPIKE = 3
_MEDIAN = 9
_AROUND = 64  # samples: many times the longest spike, so that no spikes make the median
_TYPICAL = 50_000  # samples that tell in what steps a signal comes

# A value that was held is let go with a jump; no motion moves as far in a sample as this multiple
# of what all but one in a hundred samples of it stay below.
_JUMP = 4.0
_SHORTEST_FREEZE = 5

# Noise hardly ever repeats a value; where more than these do, values are held between updates.
_REPEATED = 0.3
_IMPROBABLE = 1e-9


class Plateau(NamedTuple):
    """A signal that does not go beyond a value, and stays at it.

    Attributes:
        level: the value.
        share: of all samples that are at it.
    """

    level: float
    share: float


class DeadZone(NamedTuple):
    """A signal whose small values are zero.

    Attributes:
        share: of all samples that are zero.
        runs: how often it is zero for a while.
    """

    share: float
    runs: int


class Freeze(NamedTuple):
    """The longest run of equal values that ends or begins with a jump.

    Attributes:
        begin: number of its first sample.
        samples: how many there are.
        jump: by which it was let go.
        at_extreme: whether the signal does not go beyond the value, and leaves it without a jump.
    """

    begin: int
    samples: int
    jump: float
    at_extreme: bool


def plateau(values: Array, moving: npt.NDArray[np.bool_]) -> Plateau | None:
    """Return where a signal is cut off, None where it is not.

    Args:
        values: (samples,) the signal.
        moving: (samples,) where the joint moves: a load that is held stays the same by itself.
    """
    reach = float(np.ptp(values))
    if reach == 0.0:
        return None
    band = _band(values, reach)
    found = []
    for extreme, inside in ((values.max(), -1.0), (values.min(), 1.0)):
        beyond = inside * (values - extreme)  # distance from the extreme
        at = moving & (beyond <= _SAME * reach)
        near = moving & (beyond <= band) & ~at
        count = int(at.sum())
        if count >= _SHORTEST_PLATEAU and count > _CUT * int(near.sum()) and _runs(at) >= 3.0:
            found.append(Plateau(float(extreme), count / len(values)))
    return max(found, key=lambda one: one.share, default=None)


def dead_zone(values: Array, moving: npt.NDArray[np.bool_]) -> DeadZone | None:
    """Return where the small values of a signal are zero, None where they are not.

    Args:
        values: (samples,) the signal.
        moving: (samples,) where the joint moves.
    """
    reach = float(np.ptp(values))
    at = moving & (values == 0.0)
    count, runs = int(at.sum()), _starts(at)
    if count < _SHORTEST_PLATEAU or runs < _FEWEST_CROSSINGS or _runs(at) < 3.0:
        return None
    near = moving & (np.abs(values) <= _band(values, reach)) & ~at
    if count <= _EMPTIED * int(near.sum()):
        return None
    return DeadZone(count / len(values), runs)


def _band(values: Array, reach: float) -> float:
    """Return how far around a value its neighbours lie: a coarse signal has none but in steps."""
    return max(_BAND * reach, 1.5 * resolution(values))


def _runs(flags: npt.NDArray[np.bool_]) -> float:
    """Return the mean length of the runs of true flags."""
    return float(flags.sum()) / max(_starts(flags), 1)


def _starts(flags: npt.NDArray[np.bool_]) -> int:
    """Return the number of runs of true flags."""
    return int(np.count_nonzero(np.diff(flags.astype(np.int8), prepend=0) == 1))


def freeze(values: Array, *, noisy: bool = False) -> Freeze | None:
    """Return the longest time for which a signal was held while what it measures went on.

    Args:
        values: (samples,) an unbroken run of the signal.
        noisy: whether it has noise, so that equal values that follow each other are held too where
            none of so many would by chance.
    """
    steps = np.abs(np.diff(values))
    reach = float(np.ptp(values))
    same = steps <= _SAME * reach
    changing = steps[~same]
    if len(changing) < _SHORTEST_FREEZE:
        return None
    usual = float(np.quantile(changing, 0.99))
    edges = np.diff(np.concatenate(([False], same, [False])).astype(np.int8))
    begins, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    best = None
    for begin, end in zip(begins, ends, strict=True):
        samples = int(end - begin) + 1
        if samples < _SHORTEST_FREEZE or (best is not None and samples <= best.samples):
            continue
        before = float(steps[begin - 1]) if begin > 0 else 0.0
        behind = float(steps[end]) if end < len(steps) else 0.0
        jump = max(before, behind)
        jumps = jump > _JUMP * usual
        if jumps or (noisy and _is_long(samples, same)):
            inside = min(values[begin] - values.min(), values.max() - values[begin])
            best = Freeze(int(begin), samples, jump, not jumps and bool(inside <= _SAME * reach))
    return best


def _is_long(samples: int, same: npt.NDArray[np.bool_]) -> bool:
    """Tell whether a run of equal values cannot be chance, given how often values repeat."""
    others = len(same) - samples
    share = max(float(same.sum()) - samples, 1.0) / max(others, 1)
    if share > _REPEATED:
        return False
    return bool(samples * np.log(share) + np.log(len(same)) < np.log(_IMPROBABLE))


def spikes(values: Array) -> npt.NDArray[np.intp]:
    """Return the samples that stand out of their neighbours, their surroundings and all the signal.

    Args:
        values: (samples,) an unbroken run of the signal.
    """
    if len(values) < 3 * _MEDIAN:
        return np.zeros(0, dtype=np.intp)
    apart = np.abs(values - scipy.ndimage.median_filter(values, _MEDIAN, mode="nearest"))
    low, high = np.quantile(values, (0.01, 0.99))
    limit = np.maximum(_SPIKE_DEVIATIONS * _usual(apart), _SPIKE_SHARE * float(high - low))
    found = apart > limit
    return np.flatnonzero(found & ~_long(found))


def _usual(apart: Array) -> Array:
    """Return the deviation that is usual around every sample, or throughout if that is more.

    Noise and ripple come and go with the motion: a robot that mostly stands has little of them.

    Args:
        apart: (samples,) distances from the neighbours.
    """
    count = max(len(apart) // _AROUND, 1)
    whole = len(apart) // count * count
    own = np.median(apart[:whole].reshape(count, -1), axis=1)
    around = np.maximum.reduce([own, np.append(own[1:], own[-1:]), np.append(own[:1], own[:-1])])
    block = np.minimum(np.arange(len(apart)) * count // whole, count - 1)
    usual: Array = 1.4826 * np.maximum(around, np.median(apart))[block]
    return usual


def jumps(values: Array) -> npt.NDArray[np.intp]:
    """Return the samples of a position that lie off the way between their neighbours.

    A position cannot leave the way by more than a few of the steps that it takes in a sample.

    Args:
        values: (samples,) an unbroken run of positions.
    """
    if len(values) < 3 * _MEDIAN:
        return np.zeros(0, dtype=np.intp)
    off = np.zeros(len(values))
    off[1:-1] = np.abs(values[1:-1] - 0.5 * (values[2:] + values[:-2]))
    usual = 1.4826 * float(np.median(off))
    steps = np.abs(np.diff(values))
    limit = max(_SPIKE_DEVIATIONS * usual, _JUMP * float(np.quantile(steps, 0.99)))
    around = np.minimum(
        np.abs(np.diff(values, prepend=values[0])), np.abs(np.diff(values, append=values[-1]))
    )
    return np.flatnonzero((off > limit) & (around > limit)) if limit > 0.0 else off[:0].astype(int)


def _long(flags: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Tell which flags belong to runs longer than a spike."""
    opened: npt.NDArray[np.bool_] = scipy.ndimage.binary_opening(
        flags, np.ones(_LONGEST_SPIKE + 1, dtype=np.bool_)
    )
    return opened


def resolution(values: Array) -> float:
    """Return the step in which a signal comes, 0 where there is none.

    Args:
        values: (samples,) the signal.
    """
    levels = np.unique(values[:_TYPICAL])
    if not 2 <= len(levels) <= max(min(len(values), _TYPICAL) // 4, 2):
        return 0.0
    reach = float(levels[-1] - levels[0])
    steps = np.diff(levels)
    step = float(steps[steps > _SAME * reach].min(initial=reach))
    counts = steps / step
    regular = np.abs(counts - np.rint(counts)) < 0.05
    return step if regular.mean() > 0.95 else 0.0
