"""The parameters nearest to a prior that explain an identification, consistent or not."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from robot_identification.calibration.prior import Prior, complete_drives
from robot_identification.calibration.standard import StandardSystem, prior_gain, space_gain
from robot_identification.calibration.verdicts import UNTRUSTED
from robot_identification.errors import ResultMismatchError
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.belonging import refuse_other_geometry
from robot_identification.identification.estimators.choice import method_of
from robot_identification.identification.estimators.essential import (
    Elimination,
    EliminationRule,
    eliminate,
    estimate_of,
)
from robot_identification.identification.estimators.least_squares import Estimate
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.rows.factor import stack
from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.model import RobotModel


@by_value
@dataclass(frozen=True)
class Nearest:
    """The parameters nearest to a prior on a space, before consistency is asked for.

    Attributes:
        system: the system that they solve.
        prior: what is known before, drive inertias and friction of the identification included.
        estimate: (base,) estimate that the system contains.
        elimination: the essential parameters.
        taken: (base,) which base parameters are taken from the data; the others keep what the
            prior gives.
        reduced: estimate of the parameters that are taken, zero for the others.
        gain: (parameters, base) matrix that turns unexplained torque into a correction.
        values: (parameters of the model,) the parameters.
    """

    system: StandardSystem
    prior: Prior
    estimate: Array
    elimination: Elimination
    taken: npt.NDArray[np.bool_]
    reduced: Estimate
    gain: Array
    values: Array


def nearest(
    robot: RobotModel,
    result: IdentificationResult,
    prior: Prior | None,
    *,
    space: str,
    essential: EliminationRule | None,
) -> Nearest:
    """Return the parameters nearest to a prior that explain what was identified.

    Gautier and Venture 2013, eq. 30 on the base space, eq. 32 on the essential one.

    Args:
        robot: the robot.
        result: an identification of it.
        prior: what is known of its parameters; None: nothing.
        space: ``base`` or ``essential``.
        essential: how the essential parameters are found; None: as in the result, else by the
            ratio of the standard deviations.

    Raises:
        ResultMismatchError: the result or the prior belongs to a robot with other parameters, or
            the result to one with another geometry.
        NotExcitedError: the data do not determine every base parameter.
    """
    before = _matching(robot, result, prior)
    system, estimate = _system(result)
    before = complete_drives(before, result.regrouping, estimate)
    elimination = _essential(result, essential)
    taken = _taken(result, before, elimination, space)
    reduced = result.estimate
    if space == "essential":
        reduced = elimination.estimate
        if not np.array_equal(taken, elimination.kept):
            names, weights = result.regrouping.names, result.estimate.weights
            factors = result.triangles("calibrate")
            reduced = estimate_of(factors, names, weights, elimination, taken)
    gain = _gain(system, before, result, reduced, taken, space)
    values = system.corrected(before.values, gain)
    return Nearest(system, before, estimate, elimination, taken, reduced, gain, values)


def _matching(robot: RobotModel, result: IdentificationResult, prior: Prior | None) -> Prior:
    names = result.regrouping.standard_names
    if names != robot.standard_names or result.joint_names != robot.active_names:
        raise ResultMismatchError(
            robot.name,
            f"the result belongs to {result.robot}, whose joints or standard parameters differ; "
            "give the robot file that it was identified with",
        )
    refuse_other_geometry(robot, result, base_parameters(robot))
    before = prior or Prior.none(names)
    if before.names != names:
        raise ResultMismatchError(robot.name, "the prior's standard parameters are another robot's")
    return before


def _system(result: IdentificationResult) -> tuple[StandardSystem, Array]:
    """Return the system to solve and the (base,) estimate that it contains.

    Other methods than least squares on these factors have estimates of their own; the factors then
    say how much a departure from them matters.
    """
    system = StandardSystem.of(result)
    base = len(result.regrouping.names)
    R = stack(result.triangles("calibrate"), base, list(result.estimate.weights))[:-1, :-1]
    if method_of(result.method).stacked:
        return system, np.asarray(np.linalg.solve(R, system.right))
    return replace(system, right=R @ result.estimate.values), result.estimate.values


def _essential(result: IdentificationResult, rule: EliminationRule | None) -> Elimination:
    if rule is None and result.elimination is not None:
        return result.elimination
    names, weights = result.regrouping.names, result.estimate.weights
    return eliminate(result.triangles("calibrate"), names, weights, rule)


def _taken(
    result: IdentificationResult, prior: Prior, essential: Elimination, space: str
) -> npt.NDArray[np.bool_]:
    """Return (base,) which base parameters are taken from the data.

    On the essential space these are the essential ones, and the others keep their prior value.
    Where nothing is known that value is zero, which is worse than an estimate that is several
    standard deviations away from it: what the data determine by themselves is taken then, too.
    """
    if space == "base":
        return np.ones(len(result.regrouping.names), dtype=np.bool_)
    if prior.known.any():
        return essential.kept
    estimate = result.estimate
    std = (
        estimate.std
        if estimate.std_robust is None
        else np.maximum(estimate.std, estimate.std_robust)
    )
    determined = std <= UNTRUSTED * np.abs(estimate.values)
    return np.asarray(essential.kept | determined)


def _gain(
    system: StandardSystem,
    prior: Prior,
    result: IdentificationResult,
    reduced: Estimate,
    taken: npt.NDArray[np.bool_],
    space: str,
) -> Array:
    """Return the (parameters, base) matrix that turns unexplained torque into a correction."""
    if space == "base":
        return prior_gain(system, prior.known)
    weights = np.zeros(len(prior.names))
    leading = [prior.names.index(name) for name in result.regrouping.leading]
    weights[leading] = np.where(taken, reduced.values, 0.0)
    return space_gain(system, weights)
