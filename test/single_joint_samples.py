"""Triangular factors of samples that need no filter: exact ones, or those of a few instants."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.linalg

from robot_identification.dynamics.regressor import Regressor
from robot_identification.errors import ShapeError
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.rows.factor import JointFactor


def sample_factors(
    base: BaseParameters,
    q: npt.ArrayLike,
    qd: npt.ArrayLike,
    qdd: npt.ArrayLike,
    effort: npt.ArrayLike,
) -> tuple[JointFactor, ...]:
    """Return one factor per joint of samples that need no filter.

    Args:
        base: base parameters of the robot.
        q: (samples, joints) positions in rad or m.
        qd: (samples, joints) velocities.
        qdd: (samples, joints) accelerations.
        effort: (samples, joints) in N m or N.

    Raises:
        ShapeError: the arrays do not have the robot's number of joints or differ in shape.
    """
    regressor = Regressor(base.robot, base.base_columns)
    rows = regressor.dense(q, qd, qdd)
    y = np.asarray(effort, dtype=np.float64)
    if y.shape != rows.shape[:2]:
        raise ShapeError("effort", y.shape, str(rows.shape[:2]))
    factors = []
    for k, joint in enumerate(regressor.joint_rows):
        size = len(joint.columns) + 1
        stacked = np.column_stack([rows[:, k, joint.columns], y[:, k]])
        (triangle,) = scipy.linalg.qr(np.vstack([stacked, np.zeros((size, size))]), mode="r")
        name = base.robot.joint_names[k]
        factors.append(JointFactor(name, joint.columns, triangle[:size], len(y)))
    return tuple(factors)
