"""Least squares on few instants, joint by joint, in which any one thing can be changed.

Each joint has a variance of its own, as its rows are unlike those of others in size and in what
the model lacks; the fit is that of the largest likelihood, by a few steps of reweighting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.regressor import Regressor
from robot_identification.identification.diagnosis.motion import Motion
from robot_identification.robot.arrays import by_value
from robot_identification.robot.model import Array

_STEPS = 3
_ROWS_PER_COLUMN = 3
FLOOR = 0.01
"""Residual, over the effort of a joint, below which no row gets more weight: no model is better."""

_RIDGE = 1e-10
"""Added to the diagonal of the scaled normal equations, whose columns may depend on each other; the
residual, which alone counts here, does not notice it."""


@by_value
@dataclass(frozen=True)
class JointRows:
    """Rows of one joint.

    Attributes:
        columns: (own,) places of the columns that are not zero.
        matrix: (rows, own) the regressor.
        effort: (rows,) in N m or N.
        part: (rows,) the part of time, 0 or 1, of each row.
    """

    columns: npt.NDArray[np.intp]
    matrix: Array
    effort: Array
    part: npt.NDArray[np.intp]

    @property
    def size(self) -> float:
        """Root mean square of the effort; the smallest number where there is none."""
        return rms(self.effort)

    @property
    def enough(self) -> bool:
        """Whether there are rows enough that something is left of them to be explained."""
        return len(self.effort) >= _ROWS_PER_COLUMN * len(self.columns)


@by_value
@dataclass(frozen=True)
class Refit:
    """A fit to the rows of all joints.

    Attributes:
        values: (columns,) parameters.
        left: (joints,) residual over effort, root mean squares.
        left_in_parts: (joints, 2) the same in either part of time.
        rows: (joints,) number of rows.
        independent: (joints,) how many of them are worth independent ones, as residuals that
            follow each other are alike.
    """

    values: Array
    left: Array
    left_in_parts: Array
    rows: npt.NDArray[np.intp]
    independent: Array


def rows_of(motion: Motion, regressor: Regressor) -> tuple[JointRows, ...]:
    """Return the rows of every joint of a motion."""
    compact = regressor.compact(
        *(np.array(s) for s in (motion.position, motion.velocity, motion.acceleration))
    )
    return tuple(
        JointRows(
            np.asarray(joint.columns),
            np.ascontiguousarray(compact[joint.rows][:, kept].T),
            effort[kept],
            motion.part[kept],
        )
        for joint, effort, kept in zip(
            regressor.joint_rows, motion.effort, motion.kept, strict=True
        )
    )


class Grams:
    """Normal equations of every joint, which are formed once and solved for many efforts.

    Args:
        rows: of every joint.
        columns: number of columns.
    """

    def __init__(self, rows: Sequence[JointRows], columns: int) -> None:
        self.rows = tuple(rows)
        self.columns = columns
        self._matrices = [joint.matrix.T @ joint.matrix for joint in rows]

    def fit(self, efforts: Sequence[Array] | None = None) -> Refit:
        """Fit parameters.

        Args:
            efforts: (rows,) of every joint, in place of those measured.
        """
        measured = [joint.effort for joint in self.rows] if efforts is None else list(efforts)
        sizes = np.array([rms(effort) for effort in measured])
        sides = [j.matrix.T @ effort for j, effort in zip(self.rows, measured, strict=True)]
        left = np.ones(len(self.rows))
        values = np.zeros(self.columns)
        for _ in range(_STEPS):
            weights = 1.0 / (np.maximum(left, FLOOR) * sizes) ** 2
            values = self._solved(weights, sides)
            residuals = [
                effort - joint.matrix @ values[joint.columns]
                for joint, effort in zip(self.rows, measured, strict=True)
            ]
            left = np.array([rms(r) for r in residuals]) / sizes
        parts = np.array(
            [
                [rms(residual[joint.part == half]) / size for half in (0, 1)]
                for joint, residual, size in zip(self.rows, residuals, sizes, strict=True)
            ]
        )
        rows = np.array([len(joint.effort) for joint in self.rows])
        independent = np.array([independent_rows(residual) for residual in residuals])
        return Refit(values, left, parts, rows, independent)

    def _solved(self, weights: Array, sides: Sequence[Array]) -> Array:
        gram = np.zeros((self.columns, self.columns))
        side = np.zeros(self.columns)
        for joint, weight, matrix, own in zip(
            self.rows, weights, self._matrices, sides, strict=True
        ):
            gram[np.ix_(joint.columns, joint.columns)] += weight * matrix
            side[joint.columns] += weight * own
        scale = np.sqrt(np.diag(gram))
        scale[scale == 0.0] = 1.0
        scaled = gram / np.outer(scale, scale)
        scaled[np.diag_indices(self.columns)] += _RIDGE
        solved: Array = np.linalg.solve(scaled, side / scale) / scale
        return solved


def independent_rows(residual: Array) -> float:
    """Return how many independent rows as many with this residual are worth.

    Residuals are taken for a process of first order, by the correlation of those that follow each
    other.
    """
    if len(residual) < 2:
        return float(len(residual))
    size = max(float(residual @ residual), float(np.finfo(float).tiny))
    alike = float(np.clip(residual[1:] @ residual[:-1] / size, 0.0, 0.99))
    return len(residual) * (1.0 - alike) / (1.0 + alike)


def rms(values: Array) -> float:
    """Return the root mean square of values, or the least positive number if that is zero."""
    tiny = float(np.finfo(float).tiny)
    return max(float(np.sqrt(np.mean(values**2))), tiny) if len(values) else tiny


def gain(before: Refit, after: Refit) -> float:
    """Return by how much a change raises the likelihood, in halvings of one joint's variance.

    It is that of the part of time in which it helps less: a mistake acts all the time.  Residuals
    below one percent of the effort are as good as none.
    """
    ratios = np.log2(
        np.maximum(before.left_in_parts, FLOOR) / np.maximum(after.left_in_parts, FLOOR)
    )
    return float(2.0 * ratios.sum(axis=0).min())
