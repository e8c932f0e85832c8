"""Motions that the links of a robot can have: which turn, and about which directions.

Until a chain holds a revolute joint its links only translate; until it holds two that are not
parallel, they turn about one direction that is fixed in the link and in the base alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.geometry import forward_kinematics, snapped
from robot_identification.robot.joint import JointType
from robot_identification.robot.model import RobotModel

PARALLEL = 1e-12
_AXIS_Z = np.array([0.0, 0.0, 1.0])


class Turning(Enum):
    """Angular velocities that a link can have."""

    NONE = "none"
    SINGLE = "single"
    GENERAL = "general"


@by_value
@dataclass(frozen=True)
class LinkMotion:
    """Motion that a link can have.

    Attributes:
        turning: what angular velocities it can have.
        axis: (3,) the single direction that it turns about, in its own frame.
        along: whether its joint's own axis is that direction.
        still: whether its origin only ever moves along that direction, and gravity acts along it
            too, so that first moments across it have no effect.
    """

    turning: Turning
    axis: Array
    along: bool = False
    still: bool = False


def link_motions(robot: RobotModel) -> list[LinkMotion]:
    """Return how the link of every joint can move."""
    frames = forward_kinematics(robot, np.zeros(len(robot.joints)))
    result: list[LinkMotion] = []
    for j, joint in enumerate(robot.joints):
        turning, axis = Turning.NONE, np.zeros(3)
        if joint.antecedent >= 0:
            before = result[joint.antecedent]
            turning, axis = before.turning, before.axis
        axis = snapped(joint.rotation).T @ axis
        if joint.type is JointType.REVOLUTE:
            if turning is Turning.NONE:
                turning, axis = Turning.SINGLE, _AXIS_Z
            elif turning is Turning.SINGLE and not is_along_z(axis):
                turning = Turning.GENERAL
        single = turning is Turning.SINGLE
        result.append(
            LinkMotion(
                turning=turning,
                axis=np.where(np.abs(axis) <= PARALLEL, 0.0, axis),
                along=single and is_along_z(axis),
                still=single and _is_still(robot, j, frames, frames[j, :3, :3] @ axis),
            )
        )
    return result


def is_along_z(axis: Array) -> bool:
    """Return whether a unit vector is parallel to the z axis."""
    return float(np.hypot(axis[0], axis[1])) <= PARALLEL


def _is_still(robot: RobotModel, j: int, frames: Array, axis: Array) -> bool:
    """Return whether link j, which turns about one axis only, moves along that axis only."""
    gravity = np.linalg.norm(np.cross(axis, robot.gravity))
    if gravity > PARALLEL * np.linalg.norm(robot.gravity):
        return False
    size = np.abs(frames[:, :3, 3]).max(initial=1.0)
    for k in np.flatnonzero(robot.ancestors[:, j]):
        if robot.joints[k].type is JointType.PRISMATIC:
            across = np.linalg.norm(np.cross(axis, frames[k, :3, 2]))
        else:
            across = np.linalg.norm(np.cross(axis, frames[j, :3, 3] - frames[k, :3, 3])) / size
        if across > PARALLEL:
            return False
    return True
