"""Positions, speeds and efforts beyond the limits of a robot, and the units that they suggest."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robot_identification.identification.diagnosis.finding import Finding, Severity
from robot_identification.robot.arrays import Array
from robot_identification.robot.joint import JointType
from robot_identification.robot.model import RobotModel

_DEGREES = 180.0 / np.pi
_MILLI = 1000.0

_TURNS = 10.0 * np.pi
"""Position in rad beyond which a revolute joint without limits turns without end, or is in degrees:
which of both, the signals do not tell, but the fit may."""

_LONGEST = 50.0
"""Position in m beyond which a slide without limits is likely in mm: tracks are shorter, and what a
slide moves in mm is soon beyond."""

_TOLERATED = 1.1
"""Drives overshoot, and limits are rounded: a tenth beyond them is not told."""

_FAR = 3.0
"""Limits are exceeded by more than this by a wrong unit or ratio only: no robot survives it."""


def limit_findings(
    robot: RobotModel, source: str, position: Array, speed: Array, effort: Array
) -> Iterator[Finding]:
    """Give out what is beyond limits.

    Args:
        robot: its limits.
        source: the recording.
        position: (joints, samples) in rad or m.
        speed: (joints, samples) sizes of the velocities.
        effort: (joints, samples) in N m or N.
    """
    for place, joint in enumerate(robot.active_joints):
        told = _position(robot, place, source, position[place])
        if told is None:
            limit = joint.limits.velocity
            told = _beyond("speed", joint.name, source, float(speed[place].max()), limit)
        if told is not None:
            yield told
        limit = joint.limits.effort
        largest = float(np.abs(effort[place]).max())
        told = _beyond("effort", joint.name, source, largest, limit)
        if told is not None:
            yield told


def _position(robot: RobotModel, place: int, source: str, position: Array) -> Finding | None:
    joint = robot.active_joints[place]
    least, most = float(position.min()), float(position.max())
    lower, upper = joint.limits.lower, joint.limits.upper
    revolute = joint.type is JointType.REVOLUTE
    unit, factor = ("degrees", _DEGREES) if revolute else ("mm", _MILLI)
    figures = {"least": least, "most": most}
    size = max(abs(least), abs(most))
    published = (
        f"publish {'rad' if revolute else 'm'}, as sensor_msgs/JointState wants; of a table, "
        f"state the unit (--columns position[{'deg' if revolute else 'mm'}]=...)"
    )
    if lower is None or upper is None:
        if size <= (_TURNS if revolute else _LONGEST):
            return None
        reached, other = (
            ("rad", "it turns without end") if revolute else ("m", "its way is that long")
        )
        return Finding(
            Severity.DOUBT, "position unit", (joint.name,),
            f"it reaches {size:.4g} {reached}: its positions are in {unit}, or {other}",
            f"if they are in {unit}, {published}", figures, source, 4.0,
        )  # fmt: skip
    slack = (_TOLERATED - 1.0) * (upper - lower)
    if least >= lower - slack and most <= upper + slack:
        return None
    # Of the larger limit: the other one may be next to zero, or on its other side.
    far = size > _FAR * max(abs(lower), abs(upper)) > 0.0
    fits = lower - slack <= least / factor and most / factor <= upper + slack
    beyond = f"it goes from {least:.4g} to {most:.4g}, beyond {lower:.4g} to {upper:.4g}"
    if far and fits:
        return Finding(
            Severity.MISTAKE, "position unit", (joint.name,),
            f"its positions seem to be in {unit}: {beyond}", published, figures, source, 90.0,
        )  # fmt: skip
    return Finding(
        Severity.MISTAKE if far else Severity.DOUBT, "position beyond limits", (joint.name,),
        beyond, "check its unit, its zero and the limits of the robot file",
        figures, source, 40.0 if far else 4.0,
    )  # fmt: skip


def _beyond(
    what: str, name: str, source: str, largest: float, limit: float | None
) -> Finding | None:
    if not limit or largest <= _TOLERATED * limit:
        return None
    ratio = largest / limit
    far = ratio > _FAR
    hint = "check the unit, gear ratio and the limits of the robot file"
    if what == "effort" and ratio > _MILLI / 100.0:
        hint = "are they in thousandths (N mm, mA), or on the other side of the gear? " + hint
    return Finding(
        Severity.MISTAKE if far else Severity.DOUBT, f"{what} beyond limits", (name,),
        f"it reaches {largest:.4g}, {ratio:.3g} times its limit of {limit:.4g}", hint,
        {"largest": largest, "limit": limit}, source, 30.0 if far else 3.0,
    )  # fmt: skip
