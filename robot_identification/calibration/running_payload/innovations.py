"""Rows beside what was known before them: changes of the payload, and contacts.

Rows predict themselves by what is known: the innovations are nu = z - X x, with the covariance
S = I + U U^T, and with its Cholesky factor L L^T = S independent ones, L^-1 nu, of variance 1.  A
payload that changes by d from the row k on adds L^-1 Y_k d to them, where Y_k is what the filter
of the noise makes of the payload's columns with zeros before row k.  The generalised likelihood
ratio of such a change (Willsky and Jones 1976) is the part of the innovations that lies in these
columns,

    g_k = |Q_k^T L^-1 nu|^2,    L^-1 Y_k = Q_k R_k,

which is distributed as chi-squared where nothing has changed, with as many degrees of freedom as
there are columns.  Mass and first moments are enough of them: all that is carried has both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.special

from robot_identification.calibration.running_payload.knowledge import Knowledge
from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.parameters import LINK_PARAMETERS

MOMENTS = slice(6, 10)
"""Places of the first moments and the mass among the payload's parameters."""
_SILENT = 1e-9  # of the largest column: what a change would add less than that to tells nothing
_EXPLAINED = 0.05  # probability down to which noise explains that squares are large


@by_value
@dataclass(frozen=True)
class Innovations:
    """Innovations of rows, and the payload's columns made independent with them.

    Attributes:
        values: (rows,) independent innovations, of variance 1 where nothing has changed.
        columns: (rows, 10 segments) what the payload of each segment adds to them.
    """

    values: Array
    columns: Array

    @classmethod
    def of(
        cls, known: Knowledge, rows: Array, changes: Array, doubts: Array | None = None
    ) -> Innovations:
        """Return the innovations of rows.

        Args:
            known: what is known without them.
            rows: (rows, unknowns + 1) white ones.
            changes: (rows, 10 segments) for each segment of rows what the payload adds if it is
                there in that segment only.
            doubts: (rows, doubts) what errors of deviation 1, besides, add to the residual.
        """
        seen = known.seen(rows[:, :-1])
        if doubts is not None:
            seen = np.concatenate([seen, doubts], axis=1)
        covariance = np.eye(len(rows)) + seen @ seen.T
        innovation = rows[:, -1] - rows[:, :-1] @ known.values
        root = scipy.linalg.cholesky(covariance, lower=True)
        both = np.column_stack([innovation, changes])
        white = scipy.linalg.solve_triangular(root, both, lower=True)
        return cls(white[:, 0], white[:, 1:])

    @property
    def square(self) -> float:
        """Sum of the squared innovations."""
        return float(self.values @ self.values)

    def ratios(self) -> Array:
        """Return the (segments,) likelihood ratios of a change at the beginning of each segment."""
        each = self.columns.reshape(len(self.values), -1, LINK_PARAMETERS)[:, :, MOMENTS]
        ratios = np.zeros(each.shape[1])
        changed = np.zeros((len(each), each.shape[2]))
        for k in range(each.shape[1] - 1, -1, -1):
            changed = changed + each[:, k]
            ratios[k] = _explained(changed, self.values)
        return ratios


def _explained(columns: Array, values: Array) -> float:
    """Return the square of the part of values that lies in columns."""
    norms = np.linalg.norm(columns, axis=0)
    used = norms > _SILENT * max(float(norms.max(initial=0.0)), np.finfo(float).tiny)
    if not used.any():
        return 0.0
    left, sizes, _ = np.linalg.svd(columns[:, used] / norms[used], full_matrices=False)
    part = left[:, sizes > _SILENT * sizes[0]].T @ values
    return float(part @ part)


def threshold(probability: float) -> float:
    """Return what the ratio of a single change exceeds with a probability where nothing changes."""
    freedoms = MOMENTS.stop - MOMENTS.start
    return float(scipy.special.chdtri(freedoms, probability))


def mean_square(squares: float, freedoms: float) -> float:
    """Return the mean of squares of deviation 1; 1 where noise explains that they are larger.

    Args:
        squares: their sum.
        freedoms: how many they are; noise explains any sum of none.
    """
    if freedoms <= 0.0 or squares <= scipy.special.chdtri(freedoms, _EXPLAINED):
        return 1.0
    return float(squares / freedoms)
