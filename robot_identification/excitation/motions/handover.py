"""Transition from following a reference to braking from the measured state.

A controller follows its reference with a lag e, reference minus measured position: the lag is what
its stiffness turns into the efforts for friction and for what it does not know of the inertia.  A
reference that suddenly began at the measured position would take these efforts away at once, an
acceleration of stiffness times lag over inertia.  Braking is therefore computed from the measured
position and velocity, and the lag that the controller has is added to it and fades out along a
quintic, whose acceleration and jerk are kept to a share of the limits.  What does not fade in the
time that there is stays: the robot then comes to rest that much further on.

Positions are noisy, and a single one of them may be wrong altogether.  What is extrapolated to the
moment of braking is therefore the line through the median of all slopes between two samples, which
up to a quarter of the samples cannot move far (Theil 1950, Sen 1968).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.arrays import Array, by_value, read_only

FADE_SHARE = 0.1
"""Share of the limits of acceleration and jerk that the fading lag uses, and its rate once more."""

# Largest second and third derivatives of 10 s^3 - 15 s^4 + 6 s^5 ...
_QUINTIC_PEAK = 10.0 / np.sqrt(3.0)
_QUINTIC_JERK = 60.0
# ... and, rounded up, of s - 6 s^3 + 8 s^4 - 3 s^5.
_RATE_PEAK = 4.0
_RATE_JERK = 36.0
_SHORTEST = 1e-3
_MOST_SAMPLES = 32


@by_value
@dataclass(frozen=True)
class Lag:
    """By how much a reference is ahead of the measured state, and how fast that grows.

    Attributes:
        position: (joints,) reference minus measured position, in rad or m.
        velocity: (joints,) its rate, in rad/s or m/s.
    """

    position: Array
    velocity: Array

    def __post_init__(self) -> None:
        for name, values in vars(self).copy().items():
            object.__setattr__(self, name, read_only(values))


def robust_line(times: npt.ArrayLike, values: npt.ArrayLike, at: float) -> tuple[Array, Array]:
    """Return value and rate, at a time, of the line that most samples lie on.

    Args:
        times: (samples,) in s, increasing; at least one.
        values: (samples, joints); of many samples some 32 are used, the last among them.
        at: time in s.

    Returns:
        Two arrays (joints,): the value, and its rate in units per second; the rate of one sample
        is 0.
    """
    t, x = np.asarray(times, dtype=np.float64), np.asarray(values, dtype=np.float64)
    step = -(-len(t) // _MOST_SAMPLES)
    t, x = t[::-1][::step], x[::-1][::step]
    if len(t) < 2:
        return x[0], np.zeros_like(x[0])
    i, j = np.triu_indices(len(t), 1)
    rate: Array = np.median((x[i] - x[j]) / (t[i] - t[j])[:, None], axis=0)
    value: Array = np.median(x + rate * (at - t)[:, None], axis=0)
    return value, rate


def bounded_lag(lag: Lag, limits: MotionLimits, longest: float) -> Lag:
    """Return a lag whose rate can fade out in the time that there is.

    Args:
        lag: as it was measured.
        limits: of its joints.
        longest: time in which it fades out at most, in s; 0: there is none from the beginning.
    """
    if longest < _SHORTEST:
        return lag
    most = FADE_SHARE * np.minimum(
        limits.acceleration * longest / _RATE_PEAK, limits.jerk * longest**2 / _RATE_JERK
    )
    return Lag(lag.position, np.clip(lag.velocity, -most, most))


def with_lag(braking: Trajectory, lag: Lag, limits: MotionLimits, longest: float) -> Trajectory:
    """Return a braking motion to which a lag is added that fades out.

    It begins at the braking motion's first position and velocity plus the lag: where the reference
    is that the controller follows.

    Args:
        braking: from the measured state to rest; its clock begins at 0.
        lag: of the controller at the beginning; its rate no larger than :func:`bounded_lag` has it.
        limits: of the joints of the braking motion.
        longest: time in which the lag fades out at most, in s; 0: there is no lag from the
            beginning.
    """
    if longest < _SHORTEST:
        return braking
    room, jerk = FADE_SHARE * limits.acceleration, FADE_SHARE * limits.jerk
    e, rate = np.abs(lag.position), np.abs(lag.velocity)
    wanted = np.max(
        [
            np.sqrt(_QUINTIC_PEAK * e / room),
            np.cbrt(_QUINTIC_JERK * e / jerk),
            _RATE_PEAK * rate / room,
            np.sqrt(_RATE_JERK * rate / jerk),
        ]
    )
    end = _near(braking.times, min(max(float(wanted), _SHORTEST), longest))
    most = np.minimum(room * end**2 / _QUINTIC_PEAK, jerk * end**3 / _QUINTIC_JERK)
    left = lag.position - np.clip(lag.position, -most, most)
    still = np.zeros_like(left)
    fading = Trajectory(
        braking.joint_names,
        np.array([0.0, end]),
        np.array([lag.position, left]),
        np.array([lag.velocity, still]),
        np.array([still, still]),
    )
    times = np.union1d(braking.times, [end])
    sums = (b + f for b, f in zip(braking.sample(times), fading.sample(times), strict=True))
    return Trajectory(braking.joint_names, times, *sums)


def _near(times: Array, time: float) -> float:
    """Return a time, or the one of some times that is too near to be a point of its own."""
    later = times[times > 0.0]
    nearest = float(later[np.argmin(np.abs(later - time))])
    return nearest if abs(nearest - time) < _SHORTEST else time
