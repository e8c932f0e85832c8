"""Remarks on what an exported URDF leaves open: parameters, gravity, limits and loops."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.direct import checked_values
from robot_identification.files.export.friction import plain_friction
from robot_identification.robot.files.urdf.prior import stated_in_urdf
from robot_identification.robot.files.urdf.robot import STANDARD_GRAVITY
from robot_identification.robot.joint import Joint, JointType
from robot_identification.robot.model import RobotModel

_GRAVITY_TOLERANCE = 1e-9


def parameter_remarks(robot: RobotModel, values: npt.ArrayLike) -> tuple[str, ...]:
    """Return which parameters that are not 0 a URDF has no place for, and what stands for others.

    Args:
        robot: the robot.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.
    """
    vector = checked_values(robot, values)
    replaced = [plain for plain in plain_friction(robot, vector) if plain is not None]
    told = {name for plain in replaced for name in plain.terms}
    absent = np.flatnonzero(~stated_in_urdf(robot) & (vector != 0.0))
    names = [robot.all_parameter_names[i] for i in absent]
    left = ", ".join(name for name in names if name not in told)
    lacking = f"a URDF has no place for {left}; controllers and simulators need them beside it"
    return (*([lacking] if left else []), *(plain.remark for plain in replaced))


def description_remarks(robot: RobotModel) -> tuple[str, ...]:
    """Return what a URDF that is made from a robot file leaves open."""
    return (
        *_gravity_remarks(robot),
        *(remark for joint in robot.joints for remark in _limit_remarks(joint)),
        *_loop_remarks(robot),
    )


def _gravity_remarks(robot: RobotModel) -> tuple[str, ...]:
    magnitude = float(np.linalg.norm(robot.gravity))
    if abs(magnitude - np.linalg.norm(STANDARD_GRAVITY)) <= _GRAVITY_TOLERANCE:
        return ()
    return (f"a URDF does not state gravity; the robot's is {magnitude:g} m/s^2",)


def _limit_remarks(joint: Joint) -> tuple[str, ...]:
    limits = joint.limits
    unknown = [name for name in ("effort", "velocity") if getattr(limits, name) is None]
    remarks = []
    if joint.type is JointType.PRISMATIC and limits.lower is None:
        remarks.append(
            f"joint {joint.name}: no position limits are known and none are given; many programs "
            "then hold a prismatic joint at 0"
        )
    if unknown and needs_limit(joint):
        remarks.append(
            f"joint {joint.name}: {' and '.join(unknown)} limit unknown, given as 0, because a "
            "URDF must state one"
        )
    return tuple(remarks)


def needs_limit(joint: Joint) -> bool:
    """Tell whether a joint has a <limit>, and so must state an effort and a velocity."""
    limits = joint.limits
    known = (limits.lower, limits.effort, limits.velocity) != (None, None, None)
    return joint.type is JointType.PRISMATIC or known


def _loop_remarks(robot: RobotModel) -> tuple[str, ...]:
    return tuple(
        f"joint {loop.joint} follows {', '.join(loop.equals)}, which a URDF cannot say; it is "
        "written as a joint of its own in the spanning tree"
        for loop in robot.loops
        if len(loop.equals) != 1
    )
