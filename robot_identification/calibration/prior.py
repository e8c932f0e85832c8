"""Priors: values of standard parameters that are known before the identification."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from robot_identification.errors import ShapeError
from robot_identification.identification.regrouping import Regrouping
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.joint_terms import TERMS, SignCondition

_ROUNDING = 1e-12


@by_value
@dataclass(frozen=True)
class Prior:
    """Prior values of the standard parameters of a model.

    Attributes:
        names: (parameters,) names of the standard parameters.
        values: (parameters,) prior values, SI units; 0 where nothing is known.
        known: (parameters,) whether there is a prior value; the others are free, and left out of
            every distance.
        identified: (parameters,) whether the value was taken from the identification itself.
        source: the file that the values come from; empty without one.
        digest: SHA-256 of that file, hexadecimal.
    """

    names: tuple[str, ...]
    values: Array
    known: npt.NDArray[np.bool_]
    identified: npt.NDArray[np.bool_]
    source: str = ""
    digest: str = ""

    def __post_init__(self) -> None:
        known = read_only(self.known, np.bool_)
        identified = read_only(self.identified, np.bool_)
        expected = (len(self.names),)
        for name, array in (("values", self.values), ("known", known), ("identified", identified)):
            if np.shape(array) != expected:
                raise ShapeError(name, np.shape(array), str(expected))
        object.__setattr__(self, "known", known)
        object.__setattr__(self, "identified", identified)
        object.__setattr__(self, "values", read_only(np.where(known, self.values, 0.0)))

    @classmethod
    def none(cls, names: tuple[str, ...]) -> Prior:
        """Return the prior that knows nothing."""
        flags = np.zeros(len(names), dtype=np.bool_)
        return cls(names, np.zeros(len(names)), flags, flags)

    @classmethod
    def given(
        cls,
        names: tuple[str, ...],
        values: npt.ArrayLike,
        known: npt.ArrayLike,
        source: str = "",
        digest: str = "",
    ) -> Prior:
        """Return a prior whose values come from a file or a caller; see the attributes.

        Raises:
            ShapeError: an array does not have one entry per name.
        """
        flags = np.asarray(known, dtype=np.bool_)
        nothing = np.zeros(len(names), dtype=np.bool_)
        return cls(names, np.asarray(values, float), flags, nothing, source, digest)

    def in_full(self, robot: RobotModel) -> Array:
        """Return the values in the order of ``robot.all_parameter_names``, 0 where unknown."""
        values = np.zeros(len(robot.all_parameter_names))
        values[robot.standard_indices] = self.values
        return read_only(values)

    def known_in_full(self, robot: RobotModel) -> npt.NDArray[np.bool_]:
        """Return which of ``robot.all_parameter_names`` have a prior value."""
        known = np.zeros(len(robot.all_parameter_names), dtype=np.bool_)
        known[robot.standard_indices] = self.known
        return known

    def base_values(self, regrouping: Regrouping) -> Array:
        """Return the (base,) base parameters that the values make; NaN where some are unknown.

        Args:
            regrouping: what the base parameters stand for.
        """
        projection = regrouping.projection
        unknown = (projection[:, ~self.known] != 0.0).any(axis=1)
        sums = projection @ self.values
        rounding = np.abs(sums) <= _ROUNDING * (np.abs(projection) @ np.abs(self.values))
        return read_only(np.where(unknown, np.nan, np.where(rounding, 0.0, sums)))

    def sensitivity(self, regrouping: Regrouping) -> Array:
        """Return the (parameters, base) derivative of the values by the identified base parameters.

        Zero but for the values that were taken from the identification.

        Args:
            regrouping: what the base parameters stand for.
        """
        projection = regrouping.projection
        derivative = np.zeros(projection.T.shape)
        for column in np.flatnonzero(self.identified):
            (base,) = np.flatnonzero(projection[:, column])
            derivative[column, base] = 1.0 / projection[base, column]
        return read_only(derivative)


def complete_drives(prior: Prior, regrouping: Regrouping, estimate: Array) -> Prior:
    """Take drive inertias and friction that a prior lacks from a first identification.

    Manufacturers give no friction and no drive inertias; the source takes them from a first
    weighted least squares (Gautier and Venture 2013, section V-B).  A parameter that is grouped
    with others gets what the prior values of these leave of the base parameter; where one of these
    is not known either, or where the result could not be a drive's (not positive), it stays free.
    A prior that knows nothing stays so.

    Args:
        prior: the prior.
        regrouping: what the base parameters stand for.
        estimate: (base,) their first estimate.
    """
    if not prior.known.any():
        return prior
    projection = regrouping.projection
    values, known, identified = prior.values.copy(), prior.known.copy(), prior.identified.copy()
    for column, name in enumerate(prior.names):
        if known[column] or not _signed(name):
            continue
        base = np.flatnonzero(projection[:, column])
        if len(base) != 1:
            continue
        row = projection[base[0]]
        others = np.flatnonzero(row)
        others = others[others != column]
        if not prior.known[others].all():
            continue
        value = (estimate[base[0]] - row[others] @ prior.values[others]) / row[column]
        if value > 0.0:
            values[column], known[column], identified[column] = value, True, True
    return replace(prior, values=values, known=known, identified=identified)


def _signed(name: str) -> bool:
    """Tell whether a parameter is of a term, or a coupling of its kind, whose sign is known."""
    # Names of couplings begin with those of terms; so does Fva with Fv, and counts by itself.
    terms = [term for term in TERMS if name.startswith(term.name)]
    longest = max(terms, key=lambda term: len(term.name), default=None)
    return longest is not None and longest.sign is not SignCondition.ANY
