"""What makes a decision about a rank doubtful, in words."""

from __future__ import annotations

import numpy as np

from robot_identification.identification.regrouping.factorisation import Factorisation
from robot_identification.identification.regrouping.rank import CLEAR_GAP, Decision
from robot_identification.robot.geometry import geometric_parameters
from robot_identification.robot.model import RobotModel

_SUSPICIOUS = 1e-5


def warnings(robot: RobotModel, factorisation: Factorisation, *, scaled: bool) -> tuple[str, ...]:
    """Return one line for everything that makes the rank doubtful; nothing where it is clear."""
    lines = []
    for what, decision in (
        ("column norm", factorisation.norms),
        ("diagonal element", factorisation.diagonal),
        ("singular value", factorisation.singular_values),
    ):
        line = _line(what, decision)
        if line:
            lines.append(line)
    hint = suspicious_geometry(robot)
    if lines and hint:
        lines.append(f"so small that it may be meant to be zero: {hint}")
    if scaled:
        lines.append("the states were chosen by the scaling strategy, because the gap was poor")
    return tuple(lines)


def suspicious_geometry(robot: RobotModel) -> str:
    """Return the lengths and angles of a robot that are nearly, but not quite, zero.

    Angles are compared with the nearest quarter turn, lengths with the largest of the robot.
    """
    size = max(1e-2, *(float(np.linalg.norm(joint.translation)) for joint in robot.joints))
    found = []
    for joint in robot.joints:
        geometry = geometric_parameters(joint)
        for name in ("d", "r", "b"):
            value = getattr(geometry, name)
            if 0.0 < abs(value) < _SUSPICIOUS * size:
                found.append(f"{name} of {joint.name} ({value:.3g} m)")
        for name in ("alpha", "theta", "gamma"):
            value = getattr(geometry, name)
            rest = value - round(value / (np.pi / 2)) * np.pi / 2
            if 1e-10 < abs(rest) < _SUSPICIOUS:
                found.append(f"{name} of {joint.name} ({rest:.3g} rad off a quarter turn)")
    return ", ".join(found)


def _line(what: str, decision: Decision) -> str:
    if decision.gap < CLEAR_GAP:
        return (
            f"the rank is doubtful: the last accepted {what} is {decision.last_accepted:.3g}, the "
            f"first rejected {decision.first_rejected:.3g}, less than six decades apart"
        )
    if decision.reach * CLEAR_GAP < 1.0:
        return (
            f"the rank is doubtful: the last accepted {what} is {decision.last_accepted:.3g}, less "
            f"than a millionth of the largest ({decision.values[0]:.3g})"
        )
    return ""
