"""Learning the levels of the residual from free motion, in constant memory."""

from __future__ import annotations

import itertools
from dataclasses import fields

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.external_efforts.levels import (
    DRAWS,
    ResidualLevels,
    ResidualTable,
    deviations_beyond,
)
from robot_identification.dynamics.external_efforts.momentum_observer import ObservedEfforts
from robot_identification.dynamics.external_efforts.speed_zones import (
    FAST,
    SPEEDS,
    STILL,
    ZONES,
    Places,
    SpeedZones,
)
from robot_identification.dynamics.tree import Floats
from robot_identification.errors import EffortSignError, NoEffortError
from robot_identification.robot.arrays import read_only

_REVERSED = 1.5  # residual over modelled efforts: 2 where the sign of efforts is wrong
_NOTHING = 1e-9  # measured over modelled efforts, root mean square: nobody measured them
_ALIKE = 0.7  # correlation of the two from which that counts
_INDEPENDENT = 0.2  # s of one visit to a zone after which its errors count once more
_EXPECTED = 1.0  # visits that what is expected of a zone weighs as much as
_LASTING = 0.5  # s over which means are taken to see what lasts
_HOT = 5.0  # s of motion before that, in which biases become known
_PART = 0.05  # s after which biases are those of all that has come
_ROUNDING = 1e-7  # s by which sums of intervals are far from being off


class LevelLearning:
    """Learns levels from blocks of observed efforts of free motion.

    Args:
        names: of the joints.
        floor: (joints,) deviations that levels do not go below, in N m or N.
        zones: of the speed; where no joint is faster than its stick speed, the robot does not move.
    """

    def __init__(self, names: tuple[str, ...], floor: Floats, zones: SpeedZones) -> None:
        self._names, self._floor, self._zones = names, floor, zones
        self.restart()

    def restart(self) -> None:
        """Forget what was learned."""
        joints = len(self._names)
        self.moved = 0.0
        self._duration = 0.0
        self._visits = _Visits(joints)
        self._means = _Means(joints)
        self._sign: Floats | None = None
        self._part, self._hot = -1, False
        self._bias = self._visits.mean.copy()
        self._friction, self._changes = np.zeros((2, joints))
        self._common, self._modelled, self._squares, self._measured = np.zeros((4, joints))

    def add(self, block: ObservedEfforts) -> None:
        """Take in efforts of free motion, in blocks of any size; the levels are the same.

        ``moved`` is the time in s, until now, in which a joint moved.
        """
        settled = block.age >= self._zones.settling
        if not settled.all():
            block = _part(block, settled)
        # Biases are known of what has come before: one block may be a whole recording.
        time = self._duration + np.cumsum(block.interval) + _ROUNDING
        parts = (time / _PART).astype(np.intp)
        borders = [0, *np.flatnonzero(np.diff(parts)) + 1, len(parts)]
        for begin, end in itertools.pairwise(borders):
            if begin == end:
                continue
            if parts[begin] != self._part:
                self._begin_part(int(parts[begin]))
            self._add(_part(block, slice(begin, end)))

    def _begin_part(self, part: int) -> None:
        """Take what has come for the biases of what comes until the next part."""
        self._part, self._hot = part, self.moved > _HOT
        self._bias = self._visits.mean.copy()
        self._means.close()

    def _add(self, block: ObservedEfforts) -> None:
        """Take in efforts of one part."""
        r = block.effort
        moving = (np.abs(block.velocity) > self._zones.stick).any(axis=1)
        self.moved += float(block.interval[moving].sum())
        self._duration += float(block.interval.sum())
        self._friction = np.maximum(self._friction, block.sliding_friction.max(axis=0))
        self._squares += (r**2).sum(axis=0)
        self._common += (r * block.modelled).sum(axis=0)
        self._modelled += (block.modelled**2).sum(axis=0)
        self._measured += ((block.modelled - r) ** 2).sum(axis=0)
        place = self._zones.places(block.smooth_velocity, block.acceleration)
        centred = r - place.sign * place.of(self._bias)
        signs = np.sign(centred)
        before = [] if self._sign is None else [self._sign]
        self._changes += (np.diff(np.stack([*before, *signs]), axis=0) != 0.0).sum(axis=0)
        self._sign = signs[-1]
        if self._hot:
            self._means.add(centred, FAST[place.lower], block.interval)
        self._visits.add(place, place.sign * r, block.interval)

    def levels(self) -> ResidualLevels:
        """Return the levels of what has been taken in.

        Raises:
            NoEffortError: the efforts of joints are zero throughout, and the model has some.
            EffortSignError: the residual of joints is about twice what the model says of them.
        """
        silent = (self._measured <= _NOTHING**2 * self._modelled) & (self._modelled > 0.0)
        if silent.any():
            raise NoEffortError([self._names[j] for j in np.flatnonzero(silent)])
        alike = self._common > _ALIKE * np.sqrt(self._squares * self._modelled)
        wrong = alike & (self._common > _REVERSED * self._modelled)
        if wrong.any():
            raise EffortSignError([self._names[j] for j in np.flatnonzero(wrong)])
        crossings = np.maximum(self._changes, 1.0) / max(self._duration, 1e-9)
        seen = self._visits
        base = np.maximum(seen.base_variance(), self._floor**2)
        hidden = self._friction[:, None] * np.where(FAST, 0.0, 1.0 - SPEEDS)
        biases = seen.bias_variance()[:, None] * FAST
        expected = base[:, None] + biases + hidden**2 * np.where(STILL, 1.0 / 3.0, 1.0)
        mean, variance, peak = seen.summary(expected)
        variance = np.maximum(variance, self._floor[:, None] ** 2)
        tail = peak / deviations_beyond(seen.draws())
        fast = peak[:, FAST].max(axis=1) / deviations_beyond(DRAWS * seen.time[:, FAST].sum(axis=1))
        deviation = np.sqrt(base)
        table = ResidualTable(
            read_only(mean),
            read_only(np.sqrt(variance)),
            read_only(tail),
            read_only(self._means.lasting()),
        )
        return ResidualLevels(read_only(deviation), read_only(crossings), read_only(fast), table)


def _part(block: ObservedEfforts, samples: npt.NDArray[np.bool_] | slice) -> ObservedEfforts:
    """Return some of the samples of a block."""
    return ObservedEfforts(
        **{column.name: getattr(block, column.name)[samples] for column in fields(block)}
    )


class _Visits:
    """Sums over the visits of a residual to the knots of the speed.

    Attributes:
        time: (joints, zones) spent there, in s.
    """

    def __init__(self, joints: int) -> None:
        self._joints = np.arange(joints)
        self.time, self._first, self._second = np.zeros((3, joints, ZONES))
        self._lowest = np.full((joints, ZONES), np.inf)
        self._highest = -self._lowest
        self._visits = np.zeros((joints, ZONES))
        self._last: npt.NDArray[np.intp] | None = None
        self.mean = np.zeros((joints, ZONES))

    def add(self, place: Places, r: Floats, interval: Floats) -> None:
        """Take in (samples, joints) residuals, in the direction where directions are alike."""
        for zone, share in ((place.upper, place.share), (place.lower, 1.0 - place.share)):
            weight = interval[:, None] * share
            for sums, values in (
                (self.time, weight),
                (self._first, weight * r),
                (self._second, weight * r**2),
            ):
                sums += self._binned(zone, values)
            # What happened between two knots may happen again at either.
            np.minimum.at(self._lowest, (self._joints, zone), r)
            np.maximum.at(self._highest, (self._joints, zone), r)
        nearest = place.nearest
        before = nearest[:1] - 1 if self._last is None else self._last
        entered = np.diff(np.concatenate([before, nearest]), axis=0) != 0
        self._visits += self._binned(nearest, entered.astype(np.float64))
        self._last = nearest[-1:]
        np.divide(self._first, self.time, out=self.mean, where=self.time > 0.0)
        self.mean[:, STILL] = 0.0

    def _binned(self, zone: npt.NDArray[np.intp], values: Floats) -> Floats:
        """Return (joints, zones) sums of values (samples, joints) in the zones of each."""
        flat = (self._joints * ZONES + zone).ravel()
        sums = np.bincount(flat, values.ravel(), minlength=self.time.size)
        return np.asarray(sums.reshape(self.time.shape))

    def draws(self) -> Floats:
        """Return (joints, zones) how often errors of the model were drawn anew."""
        return np.asarray(self._visits + DRAWS * self.time)

    def base_variance(self) -> Floats:
        """Return (joints,) variance of sliding joints about their means; else of all."""
        spread = np.maximum(self._second - self.time * self.mean**2, 0.0)
        some = self.time[:, FAST].sum(axis=1) > 0.0
        counted = np.where(some[:, None], FAST, True)
        whole = (self.time * counted).sum(axis=1)
        return np.asarray((spread * counted).sum(axis=1) / np.maximum(whole, 1e-9))

    def bias_variance(self) -> Floats:
        """Return (joints,) mean square of the biases at the speeds at which joints have slid."""
        some = FAST & (self._visits > 0.0)
        squares = np.where(some, self.mean**2, 0.0).sum(axis=1)
        return np.asarray(squares / np.maximum(some.sum(axis=1), 1))

    def summary(self, expected: Floats) -> tuple[Floats, Floats, Floats]:
        """Return means, variances and largest deviations (joints, zones), cautious where few came.

        Args:
            expected: (joints, zones) variances that count for a visit.
        """
        weight = self._visits + self.time / _INDEPENDENT
        mean = self.mean * weight / (weight + _EXPECTED)
        time = np.maximum(self.time, 1e-9)
        about = (self._second - 2.0 * mean * self._first) / time + mean**2
        seen = np.where(self.time > 0.0, np.maximum(about, 0.0), 0.0)
        variance = (weight * seen + _EXPECTED * expected) / (weight + _EXPECTED)
        peak = np.maximum(self._highest - mean, mean - self._lowest)
        return mean, variance, np.where(np.isfinite(peak), peak, 0.0)


class _Means:
    """How much of the residual of sliding joints a mean over half a second leaves."""

    def __init__(self, joints: int) -> None:
        self._time, self._squares, self._windows, self._of_means = np.zeros((4, joints))
        self._sum, self._counted = np.zeros((2, joints))
        self._elapsed = 0.0

    def add(self, r: Floats, sliding: npt.NDArray[np.bool_], interval: Floats) -> None:
        """Take in (samples, joints) residuals, and which of them belong to sliding joints."""
        weight = interval[:, None] * sliding
        self._time += weight.sum(axis=0)
        self._squares += (weight * r**2).sum(axis=0)
        self._sum += (weight * r).sum(axis=0)
        self._counted += weight.sum(axis=0)
        self._elapsed += float(interval.sum())

    def close(self) -> None:
        """Take the mean of a window that has come to its end."""
        if self._elapsed >= _LASTING - 0.5 * _PART:
            whole = self._counted > 0.5 * self._elapsed
            mean = self._sum / np.maximum(self._counted, 1e-9)
            self._windows += whole
            self._of_means += np.where(whole, mean**2, 0.0)
            self._sum[:], self._counted[:], self._elapsed = 0.0, 0.0, 0.0

    def lasting(self) -> Floats:
        """Return (joints,) shares of the variance; 1 where nothing is known."""
        known = (self._windows > 0.0) & (self._squares > 0.0)
        variance = self._squares / np.maximum(self._time, 1e-9)
        of_means = self._of_means / np.maximum(self._windows, 1.0)
        return np.where(known, np.minimum(of_means / np.where(known, variance, 1.0), 1.0), 1.0)
