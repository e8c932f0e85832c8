"""The braking trajectory that a moving robot is sent.

It sets out from the measured position and velocity, carried forward to its start stamp.  As long as
the robot follows, the lag that its controller has fades out while it brakes
(:mod:`robot_identification.excitation.handover`); a robot that has left its reference is asked for
the measured position at once.  Where no fresh state says where the robot is, it brakes from the
reference.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_identification.excitation.braking import Braking, brake
from robot_identification.excitation.handover import extrapolated_lag, with_lag
from robot_identification.excitation.limits import MotionLimits
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.nodes.joint_states import NANOSECONDS
from robot_identification.nodes.motion_states import MotionStates
from robot_identification.robot.model import Array

RELEASE = 0.02
"""Time, in s, in which the acceleration at the beginning falls to zero; longer for a jerk limit."""

_FITTED = 0.02
_FITTED_READINGS = 5


def release_time(limits: MotionLimits) -> float:
    """Return how long the acceleration takes to fall to zero before braking proper, in s."""
    return max(RELEASE, float((limits.acceleration / limits.jerk).max()))


@dataclass(frozen=True)
class BrakingLimits:
    """What braking keeps.

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

    def brake(self, names: tuple[str, ...], q: Array, v: Array, a: Array) -> Braking:
        """Return the braking motion from a state (joints,), and whether it ends inside."""
        gentle = _released(self.planned, names, q, v, a)
        if self.hold(gentle) and gentle.duration <= self.time:
            return Braking(gentle, True)
        hard = _released(self.declared, names, q, v, a)
        return Braking(hard, self.hold(hard))

    def hold(self, motion: Trajectory) -> bool:
        """Tell whether a motion ends inside the positions of the robot."""
        end = motion.positions[-1]
        return bool(((end >= self.declared.lower) & (end <= self.declared.upper)).all())


def brake_from_reference(limits: BrakingLimits, reference: Trajectory, time: float) -> Braking:
    """Return the braking motion that continues a reference smoothly.

    Args:
        limits: what to keep.
        reference: what the robot is following.
        time: on the reference's clock, in s.
    """
    return limits.brake(reference.joint_names, *(values[0] for values in reference.sample(time)))


def brake_while_following(
    limits: BrakingLimits, reference: Trajectory, start: int, states: MotionStates, now: int
) -> Braking:
    """Return the braking motion of a robot that follows its reference.

    Args:
        limits: what to keep.
        reference: what the robot is following.
        start: its start stamp in ns.
        states: what was measured; with at least one reading.
        now: start stamp of the braking motion in ns.
    """
    readings = states.recent(_FITTED, _FITTED_READINGS)
    times = np.array([(reading.stamp - start) / NANOSECONDS for reading in readings])
    at = (now - start) / NANOSECONDS
    measured = np.array([reading.position for reading in readings])
    lag = extrapolated_lag(times, reference.sample(times)[0] - measured, at)
    q, v, a = (values[0] for values in reference.sample(at))
    braking = limits.brake(reference.joint_names, q - lag.position, v - lag.velocity, a)
    faded = with_lag(braking.trajectory, lag, limits.declared, min(limits.lag_time, limits.time))
    return Braking(faded, limits.hold(faded))


def brake_where_it_is(
    limits: BrakingLimits, names: tuple[str, ...], states: MotionStates, now: int
) -> Braking:
    """Return the braking motion of a robot that does not follow; its states have a reading.

    Raises:
        StaleStateError: there is no reading.
    """
    reading, velocity = states.fresh(now, np.inf), states.velocity()
    position = reading.position + velocity * (now - reading.stamp) / NANOSECONDS
    return limits.brake(names, position, velocity, np.zeros_like(velocity))


def _released(
    limits: MotionLimits, names: tuple[str, ...], q: Array, v: Array, a: Array
) -> Trajectory:
    """Return a motion whose acceleration falls linearly to zero, and that brakes then."""
    if not np.any(a):
        return brake(limits, names, q, v).trajectory
    u = release_time(limits)
    rest = brake(limits, names, q + v * u + a * u**2 / 3.0, v + a * u / 2.0).trajectory
    later = Trajectory(names, rest.times + u, rest.positions, rest.velocities, rest.accelerations)
    return later.preceded_by(0.0, q, v, a)
