"""Limits of joints: which are known, which are needed, and which go beyond the URDF."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Literal

from robot_identification.errors import MissingLimitError
from robot_identification.robot.model import JointLimits, RobotModel

Limit = Literal["position", "velocity", "acceleration", "jerk", "effort"]


def require_limits(robot: RobotModel, kinds: Iterable[Limit]) -> None:
    """Refuse a robot that lacks a limit.

    Args:
        robot: the robot.
        kinds: the limits that every joint must have.

    Raises:
        MissingLimitError: the first joint, and its first limit, that is missing.
    """
    needed = tuple(kinds)
    for joint in robot.joints:
        for kind in needed:
            if not _has(joint.limits, kind):
                raise MissingLimitError(joint.name, kind)


def tighter(limits: JointLimits, defaults: JointLimits) -> JointLimits:
    """Return limits that defaults complete, and narrow where they are narrower.

    Args:
        limits: of a joint.
        defaults: for every joint.
    """
    found: dict[str, float | None] = {}
    for field in fields(JointLimits):
        own, default = getattr(limits, field.name), getattr(defaults, field.name)
        choose = max if field.name == "lower" else min
        known = [value for value in (own, default) if value is not None]
        found[field.name] = choose(known) if known else None
    return replace(limits, **found)


def wider_than_urdf(robot: RobotModel, kind: Limit) -> tuple[str, ...]:
    """Return where a robot file widens a limit of the URDF, each in words for people.

    Args:
        robot: the robot.
        kind: the limit.
    """
    names = ("lower", "upper") if kind == "position" else (kind,)
    found = []
    for joint in robot.joints:
        for name in names:
            own, given = getattr(joint.limits, name), getattr(joint.urdf_limits, name)
            if own is None or given is None:
                continue
            if own < given if name == "lower" else own > given:
                what = name if kind == "position" else "limit"
                found.append(f"{joint.name} {what} {own:g}, in the URDF {given:g}")
    return tuple(found)


def _has(limits: JointLimits, kind: Limit) -> bool:
    if kind == "position":
        return limits.lower is not None and limits.upper is not None
    return getattr(limits, kind) is not None
