"""Rows of joints that hold: kept where no friction depends on the sign of their speed."""

from __future__ import annotations

from dataclasses import replace

from robot_identification.robot.model import RobotModel, TermKind
from robot_identification.signals.processing.complete import Processing

_REASON = "; none for joints without Coulomb friction, which are informative while they hold"


def keeping_held_joints(robot: RobotModel, processing: Processing) -> Processing:
    """Return settings without velocity thresholds for joints that have no Coulomb friction.

    Thresholds that an option or the robot file states stay as they are.

    Args:
        robot: the robot.
        processing: complete settings.
    """
    reason = processing.reasons.get("velocity_threshold", "")
    rubbing = [rubs(robot, j) for j in range(len(robot.joints))]
    if not reason.startswith("derived") or all(rubbing):
        return processing
    thresholds = tuple(
        threshold if rubs else 0.0
        for threshold, rubs in zip(processing.velocity_threshold, rubbing, strict=True)
    )
    reasons = {**processing.reasons, "velocity_threshold": reason + _REASON}
    return replace(processing, velocity_threshold=thresholds, reasons=reasons)


def rubs(robot: RobotModel, joint: int) -> bool:
    """Tell whether Coulomb friction acts on a joint, its own or that of a coupling.

    Args:
        robot: the robot.
        joint: index of the joint.
    """
    name = robot.joint_names[joint]
    return robot.joints[joint].has(TermKind.COULOMB) or any(
        coupling.kind is TermKind.COULOMB and any(term.on.get(name, 0.0) for term in coupling.terms)
        for coupling in robot.couplings
    )
