"""Requests to plan one joint at a time, and their answers."""

from __future__ import annotations

from robot_identification.errors import SettingError
from robot_identification.excitation.one_joint.plan import METHOD, OneJointPlan
from robot_identification.excitation.one_joint.settings import OneJointSettings
from robot_identification.robot.model import Array
from robot_identification.ros.messages.common import stated
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
