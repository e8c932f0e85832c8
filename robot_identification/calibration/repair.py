"""Physically consistent standard parameters without loss of fit, where there are any.

Standard parameters can be moved along the null space of the factor without any torque showing it.
Gautier and Venture 2013, section V-B, adjust them there by hand until Sylvester's conditions hold,
and note that they depend on each other; here a semidefinite program moves them all at once.
"""

from __future__ import annotations

from robot_identification.calibration.problem import MARGIN, Problem
from robot_identification.calibration.semidefinite import least_squares
from robot_identification.calibration.standard import decompose
from robot_identification.robot.model import Array, read_only


def without_loss(problem: Problem, values: Array, margin: float = MARGIN) -> Array | None:
    """Move parameters along the null space of the factor until every condition holds.

    Of all parameters that meet the conditions with the margin, the nearest to the prior are chosen,
    each measured in the size of its link.

    Args:
        problem: what consistent parameters are sought for.
        values: (parameters of the model,) where to start; their torque is kept.
        margin: smallest eigenvalue asked for, relative to the sizes.

    Returns:
        (parameters of the model,) consistent parameters of the same torque; None where none exist.

    Raises:
        SolverMissingError: the solver is not installed.
    """
    sizes = problem.sizes
    silent = decompose(problem.system.projection * sizes, rank=len(problem.system.right)).V2
    if not silent.shape[1]:
        return None
    weight, target = problem.distance_rows()
    A = silent * weight[:, None]
    b = weight * (target - values / sizes)
    move = least_squares(A, b, problem.inequalities(values, sizes[:, None] * silent, margin))
    return None if move is None else read_only(values + sizes * (silent @ move))
