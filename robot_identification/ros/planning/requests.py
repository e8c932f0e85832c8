"""Requests to plan a trajectory, and their answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from robot_identification.errors import SettingError, StaleStateError
from robot_identification.excitation.families.fourier_settings import FourierSettings
from robot_identification.excitation.objective.criterion import Criterion, Measure
from robot_identification.excitation.one_joint.plan import METHOD, OneJointPlan
from robot_identification.excitation.one_joint.settings import OneJointSettings
from robot_identification.excitation.plan import Plan
from robot_identification.excitation.plan_settings import FOURIER, PlanSettings, default_model
from robot_identification.excitation.search.optimizers import OPTIMIZERS
from robot_identification.excitation.search.points import PointSettings
from robot_identification.files.plans.plans import one_joint_plan_text, plan_text
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel
from robot_identification.ros.excitation.parameters import ExcitationParameters
from robot_identification.ros.messages.common import floats, stated
from robot_identification.ros.messages.trajectories import message_of
from robot_identification.ros.planning.planning import (
    Machine,
    PlanningJob,
    Sources,
    joints_without_room,
    limit_sources,
    wider_limits,
)
from robot_identification.ros.planning.worker import Planned
from robot_identification.settings import per_joint
from robot_identification.srv import PlanExcitation

OF_POINTS = ("model", "rows", "duration", "criterion", "optimizer", "starts")
OF_ONE_JOINT = ("locked", "profile", "travel", "stroke", "spread", "moves")


def refuse_fields(request: PlanExcitation.Request, names: tuple[str, ...], method: str) -> None:
    """Refuse what belongs to the other method.

    Raises:
        SettingError: one of these fields has a value.
    """
    for name in names:
        value = getattr(request, name)
        if value:
            raise SettingError(name, value, f"not for method {method}; leave it empty")


def one_joint_settings(
    request: PlanExcitation.Request, start: Array, cramped: tuple[str, ...] = ()
) -> OneJointSettings:
    """Return how a request wants the robot moved.

    Args:
        request: the request.
        start: (joints,) where the motion starts and ends.
        cramped: names of joints that have no room.

    Raises:
        SettingError: a field has a value that it cannot have, or belongs to the other method.
    """
    refuse_fields(request, OF_POINTS, METHOD)
    chosen = stated(request, OneJointSettings, OF_ONE_JOINT)
    return OneJointSettings(start=start, seed=request.seed, cramped=cramped, **chosen)


def fill_one_joint(response: PlanExcitation.Response, plan: OneJointPlan) -> str:
    """Fill in what only such a plan has, and return a summary."""
    response.condition_number = plan.condition_number
    response.rows = len(plan.schedule)
    response.optimizer = "exchange"
    response.unknown_base_parameters = list(plan.unknown)
    missing = f", {len(plan.unknown)} base parameters stay unknown" if plan.unknown else ""
    return (
        f"{len(plan.schedule)} experiments in {plan.trajectory.duration:.1f} s, worst condition "
        f"number {plan.condition_number:.4g}{missing}"
    )


POINTS = "points"


def job_of(
    request: PlanExcitation.Request,
    robot: RobotModel,
    values: ExcitationParameters,
    position: Array | None,
    problem: str = "",
) -> PlanningJob:
    """Return what is to be planned.

    Args:
        request: the request.
        robot: the robot.
        values: parameters of the node.
        position: (joints,) where the robot stands; None where that is not known.
        problem: why it is not known.

    Raises:
        SettingError: a field has a value that it cannot have.
        StaleStateError: the motion is to begin where the robot stands, but nobody knows where.
    """
    sources = Sources(
        values.robot,
        request.joint_limits or values.joint_limits,
        values.parameters_file,
        values.velocity_share,
        values.acceleration_share,
        per_joint("tracking_error_limit", values.tracking_error_limit, len(robot.joints)),
        cell=values.cell,
        clearance=values.clearance,
        effort_meaning=values.effort_meaning,
    )
    start = _start(request.start_position, robot, position, problem)
    if request.method == METHOD:
        settings = one_joint_settings(request, start, joints_without_room(sources))
        return PlanningJob(replace(sources, held=(*settings.locked, *settings.cramped)), settings)
    if request.method not in ("", POINTS):
        raise SettingError("method", request.method, f"choose {POINTS} or {METHOD}")
    return PlanningJob(sources, _points_settings(request, robot, values, start))


def _points_settings(
    request: PlanExcitation.Request, robot: RobotModel, values: ExcitationParameters, start: Array
) -> PlanSettings:
    refuse_fields(request, OF_ONE_JOINT, POINTS)
    fourier = _fourier(values)
    return PlanSettings(
        model=request.model or (default_model(robot) if fourier is None else "dynamic"),
        points=PointSettings(
            criterion=Criterion(Measure.named(request.criterion or Measure.SVD)),
            optimizers=_optimizers(request.optimizer),
            **{"starts": values.starts, **stated(request, PointSettings, ("starts", "seed"))},
        ),
        rows=request.rows or (values.rows if fourier is None else 0) or None,
        **stated(request, PlanSettings, ("duration",)),
        start=start,
        share=0.99,
        fourier=fourier,
    )


def _fourier(values: ExcitationParameters) -> FourierSettings | None:
    """Return the periods that the parameters of the node ask for; None for quintics."""
    if values.family != FOURIER:
        return None
    return FourierSettings.of(vars(values))


def _optimizers(name: str) -> tuple[str, ...]:
    if name == "all":
        return OPTIMIZERS
    return (name,) if name else OPTIMIZERS[:1]


def _start(wanted: Any, robot: RobotModel, position: Array | None, problem: str) -> Array:
    if not len(wanted):
        if position is None:
            raise StaleStateError(
                "the plan is to begin where the robot is, but no recent joint state says where; "
                f"give start_position, or start the driver: {problem}"
            )
        return position
    start: Array = np.asarray(wanted, dtype=np.float64)
    if len(start) != len(robot.joints) or not np.isfinite(start).all():
        raise SettingError(
            "start_position", list(wanted), f"give a number for each of {len(robot.joints)} joints"
        )
    return start


def trajectory_id(planned: Planned) -> str:
    """Return the identifier of a plan."""
    return f"{planned.plan.robot}-{planned.plan.certificate.digest[:12]}"


def fill_plan(response: PlanExcitation.Response, planned: Planned, machine: Machine) -> str:
    """Fill in a plan and return a summary."""
    plan, certificate = planned.plan, planned.plan.certificate
    response.trajectory_id = trajectory_id(planned)
    response.trajectory_hash = certificate.digest
    response.trajectory = message_of(plan.trajectory, 0)
    response.points = len(plan.trajectory.times)
    response.duration = plan.trajectory.duration
    response.braking_time = machine.braking_time(certificate)
    response.checks = [check.name for check in certificate.checks]
    response.passed = [check.passed for check in certificate.checks]
    response.missing_parameters = [one.name for one in plan.unidentified]
    response.missing_reasons = [one.reason for one in plan.unidentified]
    response.seconds = plan.seconds
    if isinstance(plan, OneJointPlan):
        summary = fill_one_joint(response, plan)
    else:
        summary = _fill_points(response, plan)
    remarks = [*certificate.remarks, *([certificate.efforts] if certificate.efforts else [])]
    told = [limit_sources(machine), wider_limits(machine), *(f"; {remark}" for remark in remarks)]
    return f"{summary}, at rest within {response.braking_time:.2f} s{''.join(told)}"


def _fill_points(response: PlanExcitation.Response, plan: Plan) -> str:
    """Fill in what only a plan of points has, and return a summary."""
    response.condition_number = plan.after.condition_number
    response.equilibrium = plan.after.equilibrium
    response.singular_values_start = floats(plan.before.singular_values)
    response.singular_values = floats(plan.after.singular_values)
    response.rows = plan.rows
    response.optimizer = plan.optimizer
    return (
        f"{len(plan.trajectory.times)} points in {plan.trajectory.duration:.1f} s, condition "
        f"number {plan.after.condition_number:.4g}"
    )


def file_of(planned: Planned) -> bytes:
    """Return what the file of a plan holds."""
    plan = planned.plan
    text = one_joint_plan_text(plan) if isinstance(plan, OneJointPlan) else plan_text(plan)
    return text.encode("utf-8")
