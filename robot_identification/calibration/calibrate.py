"""Calibration: standard parameters from an identification and a prior, for files and nodes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from robot_identification.calibration.calibrated import NOTABLE_COST, CalibratedParameters
from robot_identification.calibration.consistency.boxes import Boxes
from robot_identification.calibration.consistency.conditions import (
    APART,
    CENTRE,
    FRICTION,
    LINK,
    conditions,
)
from robot_identification.calibration.consistency.program import (
    Problem,
    Publication,
    owners,
    publish,
)
from robot_identification.calibration.consistency.scales import scales
from robot_identification.calibration.nearest import Nearest, nearest
from robot_identification.calibration.prior import Prior
from robot_identification.calibration.spread import spread
from robot_identification.calibration.standard import relative_distance
from robot_identification.calibration.verdicts import Evidence, Verdict, verdicts
from robot_identification.errors import CancelledError, NotExcitedError
from robot_identification.identification.belonging import effort_meaning_of
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.identification.estimators.least_squares import relative_error
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.result_settings import settings_of
from robot_identification.identification.source import SPOILT
from robot_identification.robot.arrays import Array, read_only
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.joint_terms import TERMS, SignCondition
from robot_identification.settings import Settings, setting

_NOTABLE_LOSS = 0.05
_OF_ANY_SIGN = tuple(term.name for term in TERMS if term.sign is SignCondition.ANY)

Cancelled = Callable[[], bool]


@dataclass(frozen=True)
class CalibrationSettings(Settings):
    """Which of the parameters that explain the data are looked for."""

    space: Literal["base", "essential"] = setting(
        "base: the nearest to the prior; essential: those that change its essential columns only",
        "essential",
    )
    consistent: bool = setting("every link and drive has to be able to exist", True)


def calibrate(
    robot: RobotModel,
    result: IdentificationResult,
    prior: Prior | None = None,
    *,
    space: str = CalibrationSettings.space,
    consistent: bool = CalibrationSettings.consistent,
    essential: EliminationRule | None = None,
    boxes: Boxes | None = None,
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
        consistent: whether every link and drive has to be physically consistent.
        essential: how the essential parameters are found; by default as in the result, else by
            the ratio of the standard deviations.
        boxes: link name -> box that must hold its centre of mass, where consistent.
        cancelled: asked now and then whether to stop.

    Raises:
        SettingError: a setting is not possible.
        ResultMismatchError: the result or the prior belongs to a robot with other parameters, or
            the result to one with another geometry.
        NotExcitedError: the data do not determine every base parameter.
        CalibrationError: no consistent parameters were found.
        SolverMissingError: they need the solver, and it is not installed.
        CancelledError: ``cancelled`` says so.
    """
    begin = time.monotonic()
    CalibrationSettings.of({"space": space, "consistent": consistent})
    try:
        found = nearest(robot, result, prior, space=space, essential=essential)
        _check_cancelled(cancelled)
        problem = Problem(
            robot=robot,
            system=found.system,
            prior=found.prior,
            scales=scales(robot, found.prior, result.regrouping, found.estimate),
            conditions=conditions(robot, boxes),
        )
        published = publish(problem, found.values, consistent=consistent, boxes=boxes)
        calibrated = _calibrated(result, problem, found, published, space)
    except np.linalg.LinAlgError as error:  # its factors are singular, or near an overflow
        raise NotExcitedError(result.regrouping.names, math.inf) from error
    return replace(
        calibrated,
        seconds=time.monotonic() - begin,
        warnings=_warnings(robot, result, calibrated),
    )


def _calibrated(
    result: IdentificationResult,
    problem: Problem,
    found: Nearest,
    published: Publication,
    space: str,
) -> CalibratedParameters:
    """Return the published parameters with what each rests on, what they cost and how far."""
    robot, before, free = problem.robot, problem.prior, found.values
    chosen = published.values[robot.standard_indices]
    noise = spread(problem, result, found.gain)
    moving = noise.enters(problem.sizes)
    evidence = _evidence(result, found, space, moving)
    rests_on = verdicts(evidence, before, chosen, problem.sizes)
    rests_on_data = moving & np.isin(rests_on, (Verdict.IDENTIFIED, Verdict.ESSENTIAL))
    projection, factors = result.regrouping.projection, result.measured_triangles("calibrate")
    return CalibratedParameters(
        robot=robot.name,
        robot_digest=robot.digest,
        sources=result.sources,
        joint_names=robot.active_names,
        names=robot.all_parameter_names,
        values=published.values,
        std=_in_full(robot, np.where(rests_on_data, noise.std, np.nan)),
        std_robust=_in_full(robot, np.where(rests_on_data, noise.std_robust, np.nan)),
        model=tuple(robot.standard_indices.tolist()),
        verdicts=rests_on,
        identified_base=read_only(found.estimate),
        prior=before,
        space=space,
        essential=tuple(np.array(result.regrouping.names)[found.elimination.kept].tolist()),
        checks=published.checks,
        step=published.step,
        active_links=owners(published.active, LINK, APART, CENTRE),
        active_drives=owners(published.active, FRICTION, *(term.label for term in TERMS)),
        error_identified=relative_error(factors, found.estimate),
        error_free=relative_error(factors, projection @ free),
        error=relative_error(factors, projection @ chosen),
        distance_free=relative_distance(free, before.values, before.known),
        distance_to_prior=relative_distance(chosen, before.values, before.known),
        description=robot,
        processing=settings_of(result),
        efforts=effort_meaning_of(result),
        spread=noise,
        own_law=result.friction is not None,
    )


def _in_full(robot: RobotModel, values: Array) -> Array:
    """Return (parameters of the full regressor,) values, NaN for what is not in the model."""
    full = np.full(len(robot.all_parameter_names), np.nan)
    full[robot.standard_indices] = values
    return read_only(full)


def _evidence(
    result: IdentificationResult, found: Nearest, space: str, moving: npt.NDArray[np.bool_]
) -> Evidence:
    names = result.regrouping.standard_names
    estimate, essential = found.estimate, found.elimination
    return Evidence(
        projection=result.regrouping.projection,
        leading=np.array([names.index(name) for name in result.regrouping.leading]),
        estimate=found.reduced.values if space == "essential" else estimate,
        std=found.reduced.larger_std,
        estimated=found.taken,
        essential=essential.kept,
        moving=moving,
    )


def _warnings(
    robot: RobotModel, result: IdentificationResult, calibrated: CalibratedParameters
) -> tuple[str, ...]:
    """Return what a user should know before trusting the parameters."""
    lines = [warning for warning in result.warnings if SPOILT in warning]
    if result.alteration_warning:
        lines.append(result.alteration_warning)
    lines += result.remarks_on(robot)
    if not calibrated.checks.consistent:
        lines.append("not physically consistent: " + "; ".join(calibrated.checks.problems))
    if calibrated.space == "essential" and calibrated.space_cost > NOTABLE_COST:
        lines.append(
            f"the essential space makes the error {100.0 * calibrated.space_cost:.0f} % worse: "
            f"{calibrated.error_free.total:.4g} of the efforts stay unexplained, "
            f"{calibrated.error_identified.total:.4g} by the identified parameters; "
            "choose the space base (--space base; field space of ~/calibrate), or a larger ratio "
            "(--essential-threshold of the command calibrate)"
        )
    if calibrated.error_increase > _NOTABLE_LOSS:
        lines.append(
            f"consistency costs {100.0 * calibrated.error_increase:.2g} % of the error: "
            "the model lacks something, or the prior or the data are wrong for "
            + ", ".join((*calibrated.active_links, *calibrated.active_drives))
            + _held_too_heavy(robot, calibrated)
        )
    free = [
        n
        for n, known in zip(calibrated.prior.names, calibrated.prior.known, strict=True)
        if not known and not n.startswith(_OF_ANY_SIGN)
    ]
    if calibrated.prior.source and free:
        lines.append(f"the prior gives no value for {', '.join(free)}; they were left free")
    return tuple(lines)


def _held_too_heavy(robot: RobotModel, calibrated: CalibratedParameters) -> str:
    """Return which links may be held back by what is held on them; empty where none may."""
    links = [
        joint.link
        for joint in robot.joints
        if joint.name in robot.held and joint.link in calibrated.active_links
    ]
    if not links:
        return ""
    return (
        f"; or the URDF states too large inertials of what fixed_joints hold on {', '.join(links)}"
    )


def _check_cancelled(cancelled: Cancelled | None) -> None:
    if cancelled is not None and cancelled():
        raise CancelledError("calibration cancelled")
