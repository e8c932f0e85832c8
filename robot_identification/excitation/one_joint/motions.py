"""Motions of single joints, and how they are put side by side and one after the other.

A motion of one joint is a :class:`~robot_identification.excitation.motions.trajectory.Trajectory`
with one column; it begins at time 0 and position 0, at rest, and ends at rest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.timing import motion_extrema, shortest_durations
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.arrays import Array

_NAME = ("joint",)
_LEAST = 0.1
_APART = 1e-6
# The damped step in units of its time constant: it takes `_RISE` from rest to where the published
# curve is after `_JOINS`; the curve is left at `_LEAVES` and comes to rest in `_REST`.
_RISE, _JOINS, _LEAVES, _REST, _SPACING = 1.0, 0.5, 8.0, 2.0, 0.25


def hold(duration: float) -> Trajectory:
    """Return a joint at rest for some time, in s."""
    return _motion([0.0, duration], np.zeros((2, 3)))


def quintic_step(travel: float, limits: MotionLimits) -> Trajectory:
    """Return the quickest quintic step from rest to rest.

    Args:
        travel: in rad or m.
        limits: of the one joint.
    """
    positions, still = np.array([[0.0], [travel]]), np.zeros((2, 1))
    duration = float(shortest_durations(positions, still, limits, least=_LEAST)[0])
    return _motion([0.0, duration], [[0.0, 0.0, 0.0], [travel, 0.0, 0.0]])


def damped_step(travel: float, sigma: float, limits: MotionLimits) -> Trajectory:
    """Return a critically damped step (Lin 1992, eq. 64-66).

    The published step begins with a jump of the acceleration and never ends.  Here a quintic piece
    leads from rest to it, and another one from where 0.3 % of the way is left to rest.

    Args:
        travel: in rad or m.
        sigma: inverse time constant in 1/s; reduced as far as the limits demand.
        limits: of the one joint.
    """
    curve = np.append(np.arange(_JOINS, _LEAVES, _SPACING), _LEAVES)
    times = np.concatenate([[0.0], curve + (_RISE - _JOINS), [_LEAVES + _RISE - _JOINS + _REST]])
    states = np.vstack([np.zeros(3), _damped(curve), [1.0, 0.0, 0.0]])
    unit = _motion(times, states * abs(travel))
    largest = np.abs(motion_extrema(unit.coefficients, np.diff(unit.times))).max(axis=(1, 2, 3))
    allowed = [
        (float(bound[0]) / peak) ** (1.0 / order)
        for order, (bound, peak) in enumerate(
            zip((limits.velocity, limits.acceleration, limits.jerk), largest[1:], strict=True),
            start=1,
        )
        if peak > 0.0
    ]
    rate = min(sigma, *allowed)
    return _motion(times / rate, states * travel * rate ** np.arange(3))


def _damped(time: Array) -> Array:
    """Return (times, 3): the step of unit size and time constant, with its derivatives."""
    fall = np.exp(-time)
    return np.column_stack([1.0 - (1.0 + time) * fall, time * fall, (1.0 - time) * fall])


def sweep(travel: float, speed: float, limits: MotionLimits) -> Trajectory:
    """Return a motion at constant speed, with gentle ends.

    Args:
        travel: in rad or m; where it is too short for the speed, the speed is reduced.
        speed: positive, in rad/s or m/s.
        limits: of the one joint.
    """
    used = min(speed, abs(travel) / (2.0 * _LEAST))
    used = min(used, math.sqrt(abs(travel) * float(limits.acceleration[0]) / 3.0))
    ramp = ramp_time(used, limits)
    if used * ramp >= abs(travel):
        return quintic_step(travel, limits)
    sign = math.copysign(1.0, travel)
    steady = abs(travel) / used - ramp
    half = used * ramp / 2.0
    states = np.array(
        [[0.0, 0.0, 0.0], [half, used, 0.0], [abs(travel) - half, used, 0.0], [abs(travel), 0, 0]]
    )
    return _motion(np.cumsum([0.0, ramp, steady, ramp]), sign * states)


def ramp_time(speed: float, limits: MotionLimits) -> float:
    """Return how long a joint takes to come to a speed in :func:`sweep`, in s."""
    return max(
        _LEAST,
        1.5 * speed / float(limits.acceleration[0]),
        math.sqrt(6.0 * speed / float(limits.jerk[0])),
    )


def joined(parts: Sequence[Trajectory]) -> Trajectory:
    """Return motions one after the other; each begins where the one before ended."""
    times, positions = [np.zeros(1)], [np.asarray(parts[0].positions[:1])]
    velocities, accelerations = [_rates(parts[0])[0][:1]], [_rates(parts[0])[1][:1]]
    for part in parts:
        velocity, acceleration = _rates(part)
        times.append(times[-1][-1] + part.times[1:] - part.times[0])
        positions.append(positions[-1][-1] + part.positions[1:] - part.positions[0])
        velocities.append(velocity[1:])
        accelerations.append(acceleration[1:])
    return Trajectory(
        parts[0].joint_names,
        np.concatenate(times),
        np.vstack(positions),
        np.vstack(velocities),
        np.vstack(accelerations),
    )


def _rates(part: Trajectory) -> tuple[Array, Array]:
    still = np.zeros(part.positions.shape)
    return (
        still if part.velocities is None else part.velocities,
        still if part.accelerations is None else part.accelerations,
    )


def together(joint_names: tuple[str, ...], motions: Mapping[int, Trajectory]) -> Trajectory:
    """Return motions of single joints side by side; joints without one hold.

    Args:
        joint_names: names of all joints.
        motions: index of a joint -> its motion.
    """
    every = np.unique(np.concatenate([motion.times for motion in motions.values()]))
    later = np.append(np.diff(every) > _APART, True)
    times = np.concatenate([[0.0], every[later & (every > _APART)]])
    states = np.zeros((3, len(times), len(joint_names)))
    for joint, motion in motions.items():
        for out, values in zip(states, motion.sample(times), strict=True):
            out[:, joint] = values[:, 0]
    return Trajectory(joint_names, times, *states)


def of_joint(limits: MotionLimits, joint: int) -> MotionLimits:
    """Return the limits of one joint, as arrays of one entry."""
    return MotionLimits(**{name: values[[joint]] for name, values in vars(limits).items()})


def _motion(
    times: Sequence[float] | Array, states: Sequence[Sequence[float]] | Array
) -> Trajectory:
    """Return a motion of one joint through (points, 3) positions, velocities, accelerations."""
    columns = np.asarray(states, dtype=np.float64)[:, :, None]
    return Trajectory(_NAME, np.asarray(times), columns[:, 0], columns[:, 1], columns[:, 2])
