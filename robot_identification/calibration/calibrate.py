"""The one path from an identification and a prior to standard parameters, for files and nodes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from robot_identification.calibration.calibrated import CalibratedParameters
from robot_identification.calibration.conditions import (
    CENTRE,
    COULOMB,
    DRIVE_INERTIA,
    LINK,
    VISCOUS,
    Box,
    conditions,
)
from robot_identification.calibration.deviations import spread
from robot_identification.calibration.prior import Prior, complete_drives
from robot_identification.calibration.problem import Problem, owners
from robot_identification.calibration.publication import publish
from robot_identification.calibration.scales import scales
from robot_identification.calibration.standard import (
    StandardSystem,
    prior_gain,
    relative_distance,
    space_gain,
)
from robot_identification.calibration.verdict import (
    Evidence,
    Verdict,
    verdicts,
)
from robot_identification.errors import (
    CancelledError,
    ResultMismatchError,
    SettingError,
)
from robot_identification.identification.essential import (
    Elimination,
    EliminationRule,
    eliminate,
)
from robot_identification.identification.factor import stack
from robot_identification.identification.least_squares import relative_error
from robot_identification.identification.result import IdentificationResult
from robot_identification.robot.model import Array, RobotModel, read_only

SPACES = ("base", "essential")
_LEAST_SQUARES = ("ols", "wls")
_NOTABLE_LOSS = 0.05

Cancelled = Callable[[], bool]


def calibrate(
    robot: RobotModel,
    result: IdentificationResult,
    prior: Prior | None = None,
    *,
    space: str = "essential",
    consistent: bool = True,
    essential: EliminationRule | None = None,
    boxes: Mapping[str, Box] | None = None,
    cancelled: Cancelled | None = None,
) -> CalibratedParameters:
    """Find the standard parameters nearest to a prior that explain what was identified.

    On the base space they are the least-squares solution nearest to the prior (Gautier and Venture
    2013, eq. 30), on the essential space the prior with a correction on the essential columns only
    (eq. 32).  If they are to be consistent and are not, they are first moved where no torque shows
    it, and else by a semidefinite program with the least loss of fit.

    Args:
        robot: the robot.
        result: an identification of it.
        prior: what is known of its parameters; drive inertias and friction that it lacks are
            taken from the identification.  By default nothing is known.
        space: ``base`` or ``essential``.
        consistent: whether every link and drive has to be one that can exist.
        essential: how the essential parameters are found; by default as in the result, else by
            the ratio of the standard deviations.
        boxes: link name -> box that must hold its centre of mass, where consistent.
        cancelled: asked now and then whether to stop.

    Raises:
        SettingError: a setting is not possible.
        ResultMismatchError: the result or the prior belongs to a robot with other parameters.
        NotExcitedError: the data do not determine every base parameter.
        CalibrationError: no consistent parameters were found.
        SolverMissingError: they need the solver, and it is not installed.
        CancelledError: ``cancelled`` says so.
    """
    begin = time.monotonic()
    if space not in SPACES:
        raise SettingError("space", space, f"choose one of {', '.join(SPACES)}")
    before = _matching(robot, result, prior)
    system, estimate = _system(result)
    before = complete_drives(before, result.regrouping, estimate)
    elimination = _essential(result, essential)
    gain = _gain(system, before, result, elimination, space)
    free = before.values + gain @ (system.right - system.matrix @ before.values)
    _check_cancelled(cancelled)
    problem = Problem(
        robot=robot,
        system=system,
        prior=before,
        scales=scales(robot, before, result.regrouping, estimate),
        conditions=conditions(robot, boxes),
    )
    published = publish(problem, free, consistent=consistent, boxes=boxes)
    chosen = published.values[robot.standard_indices]
    noise = spread(problem, result, gain)
    moving = noise.enters(problem.sizes)
    evidence = _evidence(result, estimate, elimination, space, moving)
    found = verdicts(evidence, before, chosen, problem.sizes)
    rests_on_data = moving & np.isin(found, (Verdict.IDENTIFIED, Verdict.ESSENTIAL))
    projection = result.regrouping.projection
    calibrated = CalibratedParameters(
        robot=robot.name,
        robot_digest=robot.digest,
        sources=result.sources,
        joint_names=robot.joint_names,
        names=robot.all_parameter_names,
        values=published.values,
        std=_in_full(robot, np.where(rests_on_data, noise.std, np.nan)),
        std_robust=_in_full(robot, np.where(rests_on_data, noise.std_robust, np.nan)),
        model=tuple(robot.standard_indices.tolist()),
        verdicts=found,
        identified_base=read_only(estimate),
        prior=before,
        space=space,
        essential=tuple(np.array(result.regrouping.names)[elimination.kept].tolist()),
        checks=published.checks,
        step=published.step,
        active_links=owners(published.active, LINK, CENTRE),
        active_drives=owners(published.active, DRIVE_INERTIA, VISCOUS, COULOMB),
        error_identified=relative_error(result.factors, estimate),
        error_free=relative_error(result.factors, projection @ free),
        error=relative_error(result.factors, projection @ chosen),
        distance_free=relative_distance(free, before.values, before.known),
        distance_to_prior=relative_distance(chosen, before.values, before.known),
        seconds=time.monotonic() - begin,
    )
    return replace(calibrated, warnings=_warnings(robot, result, calibrated))


def _matching(robot: RobotModel, result: IdentificationResult, prior: Prior | None) -> Prior:
    names = result.regrouping.standard_names
    if names != robot.standard_names or result.joint_names != robot.joint_names:
        raise ResultMismatchError(
            robot.name,
            f"the result belongs to {result.robot}, whose joints or standard parameters differ; "
            "give the robot file that it was identified with",
        )
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
    R = stack(result.factors, base, list(result.estimate.weights))[:-1, :-1]
    if result.method in _LEAST_SQUARES:
        return system, np.asarray(np.linalg.solve(R, system.right))
    return replace(system, right=R @ result.estimate.values), result.estimate.values


def _essential(result: IdentificationResult, rule: EliminationRule | None) -> Elimination:
    if rule is None and result.elimination is not None:
        return result.elimination
    chosen = rule or EliminationRule()
    return eliminate(
        result.factors,
        result.regrouping.names,
        result.estimate.weights,
        rule=chosen.rule,
        threshold=chosen.threshold,
    )


def _gain(
    system: StandardSystem,
    prior: Prior,
    result: IdentificationResult,
    essential: Elimination,
    space: str,
) -> Array:
    """Return the (parameters, base) matrix that turns unexplained torque into a correction."""
    if space == "base":
        return prior_gain(system, prior.known)
    weights = np.zeros(len(prior.names))
    leading = [prior.names.index(name) for name in result.regrouping.leading]
    weights[leading] = np.where(essential.kept, essential.estimate.values, 0.0)
    return space_gain(system, weights)


def _in_full(robot: RobotModel, values: Array) -> Array:
    """Return (parameters of the full regressor,) values, NaN for what is not in the model."""
    full = np.full(len(robot.all_parameter_names), np.nan)
    full[robot.standard_indices] = values
    return read_only(full)


def _evidence(
    result: IdentificationResult,
    estimate: Array,
    essential: Elimination,
    space: str,
    moving: npt.NDArray[np.bool_],
) -> Evidence:
    names = result.regrouping.standard_names
    every = np.ones(len(estimate), dtype=np.bool_)
    return Evidence(
        projection=result.regrouping.projection,
        leading=np.array([names.index(name) for name in result.regrouping.leading]),
        estimate=essential.estimate.values if space == "essential" else estimate,
        std=essential.estimate.std if space == "essential" else result.estimate.std,
        estimated=essential.kept if space == "essential" else every,
        essential=essential.kept,
        moving=moving,
    )


def _warnings(
    robot: RobotModel, result: IdentificationResult, calibrated: CalibratedParameters
) -> tuple[str, ...]:
    """Return what a user should know before trusting the parameters."""
    lines = []
    if result.robot_digest and robot.digest and result.robot_digest != robot.digest:
        lines.append(
            f"the file of {robot.name} has changed since the identification; if more than "
            "processing or limits changed, identify again"
        )
    if not calibrated.checks.consistent:
        lines.append("not physically consistent: " + "; ".join(calibrated.checks.problems))
    if calibrated.error_increase > _NOTABLE_LOSS:
        lines.append(
            f"consistency costs {100.0 * calibrated.error_increase:.2g} % of the error: "
            "the model lacks something, or the prior or the data are wrong for "
            + ", ".join((*calibrated.active_links, *calibrated.active_drives))
        )
    free = [
        n
        for n, known in zip(calibrated.prior.names, calibrated.prior.known, strict=True)
        if not known and not n.startswith("off")
    ]
    if calibrated.prior.source and free:
        lines.append(f"the prior gives no value for {', '.join(free)}; they were left free")
    return tuple(lines)


def _check_cancelled(cancelled: Cancelled | None) -> None:
    if cancelled is not None and cancelled():
        raise CancelledError("calibration cancelled")
