"""The checks that a certificate consists of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.collision.clearance import Clearance
from robot_identification.excitation.certification.effort_bounds import Efforts
from robot_identification.excitation.motions.braking import stopping_places
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.timing import motion_extrema
from robot_identification.excitation.motions.trajectory import (
    NANOSECONDS,
    Trajectory,
    evaluate,
    whole_nanoseconds,
)
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel

OBSTACLES = "obstacles"
"""Name of the check of distances."""

_SLACK = 1e-8  # as a share of the limit or the range
_STILL = 1e-6
_LATEST = 2.0**31  # s; the duration of a message has 32 bits of whole seconds


@dataclass(frozen=True)
class Check:
    """The result of one check.

    Attributes:
        name: such as ``velocity``.
        passed: the result.
        detail: the worst that was found, or what is wrong; for people.
    """

    name: str
    passed: bool
    detail: str = ""


def names(robot: RobotModel, joint_names: Sequence[str]) -> Check:
    """Check that every joint of the robot is named once and no other."""
    right = sorted(joint_names) == sorted(robot.joint_names)
    wanted = ", ".join(robot.joint_names)
    return Check("names", right, "" if right else f"names must be {wanted}, each once")


def rising(times: Array) -> bool:
    """Tell whether there are at least two times that a message can hold, and they rise.

    They rise as whole nanoseconds too.
    """
    if times.size < 2 or not np.isfinite(times).all():
        return False
    if times[0] < 0.0 or times.max() > _LATEST:
        return False
    return bool((np.diff(whole_nanoseconds(times)) > 0).all())


def times(trajectory: Trajectory) -> Check:
    """Check that times rise, as whole nanoseconds too, and that there is a motion at all."""
    right = rising(trajectory.times)
    return Check("times", right, "" if right else "needs two points at times from 0 on that rise")


def published(trajectory: Trajectory) -> Trajectory | None:
    """Return the trajectory as a controller receives it: times in whole nanoseconds."""
    whole = whole_nanoseconds(trajectory.times)
    if not (np.diff(whole) > 0).all():
        return None
    return Trajectory(
        trajectory.joint_names,
        whole / NANOSECONDS,
        trajectory.positions,
        trajectory.velocities,
        trajectory.accelerations,
    )


def limits(trajectory: Trajectory, bounds: MotionLimits) -> list[Check]:
    """Check position, velocity, acceleration and, where it is limited, jerk.

    The limits are those of the trajectory's joints, in their order.  A jump of the velocity between
    two pieces is an infinite acceleration, a jump of the acceleration an infinite jerk.
    """
    extrema = motion_extrema(trajectory.coefficients, np.diff(trajectory.times))
    jumps = _jumps(trajectory)
    half = bounds.half_range
    excess = np.abs(extrema[0] - bounds.middle).max(axis=0) / half
    names = trajectory.joint_names
    found = [_worst("position", names, excess)]
    for order, name in enumerate(("velocity", "acceleration", "jerk"), start=1):
        bound: Array = getattr(bounds, name)
        if np.isinf(bound).all():
            continue
        ratio = np.abs(extrema[order]).max(axis=0) / bound
        if order >= 2:
            reference = (bounds.velocity, bounds.acceleration)[order - 2]
            broken = (jumps[order - 2] > _STILL * reference).any(axis=0)
            ratio = np.where(broken & np.isfinite(bound), np.inf, ratio)
        found.append(_worst(name, names, ratio))
    return found


def exceeded(trajectory: Trajectory, bounds: MotionLimits) -> str:
    """Return which limit a controller would exceed that follows a trajectory; empty if none.

    Args:
        trajectory: with velocities and accelerations.
        bounds: limits of its joints, in their order.
    """
    failed = first_failed(trajectory, bounds)
    return f"{failed.name}: {failed.detail}" if failed else ""


def first_failed(trajectory: Trajectory, bounds: MotionLimits) -> Check | None:
    """Return the first check that fails of a trajectory as a controller follows it; None if none.

    The motion between the points counts as much as the points, with times as they are published.

    Args:
        trajectory: with velocities and accelerations.
        bounds: limits of its joints, in their order.
    """
    sent = published(trajectory)
    if sent is None:
        return Check("times", False, "two points are less than a nanosecond apart")
    return next((check for check in limits(sent, bounds) if not check.passed), None)


def _worst(name: str, joint_names: Sequence[str], ratio: Array) -> Check:
    """Return the check of ratios (pieces, joints) to the limits."""
    sane = np.where(np.isnan(ratio), np.inf, ratio)
    piece, joint = map(int, np.unravel_index(int(np.argmax(sane)), sane.shape))
    worst = float(sane[piece, joint])
    detail = f"{worst:.6g} of the limit of {joint_names[joint]} in interval {piece + 1}"
    return Check(name, worst <= 1.0 + _SLACK, detail)


def _jumps(trajectory: Trajectory) -> tuple[Array, Array]:
    """Return (pieces - 1, joints) jumps of velocity and of acceleration between pieces."""
    u = np.diff(trajectory.times)[:-1, None]
    c = np.moveaxis(trajectory.coefficients, 2, 0)
    velocity, acceleration = (
        np.abs(evaluate(c[:, :-1], u, order) - evaluate(c[:, 1:], 0.0, order)) for order in (1, 2)
    )
    return velocity, acceleration


def interpolation(trajectory: Trajectory, bounds: MotionLimits) -> Check:
    """Check that the published points give the same motion, inside the limits."""
    if trajectory.velocities is None or trajectory.accelerations is None:
        return Check("interpolation", False, "points need velocities and accelerations")
    problem = exceeded(trajectory, bounds)
    return Check("interpolation", not problem, problem)


def rest(trajectory: Trajectory, bounds: MotionLimits) -> Check:
    """Check that the motion begins and ends at rest."""
    c = np.moveaxis(trajectory.coefficients, 2, 0)
    last = float(np.diff(trajectory.times)[-1])
    ends = [
        np.abs(evaluate(part, u, order)) / bound
        for order, bound in ((1, bounds.velocity), (2, bounds.acceleration))
        for part, u in ((c[:, 0], 0.0), (c[:, -1], last))
    ]
    moving = float(np.max(ends))
    return Check("rest", moving <= _STILL, f"{moving:.3g} of the limits at the ends")


def start(robot: RobotModel, trajectory: Trajectory, posture: npt.ArrayLike, most: float) -> Check:
    """Check that the motion begins at a posture."""
    wanted = np.asarray(posture, dtype=np.float64)
    if wanted.shape != (len(robot.joints),):
        return Check("start", False, f"the posture needs {len(robot.joints)} values")
    away = np.abs(trajectory.positions[0] - wanted)
    joint = int(np.argmax(np.where(np.isnan(away), np.inf, away)))
    passed = bool((away <= most).all())
    return Check("start", passed, f"{robot.joint_names[joint]} is {away[joint]:.4g} away")


def obstacles(clearance: Clearance) -> Check:
    """Check that the robot touches neither itself nor its cell, braking included."""
    nearest = clearance.nearest
    if nearest is None:
        return Check(OBSTACLES, clearance.kept, f"all farther than {clearance.wanted:g} m")
    found = f"{nearest}; wanted {clearance.wanted:g} m"
    if not clearance.kept and nearest.distance >= clearance.wanted:
        # The distance is that of the reference; the bound includes joints that are off it.
        found = (
            f"{found} for joints, too, that leave the motion while their acceleration falls before "
            "they brake, or are off the motion by the allowed tracking error"
        )
    return Check(OBSTACLES, clearance.kept, found)


def effort(found: Efforts) -> Check:
    """Check that no effort exceeds its limit, braking included."""
    worst = found.worst
    most = f"{worst.joint}: {worst.reached:.4g} {worst.unit} {worst.when}"
    if found.kept:
        share = f"nowhere above {worst.bound:.4g}, {worst.bound / worst.limit:.4g} of the limit"
        return Check("effort", True, f"{most}; {share}")
    refused = f"{most}; the limit is {worst.limit:g} {worst.unit}"
    if not worst.exceeds:
        refused = f"{refused}, and no bound was found that keeps it"
    advice = "; lower limits of acceleration make braking gentler" if worst.braking else ""
    return Check("effort", False, f"{refused}{advice}")


def braking(trajectory: Trajectory, bounds: MotionLimits) -> Check:
    """Check that braking from any state of the motion ends inside the position limits."""
    low, high = stopping_places(bounds, trajectory)
    excess = np.maximum(high - bounds.middle, bounds.middle - low) / bounds.half_range
    return _worst("braking", trajectory.joint_names, excess)
