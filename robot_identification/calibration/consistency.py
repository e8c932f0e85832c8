"""Physically consistent standard parameters at the least loss of fit: a semidefinite program.

Where no consistent parameters have the torque that was identified, a semidefinite program gives up
as little of it as it must.  Its objective is the torque error itself, through the triangular
factor, and the distance to the prior.  (Projecting each link by itself after least squares can
wreck the prediction of the torque.)
"""

from __future__ import annotations

import numpy as np

from robot_identification.calibration.problem import MARGIN, Problem
from robot_identification.calibration.semidefinite import least_squares
from robot_identification.robot.model import Array, read_only


def with_least_loss(
    problem: Problem, values: Array, margin: float = MARGIN, softness: float = 1.0
) -> Array | None:
    """Find the consistent parameters that explain the torque best, near the prior.

    Minimises |R (chi - values)|^2 / s^2 + |w (chi / sizes - prior / sizes)|^2: the torque that the
    parameters change, in standard deviations of the residual, and the distance to the prior.  On
    the base parameters the first term is the torque error itself, up to a constant.

    Args:
        problem: what consistent parameters are sought for.
        values: (parameters of the model,) the parameters to be replaced; their torque is the aim.
        margin: smallest eigenvalue asked for, relative to the sizes.
        softness: factor on s; above 1 the problem is easier to solve, and the prior counts more.

    Returns:
        (parameters of the model,) consistent parameters; None where the solver fails.

    Raises:
        SolverMissingError: the solver is not installed.
    """
    sizes = problem.sizes
    W = problem.system.matrix * sizes / (softness * problem.noise)
    weight, target = problem.distance_rows()
    A = np.vstack([W, np.diag(weight)])
    b = np.concatenate([W @ (values / sizes), weight * target])
    zero = np.zeros(len(sizes))
    scaled = least_squares(A, b, problem.inequalities(zero, np.diag(sizes), margin))
    return None if scaled is None else read_only(sizes * scaled)
