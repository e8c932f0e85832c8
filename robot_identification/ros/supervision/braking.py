"""The braking trajectory that a moving robot is sent; it keeps every limit, wherever it sets out.

A robot that follows its reference brakes from the measured position and velocity, carried forward
to the start stamp; the lag that its controller has fades out meanwhile
(:mod:`robot_identification.excitation.motions.handover`).  One that has left its reference brakes
from the measured position at once.  Both come from several states and from the reference, and stay
within what the limits and the certified motion allow.  Where no fresh state says where the robot
is, and where no braking from the measured state keeps the limits, it brakes from the reference, as
its certificate has it; where even that fails, it is held where the reference was last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from robot_identification.excitation.certification.checks import exceeded
from robot_identification.excitation.motions.braking import (
    brake,
    release_time,
    released,
    stopping_factors,
)
from robot_identification.excitation.motions.handover import (
    FADE_SHARE,
    Lag,
    bounded_lag,
    robust_line,
    with_lag,
)
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.timing import motion_extrema
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.arrays import Array, by_value
from robot_identification.ros.common.joint_states import NANOSECONDS
from robot_identification.ros.supervision.states import Reading

FITTED = 0.05
"""Time, in s, over which the last readings tell position and velocity."""
FITTED_READINGS = 5

BRAKING_REST = 0.5
"""Time at rest, in s, that ends every braking trajectory.

A controller refuses a trajectory that is over when it comes, and goes on with the one before; near
rest braking alone takes some 20 ms.
"""

_LEAST_HOLD = 0.1
_ROUNDING = 1e-9
_NEARLY = 0.999


@dataclass(frozen=True)
class BrakingLimits:
    """Limits that braking keeps.

    Attributes:
        planned: the narrowed limits that plans keep, and braking wherever there is room.
        declared: those of the robot; braking that would end outside its positions, or too late,
            uses all of its accelerations.
        time: in which the robot is to be at rest, in s.
        lag_time: time in which the lag of the controller fades out at most, in s.
    """

    planned: MotionLimits
    declared: MotionLimits
    time: float
    lag_time: float

    @property
    def hardest(self) -> MotionLimits:
        """The limits of the robot, with room for the rounding of times to whole nanoseconds."""
        return replace(
            self.declared,
            acceleration=_NEARLY * self.declared.acceleration,
            jerk=_NEARLY * self.declared.jerk,
        )

    @property
    def fading_time(self) -> float:
        """Time, in s, in which the lag fades out at most."""
        return min(self.lag_time, self.time)


class Origin(Enum):
    """State in which braking begins."""

    FOLLOWING = "the measured state, with the lag of the controller"
    MEASURED = "the measured state"
    REFERENCE = "the reference"


@by_value
@dataclass(frozen=True)
class Situation:
    """State, motion and limits at the moment at which a robot is to brake.

    Attributes:
        reference: what it is to follow.
        time: the moment, on the reference's clock, in s.
        readings: the last joint states.
        reading_times: when they were, on the reference's clock, in s.
    """

    reference: Trajectory
    time: float
    readings: Sequence[Reading]
    reading_times: Array

    @classmethod
    def of(
        cls, reference: Trajectory, start: int, readings: Sequence[Reading], now: int
    ) -> Situation:
        """Return the situation by stamps.

        Args:
            reference: what the robot is to follow.
            start: stamp of its start in ns.
            readings: the last joint states.
            now: stamp of the moment in ns.
        """
        times = np.array([(reading.stamp - start) / NANOSECONDS for reading in readings])
        return cls(reference, (now - start) / NANOSECONDS, tuple(readings), times)

    @property
    def measured(self) -> Array:
        """(readings, joints) measured positions."""
        return np.array([reading.position for reading in self.readings])

    def referred(self) -> tuple[Array, Array, Array]:
        """Return position, velocity and acceleration of the reference now, (joints,) each."""
        q, v, a = (values[0] for values in self.reference.sample(self.time))
        return q, v, a


@dataclass(frozen=True)
class Stop:
    """A motion to rest that keeps every limit.

    Attributes:
        trajectory: the motion; its clock begins at 0.
        flaw: why it is not the one that was wanted; empty if it is.
    """

    trajectory: Trajectory
    flaw: str = ""


def stop_motion(limits: BrakingLimits, situation: Situation, origin: Origin) -> Stop:
    """Return the first of all ways to brake that keeps the limits.

    Args:
        limits: what to keep.
        situation: with at least one reading, unless the origin is the reference.
        origin: where braking is to set out from.
    """
    flaw = ""
    for motion in _WAYS[origin](limits, situation):
        outside = exceeded(motion, limits.declared)
        if not outside:
            return Stop(motion)
        flaw = f"braking from {origin.value} does not keep the limits ({outside})"
    if origin is not Origin.REFERENCE:
        for motion in _from_reference(limits, situation):
            if not exceeded(motion, limits.declared):
                return Stop(motion, f"{flaw}; it brakes from the reference")
    held = hold(limits, situation.reference.joint_names, situation.referred()[0])
    return Stop(held, f"{flaw}; it is held where the reference was")


def hold(limits: BrakingLimits, joint_names: tuple[str, ...], position: Array) -> Trajectory:
    """Return the command to stay at a position, for as long as braking may take; it cannot fail.

    Args:
        limits: what to keep.
        joint_names: names of the joints.
        position: (joints,) where to stay; where it is outside the limits, at the limit.
    """
    there = np.clip(np.nan_to_num(position), limits.declared.lower, limits.declared.upper)
    still = np.zeros((2, len(joint_names)))
    time = max(float(np.nan_to_num(limits.time)), _LEAST_HOLD)
    return Trajectory(joint_names, np.array([0.0, time]), np.array([there, there]), still, still)


def _from_reference(limits: BrakingLimits, situation: Situation) -> Iterator[Trajectory]:
    """Continue the reference smoothly."""
    names, state = situation.reference.joint_names, situation.referred()
    yield from _in_time(limits, _released(limits.planned, names, *state))
    yield _released(limits.hardest, names, *state)


def _while_following(limits: BrakingLimits, situation: Situation) -> Iterator[Trajectory]:
    """Brake from the measured state, and let the lag of the controller fade."""
    names = situation.reference.joint_names
    q, v, a = situation.referred()
    errors = situation.reference.sample(situation.reading_times)[0] - situation.measured
    longest = limits.fading_time
    found = Lag(*robust_line(situation.reading_times, errors, situation.time))
    lag = bounded_lag(found, limits.declared, longest)

    def faded(motion: Trajectory) -> Trajectory:
        return with_lag(motion, lag, limits.declared, longest)

    state = q - lag.position, v - lag.velocity, a
    yield from map(faded, _in_time(limits, _released(limits.planned, names, *state)))
    without = 1.0 - 2.0 * FADE_SHARE  # what the lag and its rate leave
    rest = replace(
        limits.declared.tightened(acceleration=without), jerk=without * limits.hardest.jerk
    )
    yield faded(_released(rest, names, *state))


def _where_it_is(limits: BrakingLimits, situation: Situation) -> Iterator[Trajectory]:
    """Brake from the measured state, no faster than the certified motion ever is."""
    names = situation.reference.joint_names
    q, v = robust_line(situation.reading_times, situation.measured, situation.time)
    v = _bounded_velocity(limits.hardest, situation.reference, q, v)
    still = np.zeros_like(v)
    yield from _in_time(limits, _released(limits.planned, names, q, v, still))
    yield _released(limits.hardest, names, q, v, still)


_WAYS = {
    Origin.FOLLOWING: _while_following,
    Origin.MEASURED: _where_it_is,
    Origin.REFERENCE: _from_reference,
}


def _in_time(limits: BrakingLimits, motion: Trajectory) -> Iterator[Trajectory]:
    """Give out a gentle motion unless it ends too late, or where it may not."""
    if motion.duration <= limits.time:
        yield motion


def _bounded_velocity(
    limits: MotionLimits, reference: Trajectory, position: Array, velocity: Array
) -> Array:
    """Return a velocity that the reference reaches somewhere, and from which there is rest.

    A larger one is wrong, or no braking within the limits takes it away.
    """
    extrema = motion_extrema(reference.coefficients, np.diff(reference.times))
    fastest = np.minimum(np.abs(extrema[1]).max(axis=(0, 1)), limits.velocity)
    room = np.where(velocity > 0.0, limits.upper - position, position - limits.lower)
    per_square, per_speed = stopping_factors(limits)
    room = np.maximum(room, 0.0) * (1.0 - _ROUNDING)
    # The positive root of per_square v^2 + per_speed v = room, also where one factor is zero.
    root = np.sqrt(per_speed**2 + 4.0 * per_square * room)
    stoppable = np.divide(2.0 * room, per_speed + root, out=np.zeros_like(room), where=root > 0.0)
    most = np.minimum(fastest, stoppable)
    bounded: Array = np.clip(velocity, -most, most)
    return bounded


def _released(
    limits: MotionLimits, names: tuple[str, ...], q: Array, v: Array, a: Array
) -> Trajectory:
    """Return a motion whose acceleration falls linearly to zero, and that brakes then."""
    if not np.any(a):
        return brake(limits, names, q, v)
    u = release_time(limits)
    rest = brake(limits, names, *released(limits, q, v, a))
    later = Trajectory(names, rest.times + u, rest.positions, rest.velocities, rest.accelerations)
    return later.preceded_by(0.0, q, v, a)
