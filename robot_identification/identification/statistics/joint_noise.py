"""The noise of every joint's rows, by which weighted least squares weights them.

It is the standard deviation of the residual that ordinary least squares on the rows of the joint
alone leaves (Gautier et al. 2013, eq. 20).  Rows that are hardly more than the columns that they
fit leave none, whatever their noise: the fit follows it.  A weight from such a residual would make
these few rows count for more than all others, without having earned it.  Neither do efforts that
are explained to rounding earn one, as those of a sensor that is stuck: its offset explains them.
Such a joint, and one with too few degrees of freedom, is therefore taken for as noisy, beside its
effort, as the noisiest of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.errors import AbsurdSamplesError, NoEffortError
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.robot.arrays import Array, by_value, read_only

# A variance from fewer degrees of freedom is off by half of its value, and more.
LEAST_FREEDOM = 8
# What is left of efforts by a model that explains them to rounding, as a part of the effort.
_EXACT = 1e-12
# No joint is taken for quieter than this part of the noisiest.
_QUIETEST = 1e-9


@by_value
@dataclass(frozen=True)
class JointNoise:
    """The noise of the rows of every joint.

    Attributes:
        deviations: (joints,) standard deviations in N m or N; ones where there is nothing to tell
            them from: every effort is explained to rounding, or no joint has enough rows.
        told: (joints,) whether they are those of the joint's own rows.
        exact: (joints,) whether its own parameters explain the efforts of a joint to rounding.
    """

    deviations: Array
    told: npt.NDArray[np.bool_]
    exact: npt.NDArray[np.bool_]


def joint_noise(factors: Sequence[JointFactor]) -> JointNoise:
    """Return the noise of the rows of every joint.

    Args:
        factors: one factor per joint.
    """
    norms = np.array([factor.own_fit[0] for factor in factors])
    freedom = np.array([factor.rows - factor.own_fit[1] for factor in factors])
    rows = np.array([max(factor.rows, 1) for factor in factors])
    efforts = np.array([factor.effort_norm for factor in factors])
    enough = (freedom >= LEAST_FREEDOM) & (efforts > 0.0)
    exact = enough & (norms <= np.maximum(_EXACT, rows * np.finfo(float).eps) * efforts)
    told = enough & ~exact
    if not told.any():
        return JointNoise(read_only(np.ones(len(factors))), told, exact)
    share = float(np.max(norms[told] / efforts[told]))
    own = norms / np.sqrt(np.maximum(freedom, 1))
    largest = float(own[told].max())
    # A joint without a row, or without effort in its few rows, has nothing to be weighted.
    taken = np.where(efforts > 0.0, share * efforts / np.sqrt(rows), largest)
    found = np.where(told, own, taken)
    return JointNoise(read_only(np.maximum(found, _QUIETEST * largest)), told, exact)


def weight_warnings(factors: Sequence[JointFactor]) -> tuple[str, ...]:
    """Return which joints do not tell how they should be weighted, and why.

    Args:
        factors: one factor per joint, of an estimate by weighted least squares.
    """
    noise = joint_noise(factors)
    some = bool(noise.told.any())
    if some:
        taken = "taken for as noisy, beside its effort, as the noisiest of the others"
    else:
        taken = "all joints are weighted alike, as by ordinary least squares"
    exact = [f.joint for f, is_exact in zip(factors, noise.exact, strict=True) if is_exact]
    few = [
        f"{factor.joint} ({factor.rows} rows, {factor.own_fit[1]} columns)"
        for factor, known in zip(factors, noise.told | noise.exact, strict=True)
        if factor.rows and not known
    ]
    told = []
    if few:
        told.append(f"too few rows to tell the noise of {', '.join(few)}; {taken}: record longer")
    if exact and some:
        told.append(
            f"the efforts of {', '.join(exact)} are explained to rounding, as no measured ones "
            f"are; {taken}: see whether they are constant"
        )
    return tuple(told)


def refuse_silent_joints(
    groups: Sequence[Sequence[JointFactor]], names: Sequence[str] = ("",)
) -> None:
    """Refuse recordings in which the efforts of a joint are zero throughout.

    Args:
        groups: for each recording one factor per joint; a joint without rows says nothing.
        names: (groups,) names of the recordings.

    Raises:
        NoEffortError: naming the first such recording, and its joints.
    """
    for name, factors in zip(names, groups, strict=True):
        there = [factor for factor in factors if factor.rows]
        silent = [factor.joint for factor in there if factor.effort_norm == 0.0]
        if silent:
            raise NoEffortError(silent, name, every=len(silent) == len(there))


def refuse_absurd_samples(
    groups: Sequence[Sequence[JointFactor]], names: Sequence[str] = ("",)
) -> None:
    """Refuse recordings whose rows are not finite, though every sample is.

    Args:
        groups: for each recording one factor per joint.
        names: (groups,) names of the recordings.

    Raises:
        AbsurdSamplesError: naming the first such recording, and its joints.
    """
    for name, factors in zip(names, groups, strict=True):
        joints = [factor.joint for factor in factors if not np.isfinite(factor.triangle).all()]
        if joints:
            raise AbsurdSamplesError(joints, name)
