"""Colour of the residual of free motion, and rows made white by it.

What errors leave of a joint's residual when the friction of its speed is known is taken for the
sum of two noises.  That of the sensors is in rows a moving average of the first order,

    w_k = e_k + t e_(k-1),    t / (1 + t^2) = c,

with the correlation c of two neighbouring rows.  Noise of the efforts is white before the filter of
the rows, a triangle of twice their period: it has c = 1/4, a quarter being what two triangles have
in common.  Noise of the positions enters by the acceleration, a second difference from row to row,
and makes c smaller, and negative where it outweighs that of the efforts.

What the model does not know is noise a_k of the first order, whose correlation falls exponentially
with time.  Of their sum the Kalman filter of the state (a_k, t e_(k-1)) gives innovations that are
white; as it is linear, it makes the rows of least squares white as well, their regressors with the
residual, and rows that do not count leave no trace but the time that they take (Harvey 1989,
section 3.4).

The two variances and the two correlations are those of largest likelihood on a grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.signals.rows import Flags

_COMMON = 0.25  # correlation of two neighbouring rows of noise that is white before the filter
_COMMONS = (0.25, 0.15, 0.05, -0.05, -0.15, -0.25)
_CORRELATIONS = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995)
_SHARES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95)
_LEAST = 1e-12  # (N m)^2 or N^2: a residual without any noise would have no likelihood


@by_value
@dataclass(frozen=True)
class ResidualNoise:
    """Noise of the residual of every joint, from row to row.

    Attributes:
        white: (joints,) variance of the noise of the sensors, in (N m)^2 or N^2.
        coloured: (joints,) variance of the coloured part.
        correlation: (joints,) of the coloured part between two rows.
        common: (joints,) of the noise of the sensors between two rows, within -1/2 to 1/2.
    """

    white: Array
    coloured: Array
    correlation: Array
    common: Array

    @property
    def std(self) -> Array:
        """(joints,) standard deviation of both together, in N m or N."""
        return read_only(np.sqrt(self.white + self.coloured))

    @cached_property
    def filter(self) -> _Filter:
        """The Kalman filter that makes rows white."""
        return _Filter(self.white, self.coloured, self.correlation, self.common)

    def scaled(self, factor: float) -> ResidualNoise:
        """Return noise with deviations that are larger by a factor."""
        square = factor**2
        white, coloured = read_only(self.white * square), read_only(self.coloured * square)
        return ResidualNoise(white, coloured, self.correlation, self.common)


@by_value
@dataclass(frozen=True)
class NoiseState:
    """What is known of the noise of every joint at a row, before it is seen.

    Attributes:
        coloured: (joints, entries) the coloured part that is expected of each entry of a row.
        before: (joints, entries) what the row before has left of the moving average.
        covariance: (3, joints) variance of the first, of the second, and their covariance.
    """

    coloured: Array
    before: Array
    covariance: Array

    @classmethod
    def fresh(cls, noise: ResidualNoise, entries: int) -> NoiseState:
        """Return the state behind a gap: what was before tells nothing of what follows."""
        none = np.zeros((len(noise.white), entries))
        return cls(none, none, noise.filter.start)

    def beside(self, further: int) -> NoiseState:
        """Return the state of rows with further entries, which have been zero until now."""
        none = np.zeros((len(self.coloured), further))
        wider = (np.concatenate([part, none], axis=1) for part in (self.coloured, self.before))
        coloured, before = wider
        return NoiseState(coloured, before, self.covariance)

    def with_zeros(self, entries: slice) -> NoiseState:
        """Return the state of rows some entries of which have been zero until now."""
        coloured, before = np.array(self.coloured), np.array(self.before)
        coloured[:, entries] = before[:, entries] = 0.0
        return NoiseState(coloured, before, self.covariance)


def whitened(
    noise: ResidualNoise, state: NoiseState, rows: Array, kept: Flags, begins: Flags
) -> tuple[Array, NoiseState]:
    """Return (rows, joints, entries) white rows with deviations of 1, and the state behind them.

    Args:
        noise: noise in the last entry; all others pass the same filter.
        state: before the first row.
        rows: (rows, joints, entries).
        kept: (rows, joints) which of them count; those that do not become zeros.
        begins: (rows,) which of them follow a gap.
    """
    out = np.zeros_like(rows)
    coloured, before, covariance = state.coloured, state.before, state.covariance
    fresh = NoiseState.fresh(noise, rows.shape[2])
    step, correlation = noise.filter.step, noise.correlation[:, None]
    for k, counts in enumerate(kept):
        if begins[k]:
            coloured, before, covariance = fresh.coloured, fresh.before, fresh.covariance
        innovation = rows[k] - coloured - before
        total, gains, covariance = step(covariance, counts)
        out[k] = innovation * (counts / np.sqrt(total))[:, None]
        coloured = correlation * coloured + gains[0][:, None] * innovation
        before = gains[1][:, None] * innovation
    return out, NoiseState(coloured, before, covariance)


class _Filter:
    """The Kalman filter of both noises; arrays of any shape stand for as many of them."""

    def __init__(self, white: Array, coloured: Array, correlation: Array, common: Array) -> None:
        average = 2.0 * common / (1.0 + np.sqrt(1.0 - 4.0 * common**2))
        self._newest = white / (1.0 + average**2)  # variance of e_k
        self._before = average**2 * self._newest  # of what it leaves to the next row
        self._with_before = average * self._newest
        self._coloured, self.correlation, self._fading = coloured, correlation, correlation**2
        self._driving = (1.0 - self._fading) * coloured

    @property
    def start(self) -> Array:
        """(3, ...) covariance of a state that nothing is known of."""
        return np.stack([self._coloured, self._before, np.zeros_like(self._before)])

    def step(self, covariance: Array, counts: Flags) -> tuple[Array, Array, Array]:
        """Take in a row.

        Args:
            covariance: (3, ...) of the state before it.
            counts: (...) where the row is seen.

        Returns:
            (...) variance of the innovation, (2, ...) what an innovation adds to the next state,
            (3, ...) covariance of that.
        """
        first, second, both = covariance
        total = first + second + 2.0 * both + self._newest
        # Covariance of the next state with the innovation; e_k is in both.
        with_coloured, with_before = self.correlation * (first + both), self._with_before
        gains, following = np.zeros((2, *total.shape)), np.empty((3, *total.shape))
        np.divide(with_coloured, total, out=gains[0], where=counts)
        np.divide(with_before, total, out=gains[1], where=counts)
        following[0] = self._fading * first + self._driving - gains[0] * with_coloured
        following[1] = self._before - gains[1] * with_before
        following[2] = -gains[0] * with_before
        return total, gains, following


def white_noise(residual: Array, kept: Flags) -> ResidualNoise:
    """Return the noise of residuals as if it were that of sensors alone.

    Args:
        residual: (rows, joints) in N m or N.
        kept: (rows, joints) which of them count.
    """
    variance = _variance(residual, kept)
    none = np.zeros_like(variance)
    common = np.full_like(variance, _COMMON)
    return ResidualNoise(read_only(variance), read_only(none), read_only(none), read_only(common))


def learned_noise(residual: Array, kept: Flags, begins: Flags) -> ResidualNoise:
    """Return the noise of residuals: of largest likelihood.

    Args:
        residual: (rows, joints) in N m or N.
        kept: (rows, joints) which of them count.
        begins: (rows,) which of them begin a run, behind a gap.
    """
    variance = _variance(residual, kept)
    grids = np.meshgrid(np.array(_CORRELATIONS), np.array(_SHARES), np.array(_COMMONS))
    rho, share, common = (grid.ravel() for grid in grids)
    shape = len(variance), len(rho)
    candidates = _Filter(*(np.broadcast_to(v, shape) for v in (1.0 - share, share, rho, common)))
    size, squares, logs = _likelihoods(residual / np.sqrt(variance), kept, begins, candidates)
    scale = squares / size[:, None]  # what makes the likelihood largest for a share
    loss = size[:, None] * np.log(np.maximum(scale, np.finfo(float).tiny)) + logs
    best = np.argmin(loss, axis=1)
    total = np.maximum(variance * scale[np.arange(len(best)), best], _LEAST)
    return ResidualNoise(
        read_only(total * (1.0 - share[best])),
        read_only(total * share[best]),
        read_only(rho[best]),
        read_only(common[best]),
    )


def _likelihoods(
    residual: Array, kept: Flags, begins: Flags, candidates: _Filter
) -> tuple[Array, Array, Array]:
    """Return what the likelihoods of all candidates need, for noise of variance 1.

    Returns:
        (joints,) number of rows, (joints, candidates) sums of squared innovations over their
        variances, and of the logarithms of these.
    """
    rho, start = candidates.correlation, candidates.start
    coloured, before, squares, logs = (np.zeros(rho.shape) for _ in range(4))
    covariance = start
    for row, counts, begin in zip(residual, kept, begins, strict=True):
        if begin:
            coloured, before, covariance = np.zeros(rho.shape), np.zeros(rho.shape), start
        innovation = row[:, None] - coloured - before
        mask = counts[:, None]
        total, gains, covariance = candidates.step(covariance, mask)
        squares += np.where(mask, innovation**2 / total, 0.0)
        logs += np.where(mask, np.log(total), 0.0)
        coloured = rho * coloured + gains[0] * innovation
        before = gains[1] * innovation
    return np.maximum(kept.sum(axis=0), 1.0), squares, logs


def _variance(residual: Array, kept: Flags) -> Array:
    """Return the (joints,) mean squares of the rows that count."""
    squares = (residual**2 * kept).sum(axis=0) / np.maximum(kept.sum(axis=0), 1.0)
    return np.asarray(np.maximum(squares, _LEAST))
