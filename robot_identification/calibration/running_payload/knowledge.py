"""Knowledge of all unknowns from rows: a triangular factor, parts of which can be forgotten.

The unknowns x are known by R x = z + e with a triangular R and errors e of variance 1 (Bierman
1977, chapter V).  The payload comes first: the rows below its own hold what is known of all other
unknowns whatever the payload is, and the first ten what is known of the payload given the others.
So a payload that has changed is forgotten by replacing ten rows, exactly, and one that fades by
scaling them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from robot_identification.identification.rows.householder_kernels import fold_rows
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.parameters import LINK_PARAMETERS

_PAYLOAD = slice(0, LINK_PARAMETERS)


@by_value
@dataclass(frozen=True)
class Knowledge:
    """Knowledge of all unknowns, the payload's ten first.

    Attributes:
        triangle: (unknowns + 1, unknowns + 1) upper triangular [R z; 0 r] with the root r of the
            sum of squares that is left.
        prior: (unknowns,) standard deviations before any row.
    """

    triangle: Array
    prior: Array

    @classmethod
    def before(cls, prior: Array) -> Knowledge:
        """Return what is known before any row: all unknowns are 0 but for their deviations.

        Args:
            prior: (unknowns,) deviations.
        """
        triangle = np.zeros((len(prior) + 1, len(prior) + 1))
        triangle[:-1, :-1] = np.diag(1.0 / prior)
        return cls(read_only(triangle), read_only(prior))

    def told(self, rows: Array) -> Knowledge:
        """Return what is known with rows besides.

        Args:
            rows: (rows, unknowns + 1) independent ones, with errors of variance 1.
        """
        if not len(rows):
            return self
        triangle = np.array(self.triangle)
        fold_rows(triangle, np.array(rows.T, order="C"), np.ones(len(rows), dtype=np.bool_))
        return Knowledge(read_only(triangle), self.prior)

    def with_new_payload(self) -> Knowledge:
        """Return what is known when there is another payload, of which nothing is known."""
        return self._with_payload(0.0)

    def faded(self, payload: float, others: float = 1.0) -> Knowledge:
        """Return what is known when rows count less than they did.

        What was known before any row stays.

        Args:
            payload: factor on the weight of the payload's rows, given all others.
            others: factor on that of all rows.
        """
        known = self._with_payload(payload)
        if others >= 1.0:
            return known
        triangle = np.sqrt(others) * known.triangle
        return Knowledge(read_only(triangle), self.prior).told(
            np.sqrt(1.0 - others) * self._prior_rows()
        )

    def drifted(self, directions: Array) -> Knowledge:
        """Return what is known after unknowns have changed by chance.

        Args:
            directions: (unknowns, changes) what each of some independent changes of deviation 1
                adds to the unknowns.
        """
        changes = directions.shape[1]
        size = changes + len(self.triangle)
        rows = np.zeros((len(self.prior), size))
        rows[:, :changes] = -self.R @ directions
        rows[:, changes:] = self.triangle[:-1]
        triangle = np.zeros((size, size))
        triangle[:changes, :changes] = np.eye(changes)
        triangle[-1, -1] = self.triangle[-1, -1]
        fold_rows(triangle, np.array(rows.T, order="C"), np.ones(len(rows), dtype=np.bool_))
        return Knowledge(read_only(triangle[changes:, changes:]), self.prior)

    def passed(self, rates: slice, directions: Array, seconds: float) -> Knowledge:
        """Return what is known some time later of unknowns that change at rates.

        Args:
            rates: places of the rates, behind all that changes at them.
            directions: (unknowns, rates) what each rate adds to the unknowns in a second.
            seconds: that have passed.
        """
        triangle = np.array(self.triangle)
        triangle[:-1, rates] -= seconds * (self.R @ directions)
        return Knowledge(read_only(triangle), self.prior)

    def _with_payload(self, weight: float) -> Knowledge:
        if weight >= 1.0:
            return self
        triangle = np.array(self.triangle)
        triangle[_PAYLOAD] *= np.sqrt(weight)
        known = Knowledge(read_only(triangle), self.prior)
        return known.told(np.sqrt(1.0 - weight) * self._prior_rows()[_PAYLOAD])

    def _prior_rows(self) -> Array:
        rows = np.zeros((len(self.prior), len(self.prior) + 1))
        rows[:, :-1] = np.diag(1.0 / self.prior)
        return rows

    @property
    def R(self) -> Array:  # noqa: N802 (as in the equations)
        """(unknowns, unknowns) triangular factor."""
        return self.triangle[:-1, :-1]

    @property
    def square(self) -> float:
        """Sum of squares that is left of all rows."""
        return float(self.triangle[-1, -1] ** 2)

    @cached_property
    def values(self) -> Array:
        """(unknowns,) what they are likely to be."""
        return read_only(scipy.linalg.solve_triangular(self.R, self.triangle[:-1, -1]))

    @cached_property
    def payload_root(self) -> Array:
        """(10, unknowns) P with P P^T the covariance of the payload."""
        unit = np.eye(len(self.prior), LINK_PARAMETERS)
        return read_only(scipy.linalg.solve_triangular(self.R, unit, trans="T").T)

    def payload_factor(self) -> Array:
        """Return the (10, 11) triangular factor [R z] of the payload alone."""
        root = np.linalg.qr(self.payload_root.T, mode="r")  # P P^T = root^T root
        factor = np.zeros((LINK_PARAMETERS, LINK_PARAMETERS + 1))
        factor[:, :-1] = scipy.linalg.solve_triangular(root, np.eye(LINK_PARAMETERS), trans="T")
        factor[:, -1] = factor[:, :-1] @ self.values[_PAYLOAD]
        return factor

    def seen(self, regressors: Array) -> Array:
        """Return (rows, unknowns) U with U U^T the covariance of what regressors predict.

        Args:
            regressors: (rows, unknowns).
        """
        return np.asarray(scipy.linalg.solve_triangular(self.R, regressors.T, trans="T").T)
