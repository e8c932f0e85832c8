"""Verdicts on standard parameters: what the value of each rests on, data or prior."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from robot_identification.calibration.prior import Prior
from robot_identification.calibration.standard import decompose
from robot_identification.robot.arrays import Array, by_value

_SAME = 1e-9
_MOVED = 0.02  # of the size of its link: a parameter that moved by more is not the prior's
_CHANGED = 3.0  # standard deviations by which consistency may change what the data determined


UNTRUSTED = 0.3  # relative standard deviation above which the data do not determine a value


class Verdict(IntEnum):
    """The constants of the message InertialParameters."""

    IDENTIFIED = 0
    ESSENTIAL = 1
    PRIOR_DOMINATED = 2
    NOT_IDENTIFIABLE = 3


@by_value
@dataclass(frozen=True)
class Evidence:
    """Figures of the verdicts.

    Attributes:
        projection: (base, parameters) [1 beta]: base = projection standard.
        leading: (base,) columns of the standard parameters that lead the base parameters.
        estimate: (base,) least-squares estimate of the base parameters.
        std: (base,) its standard deviations, the larger where there are two.
        estimated: (base,) whether the calibration took a base parameter from the data; on the
            essential space the others kept their prior value.
        essential: (base,) whether a base parameter is essential.
        moving: (parameters,) whether the data enter into the nearest parameters.
    """

    projection: Array
    leading: npt.NDArray[np.intp]
    estimate: Array
    std: Array
    estimated: npt.NDArray[np.bool_]
    essential: npt.NDArray[np.bool_]
    moving: npt.NDArray[np.bool_]


def verdicts(evidence: Evidence, prior: Prior, values: Array, sizes: Array) -> tuple[Verdict, ...]:
    """Return the verdict on every standard parameter.

    - ``NOT_IDENTIFIABLE``: it is in no base parameter; no motion could tell.
    A base parameter is trusted where the calibration took it from the data and it is essential or
    known to better than 30 %.

    - ``IDENTIFIED``: trusted base parameters fix it by themselves, and consistency has not changed
      it by more than three standard deviations.
    - ``ESSENTIAL``: it is grouped with others in a trusted base parameter, and leads it and takes
      up what the data say of it, was moved away from its prior value, or has none; what it is by
      itself is the prior's word.
    - ``PRIOR_DOMINATED``: everything else; its value is the prior's, or nearly so (where there is
      no prior, that of a nominal machine), or the bound that consistency sets.

    Args:
        evidence: the identification.
        prior: the prior.
        values: (parameters,) the calibrated values.
        sizes: (parameters,) their sizes.
    """
    P = evidence.projection
    alone = individually_identifiable(P)
    precise = evidence.std <= UNTRUSTED * np.abs(evidence.estimate)
    trusted = evidence.estimated & (evidence.essential | precise)
    identified = np.zeros(len(alone), dtype=np.bool_)
    identified[alone] = _determined(evidence, trusted, values, alone)
    grouped = np.abs(P[trusted]).max(axis=0, initial=0.0) > 0.0
    leads = np.isin(np.arange(len(alone)), evidence.leading[trusted])
    leads &= evidence.moving
    moved = np.abs(values - prior.values) > _MOVED * sizes
    shared = grouped & ~alone & (leads | moved | ~prior.known)
    result = np.where(shared, Verdict.ESSENTIAL, Verdict.PRIOR_DOMINATED)
    result[identified] = Verdict.IDENTIFIED
    result[~P.any(axis=0)] = Verdict.NOT_IDENTIFIABLE
    return tuple(Verdict(int(v)) for v in result)


def individually_identifiable(projection: Array) -> npt.NDArray[np.bool_]:
    """Tell which standard parameters the base parameters fix one by one.

    Args:
        projection: (base, parameters) [1 beta].

    Returns:
        (parameters,) whether the parameter's unit vector lies in the row space.
    """
    silent = decompose(projection, rank=len(projection)).V2
    return np.asarray(np.linalg.norm(silent, axis=1) <= _SAME)


def _determined(
    evidence: Evidence,
    trusted: npt.NDArray[np.bool_],
    values: Array,
    alone: npt.NDArray[np.bool_],
) -> npt.NDArray[np.bool_]:
    """Tell which of the individually identifiable parameters the data determined."""
    unit = np.eye(len(alone))[:, alone]
    gain = np.linalg.lstsq(evidence.projection.T, unit, rcond=None)[0].T
    taken = ((np.abs(gain) <= _SAME) | trusted).all(axis=1)
    estimate, std = gain @ evidence.estimate, np.linalg.norm(gain * evidence.std, axis=1)
    kept = np.abs(values[alone] - estimate) <= _CHANGED * std + _SAME * np.abs(estimate)
    return np.asarray(taken & kept)
