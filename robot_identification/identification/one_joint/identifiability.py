"""Identifiability of the parameters of a block, and refusals where they are not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_identification.errors import NotExcitedError
from robot_identification.identification.one_joint.conversion import JointwiseParameters
from robot_identification.identification.rows.factor import JointFactor, silent_columns
from robot_identification.robot.arrays import Array

_INVOLVED = 0.1
# A column-scaled system worse than this is told by rounding and by what filters leave of other
# motions, not by motion of its own.
_FAINTEST = 1e-6


def column_scaled(A: Array) -> tuple[Array, Array]:
    """Return a matrix with columns of unit norm, zero ones left, and the norms."""
    norms = np.linalg.norm(A, axis=0)
    return A / np.where(norms > 0.0, norms, 1.0), norms


def untold(A: Array, names: Sequence[str], tolerance: float) -> tuple[list[str], float]:
    """Return the parameters that a system does not identify, and its scaled condition number.

    Args:
        A: (rows, parameters).
        names: names of the parameters.
        tolerance: singular values of the column-scaled system up to this share of the largest one
            count as zero; a parameter is not told if it takes part in one of their directions.
    """
    if not names:
        return [], 1.0
    scaled, norms = column_scaled(A)
    silent = silent_columns(norms, len(A))
    _, found, directions = np.linalg.svd(np.linalg.qr(scaled, mode="r"), full_matrices=True)
    values = np.zeros(len(names))
    values[: len(found)] = found
    lost = values <= tolerance * values[0]
    share = np.abs(directions[lost]).max(axis=0, initial=0.0)
    missing = [n for n, s, q in zip(names, share, silent, strict=True) if q or s > _INVOLVED]
    condition = float(values[0] / values[-1]) if values[-1] > 0.0 else float("inf")
    return missing, condition


def refuse_untold(
    parameters: JointwiseParameters, factors: Sequence[JointFactor], matrices: Sequence[Array]
) -> None:
    """Refuse efforts that do not tell their own blocks.

    Args:
        parameters: what is to be told.
        factors: one factor per joint.
        matrices: per joint its (rows, rank) system in all parameters.

    Raises:
        NotExcitedError: naming the joints, and the parameters that are not identifiable.
    """
    missing: list[str] = []
    joints: list[str] = []
    worst = 1.0
    for j, (factor, matrix) in enumerate(zip(factors, matrices, strict=True)):
        own = parameters.block(j)
        names = [parameters.names[i] for i in own]
        here, condition = untold(matrix[:, own], names, _FAINTEST)
        if factor.rows < len(names) and not here:
            here = names
        missing += here
        if here:
            joints.append(factor.joint)
        worst = max(worst, condition)
    if missing:
        raise NotExcitedError(missing, worst, joints)


def refuse_drowned(
    parameters: JointwiseParameters,
    factor: JointFactor,
    B: Array,
    covariance: Array,
    worst_condition: float,
) -> None:
    """Refuse later blocks whose errors are larger than the effort that they are taken from.

    Args:
        parameters: what is to be told.
        factor: of the joint whose effort it is.
        B: (rows, later) what later parameters do to the effort.
        covariance: (later, later) covariance of the later parameters.
        worst_condition: the worst among the systems that told them.

    Raises:
        NotExcitedError: naming the later parameters and their joints.
    """
    errors = np.linalg.norm(B, axis=0) * np.sqrt(np.diag(covariance))
    drowning = np.flatnonzero(errors > factor.effort_norm)
    if drowning.size:
        places = parameters.rank - len(errors) + drowning
        robot = parameters.base.robot
        joints = [robot.joint_names[joint] for joint in np.unique(parameters.blocks[places])]
        raise NotExcitedError([parameters.names[i] for i in places], worst_condition, joints)
