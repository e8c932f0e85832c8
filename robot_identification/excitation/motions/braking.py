"""Braking: from any position and velocity to rest, inside the limits.

Every joint brakes on its own.  Its velocity falls as v (1 - 3 s^2 + 2 s^3), without acceleration at
both ends; over the duration u this takes the distance v u / 2, an acceleration of up to
1.5 |v| / u and a jerk of up to 6 |v| / u^2.  A joint without a jerk limit takes the shortest time,
u = 1.5 |v| / a; one with a jerk limit always the same time, enough for its largest velocity.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_identification.compiled import as_compiled
from robot_identification.excitation.kernels import extrema as extrema_kernels
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.arrays import Array, checked_vector

RELEASE = 0.02
"""Time, in s, in which the acceleration falls to zero before braking; longer for a jerk limit."""

_SHORTEST = 1e-3


def release_time(limits: MotionLimits) -> float:
    """Return how long the acceleration takes to fall to zero before braking proper, in s."""
    return max(RELEASE, float((limits.acceleration / limits.jerk).max()))


def released(limits: MotionLimits, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
    """Return position and velocity when the acceleration has fallen linearly to zero.

    Args:
        limits: of the joints.
        q: (..., joints) in rad or m, where it begins to fall.
        v: (..., joints) velocities then.
        a: (..., joints) accelerations then.
    """
    u = release_time(limits)
    return q + v * u + a * u**2 / 3.0, v + a * u / 2.0


def shortest_braking(limits: MotionLimits) -> Array:
    """Return (joints,) shortest braking times in s: of joints whose jerk is limited; else 0."""
    fixed = np.maximum(
        1.5 * limits.velocity / limits.acceleration, np.sqrt(6.0 * limits.velocity / limits.jerk)
    )
    times: Array = np.where(np.isfinite(limits.jerk), fixed, 0.0)
    return times


def braking_times(limits: MotionLimits, velocity: npt.ArrayLike) -> Array:
    """Return how long every joint takes to come to rest, in s.

    Args:
        limits: the limits.
        velocity: (..., joints) velocities.
    """
    speed = np.abs(np.asarray(velocity, dtype=np.float64))
    moving = np.maximum(shortest_braking(limits), 1.5 * speed / limits.acceleration)
    times: Array = np.where(speed > 0.0, moving, 0.0)
    return times


def brake(
    limits: MotionLimits,
    joint_names: tuple[str, ...],
    position: npt.ArrayLike,
    velocity: npt.ArrayLike,
) -> Trajectory:
    """Return the braking motion from a measured state; takes well below 5 ms.

    It keeps the accelerations.  Whether it keeps velocities and positions depends on the state:
    :func:`~robot_identification.excitation.certification.checks.exceeded` tells.

    Args:
        limits: of the joints named.
        joint_names: names of the joints.
        position: (joints,) in rad or m.
        velocity: (joints,) in rad/s or m/s.

    Raises:
        ShapeError: the numbers of joints differ.
        TrajectoryError: a position or a velocity is NaN or infinite.
    """
    q, v = (
        checked_vector(name, values, len(joint_names))
        for name, values in (("position", position), ("velocity", velocity))
    )
    own = _apart(np.nan_to_num(braking_times(limits, v), nan=_SHORTEST))
    times = np.unique(np.concatenate([[0.0, max(float(own.max(initial=0.0)), _SHORTEST)], own]))
    with np.errstate(invalid="ignore", divide="ignore"):
        s = np.where(own > 0.0, np.minimum(times[:, None] / own, 1.0), 1.0)
        rate = np.where(own > 0.0, v / own, 0.0)
    way = s - s**3 + s**4 / 2.0
    return Trajectory(
        joint_names,
        times,
        q + v * own * way,
        np.where(s < 1.0, v * (1.0 - 3.0 * s**2 + 2.0 * s**3), 0.0),
        np.where(s < 1.0, rate * (6.0 * s**2 - 6.0 * s), 0.0),
    )


def _apart(times: Array) -> Array:
    """Return braking times of which no two differ by less than the shortest step, except by 0."""
    result: Array = times.copy()
    later = float(result.max(initial=0.0))
    for joint in np.argsort(-times):
        if 0.0 < later - result[joint] < _SHORTEST or 0.0 < result[joint] < _SHORTEST:
            result[joint] = max(later, _SHORTEST)
        later = float(result[joint])
    return result


def stopping_places(limits: MotionLimits, trajectory: Trajectory) -> tuple[Array, Array]:
    """Return the extreme places where braking at any time of a trajectory would end.

    Args:
        limits: of the trajectory's joints.
        trajectory: with at least two points.

    Returns:
        Smallest and largest places, (pieces, joints) each.
    """
    per_square, per_speed = stopping_factors(limits)
    out = np.empty((2, *trajectory.coefficients.shape[:2]))
    motion = as_compiled(trajectory.coefficients, np.diff(trajectory.times))
    extrema_kernels.stopping_extrema(*motion, per_square, per_speed, out)
    return out[0], out[1]


def stopping_factors(limits: MotionLimits) -> tuple[Array, Array]:
    """Return the factors c, k of the braking distance c v |v| + k v, (joints,) each."""
    with_jerk = np.isfinite(limits.jerk)
    per_square = np.where(with_jerk, 0.0, 0.75 / limits.acceleration)
    per_speed = np.where(with_jerk, braking_times(limits, limits.velocity) / 2.0, 0.0)
    return per_square, per_speed
