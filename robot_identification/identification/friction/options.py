"""Friction that identification can be asked for, and the terms of a robot that it begins with."""

from __future__ import annotations

from dataclasses import replace

from robot_identification.errors import SettingError
from robot_identification.identification.estimators.choice import ESTIMATORS
from robot_identification.identification.friction.law import FrictionLaw
from robot_identification.identification.friction.shapes import Unknown
from robot_identification.robot.joint import Joint
from robot_identification.robot.loops import refuse_loops
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.joint_terms import TERMS
from robot_identification.robot.terms.kinds import TermKind

STATED, COULOMB_VISCOUS, AUTO = "stated", "coulomb-viscous", "auto"
CHOICES = {
    STATED: "what the robot file states",
    COULOMB_VISCOUS: "Coulomb and viscous friction, whatever the robot file states",
    AUTO: "what the robot file states, and what blocks left out of the fit ask for besides",
}
"""Choices of friction, with their help."""

_CONSTANT = (TermKind.COULOMB, TermKind.VISCOUS)


def friction_entry(friction: str) -> dict[str, dict[str, object]]:
    """Return the setting for a result; nothing for what the robot file states."""
    return {} if friction == STATED else {"friction": {"value": friction, "reason": "option"}}


def check_friction(robot: RobotModel, friction: str, method: str) -> None:
    """Refuse a friction that there is not, or that a method or a robot cannot have.

    Raises:
        SettingError: it is.
    """
    if friction not in CHOICES:
        raise SettingError("friction", friction, f"choose one of {', '.join(CHOICES)}")
    estimator = ESTIMATORS.get(method)
    if friction == AUTO and (estimator is None or not estimator.stacked):
        raise SettingError("friction", friction, "works with the methods ols and wls")
    if friction == AUTO:
        refuse_loops(robot, "the choice of friction laws")
    if law_beside(robot, starting_robot(robot, friction)) is not None:
        refuse_loops(robot, "the identification with other friction than its robot file states")
    if friction != COULOMB_VISCOUS and (unknown := open_shapes_of(robot)):
        name = unknown[0].name
        refuse_loops(robot, f"the estimate of {name} (state its value in the robot file)")


def starting_robot(robot: RobotModel, friction: str) -> RobotModel:
    """Return a robot with the terms that identification begins with."""
    if friction != COULOMB_VISCOUS:
        return robot
    return replace(robot, joints=tuple(map(_coulomb_viscous, robot.joints)), loads=None)


def _coulomb_viscous(joint: Joint) -> Joint:
    terms = {term.name for term in joint.joint_terms if not term.dissipates}
    if any(term.dissipates for term in joint.joint_terms):
        terms |= {term.name for term in TERMS if term.kind in _CONSTANT}
    return replace(joint, terms=frozenset(terms), shapes={})


def law_beside(stated: RobotModel, robot: RobotModel) -> FrictionLaw | None:
    """Return the law of a robot whose joints have other terms than stated; None where they do not.

    Args:
        stated: the robot as its file describes it.
        robot: the same with other terms, whose shapes and loads are not open.
    """
    pairs = zip(stated.joints, robot.joints, strict=True)
    return None if all(own.terms == other.terms for own, other in pairs) else FrictionLaw.of(robot)


def needs_whole(robot: RobotModel) -> bool:
    """Tell whether shapes or loads of a robot are open, which only whole recordings tell."""
    return bool(open_shapes_of(robot)) or (robot.follows_load and robot.loads is None)


def open_shapes_of(robot: RobotModel) -> list[Unknown]:
    """Return the shapes of terms that a robot file states without them."""
    return [
        Unknown(k, term, index)
        for k, joint in enumerate(robot.joints)
        for term in joint.joint_terms
        if term.name not in joint.shapes
        for index in range(len(term.kind.shapes))
    ]
