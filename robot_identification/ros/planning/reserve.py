"""Reserve between a robot at rest and its position limits: enough for a motion to begin, or not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel

_SLACK = 1e-8  # as a share of the range


def missing_reserve(
    robot: RobotModel,
    kept: MotionLimits,
    position: Array,
    tracking_error: Sequence[float] = (),
    *,
    stands: bool = True,
) -> str:
    """Return which joints stand too near to a limit for a motion to begin; empty if none does.

    Args:
        robot: the robot with its own limits.
        kept: limits that motions keep.
        position: (joints,) where it stands, or is to begin, in rad or m.
        tracking_error: (joints,) how far it may be off its reference; empty: not at all.
        stands: whether it stands there already.

    Raises:
        MissingLimitError: a joint lacks a limit.
    """
    slack = _SLACK * kept.half_range
    outside = (position < kept.lower - slack) | (position > kept.upper + slack)
    errors = np.broadcast_to(tracking_error or 0.0, position.shape)
    return "; ".join(
        _told(robot, kept, int(joint), float(position[joint]), float(errors[joint]), stands=stands)
        for joint in np.flatnonzero(outside)
    )


def _told(
    robot: RobotModel,
    kept: MotionLimits,
    joint: int,
    position: float,
    error: float,
    *,
    stands: bool,
) -> str:
    """Return the limit that a joint is at, how near, and where it must go."""
    own = MotionLimits.of(robot)
    upper = position > kept.middle[joint]
    side, aim = ("upper", "below") if upper else ("lower", "above")
    end, inner = (float(getattr(limits, side)[joint]) for limits in (own, kept))
    source = robot.joints[joint].limit_sources.get(side, "")
    stated = f" ({source})" if source else ""
    reserve = end - position if upper else position - end
    where = f"{reserve:.4g} from" if reserve >= 0.0 else f"{-reserve:.4g} beyond"
    needed = abs(end - inner)
    verb = "stands" if stands else "is to begin"
    remedy = (
        f"move the joint to {aim} {inner:.4g} with the robot's own controls"
        if stands
        else f"begin {aim} {inner:.4g}"
    )
    return (
        f"{robot.joint_names[joint]} {verb} at {position:.4g}, {where} its {side} limit {end:.4g}"
        f"{stated}; a motion needs a reserve of {needed:.4g} there, {min(error, needed):.4g} of it "
        f"for tracking_error_limit and the rest to brake: {remedy}, or set a smaller "
        "tracking_error_limit"
    )
