"""Warnings about doubtful decisions on a rank."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from robot_identification.identification.base.factorisation import Factorisation
from robot_identification.identification.base.rank import CLEAR_GAP, Decision
from robot_identification.identification.base.rules import Grouping
from robot_identification.robot.geometry import geometric_parameters
from robot_identification.robot.kinematics import placement
from robot_identification.robot.model import GeometricParameters, Joint, JointType, RobotModel

_SUSPICIOUS = 1e-5
_LENGTHS = ("d", "r", "b")


def warnings(robot: RobotModel, factorisation: Factorisation) -> tuple[str, ...]:
    """Return one line for everything that makes the rank doubtful; nothing where it is clear."""
    decisions = (
        _line("column norm", factorisation.norms),
        _line("diagonal element", factorisation.diagonal),
        _line("singular value", factorisation.singular_values),
        _sensitivity(robot),
    )
    return tuple(line for line in decisions if line)


def suspicious_geometry(robot: RobotModel) -> str:
    """Return the lengths and angles of a robot that are nearly, but not quite, zero.

    Angles are compared with the nearest quarter turn, lengths with 1 m or the longest of the robot.
    """
    limit = _limit(robot)
    found = []
    for joint in robot.joints:
        geometry = geometric_parameters(joint)
        for name in (f.name for f in fields(geometry)):
            rest = _rest(name, getattr(geometry, name), limit)
            if rest and not (name == "theta" and joint.type is JointType.REVOLUTE):
                unit = "m" if name in _LENGTHS else "rad off a quarter turn"
                found.append(f"{name} of {joint.name} ({rest:.3g} {unit})")
    return ", ".join(found)


def _sensitivity(robot: RobotModel) -> str:
    """Return a line if nearly zero lengths or angles decide which parameters are left."""
    suspects = suspicious_geometry(robot)
    if not suspects:
        return ""
    given, rounded = _left(robot), _left(_rounded(robot))
    if given == rounded:
        return ""
    return (
        f"the rank is doubtful: it depends on {suspects}; taken as zero, the grouping rules would "
        f"leave {len(rounded)} parameters instead of {len(given)}"
    )


def _left(robot: RobotModel) -> set[int]:
    return {column for column, row in Grouping(robot).rows.items() if row}


def _rounded(robot: RobotModel) -> RobotModel:
    """Return the robot with its nearly zero lengths and angles at zero and quarter turns."""
    limit = _limit(robot)
    return replace(robot, joints=tuple(_rounded_joint(joint, limit) for joint in robot.joints))


def _rounded_joint(joint: Joint, limit: float) -> Joint:
    geometry = geometric_parameters(joint)
    values = {f.name: getattr(geometry, f.name) for f in fields(geometry)}
    values = {name: value - _rest(name, value, limit) for name, value in values.items()}
    rotation, translation = placement(GeometricParameters(**values))
    return replace(joint, geometry=None, rotation=rotation, translation=translation)


def _limit(robot: RobotModel) -> float:
    """Return the length in m below which lengths of this robot are suspicious."""
    lengths = [float(np.linalg.norm(joint.translation)) for joint in robot.joints]
    return _SUSPICIOUS * max(1.0, *lengths)


def _rest(name: str, value: float, limit: float) -> float:
    """Return how far a parameter is from zero or a quarter turn if that is little; 0 if not."""
    if name in _LENGTHS:
        return value if abs(value) < limit else 0.0
    rest = value - round(value / (np.pi / 2)) * (np.pi / 2)
    return rest if 1e-10 < abs(rest) < _SUSPICIOUS else 0.0


def _line(what: str, decision: Decision) -> str:
    if decision.gap < CLEAR_GAP:
        return (
            f"the rank is doubtful: the last accepted {what} is {decision.last_accepted:.3g}, the "
            f"first rejected {decision.first_rejected:.3g}, less than six decades apart"
        )
    if not decision.is_clear:
        return (
            f"the rank is doubtful: the last accepted {what} is {decision.last_accepted:.3g}, the "
            f"largest {decision.values[0]:.3g}"
        )
    return ""
