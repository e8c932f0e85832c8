"""Limits that a URDF does not carry, from a joint_limits.yaml as MoveIt uses it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from robot_identification.robot.files.document import Document, read_document
from robot_identification.robot.model import Joint, JointLimits, RobotModel

_LIMITS = {
    "velocity": ("has_velocity_limits", "max_velocity"),
    "acceleration": ("has_acceleration_limits", "max_acceleration"),
    "jerk": ("has_jerk_limits", "max_jerk"),
    "effort": ("has_effort_limits", "max_effort"),
}


def with_joint_limits(robot: RobotModel, path: str | Path) -> RobotModel:
    """Return a robot whose limits a joint_limits.yaml completes.

    What the file states for a joint replaces what the robot had, also where it is wider than in the
    URDF; a certificate says so then.  Joints that the robot lacks are ignored, as
    are the scaling factors of MoveIt.

    Args:
        robot: the robot.
        path: the file: ``joint_limits: {joint: {has_velocity_limits: true, max_velocity: 2.0}}``,
            likewise for acceleration, jerk and effort, and ``has_position_limits`` with
            ``min_position`` and ``max_position``.

    Raises:
        RobotDescriptionError: the file cannot be read, names none of the joints, or holds a
            limit that is not a positive number.
    """
    document = read_document(Path(path))
    table = document.data.get("joint_limits") if isinstance(document.data, dict) else None
    if not isinstance(table, dict):
        raise document.error("the key joint_limits is missing")
    if not any(joint.name in table for joint in robot.joints):
        names = ", ".join(robot.joint_names)
        raise document.error(f"names none of the joints of {robot.name}: {names}", "joint_limits")
    return replace(robot, joints=tuple(_completed(document, table, j) for j in robot.joints))


def _completed(document: Document, table: dict[str, Any], joint: Joint) -> Joint:
    entry = table.get(joint.name)
    if entry is None:
        return joint
    if not isinstance(entry, dict):
        raise document.error("is not a mapping", "joint_limits", joint.name)
    found: dict[str, float] = {}
    for limit, (has, key) in _LIMITS.items():
        if entry.get(has, key in entry):
            found[limit] = _number(document, entry, joint.name, key)
            if not found[limit] > 0.0:
                raise document.error("must be positive", "joint_limits", joint.name, key)
    if entry.get("has_position_limits", "min_position" in entry):
        found["lower"] = _number(document, entry, joint.name, "min_position")
        found["upper"] = _number(document, entry, joint.name, "max_position")
        if not found["lower"] < found["upper"]:
            raise document.error(
                "must be below max_position", "joint_limits", joint.name, "min_position"
            )
    limits: JointLimits = replace(joint.limits, **found)
    return replace(joint, limits=limits)


def _number(document: Document, entry: dict[str, Any], joint: str, key: str) -> float:
    value = entry.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise document.error("a number is missing here", "joint_limits", joint, key)
    return float(value)
