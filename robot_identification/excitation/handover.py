"""From following a reference to braking from the measured state.

A controller follows its reference with a lag e, reference minus measured position: the lag is what
its stiffness turns into the efforts for friction and for what it does not know of the inertia.  A
reference that suddenly began at the measured position would take these efforts away at once, an
acceleration of stiffness times lag over inertia.  Braking is therefore computed from the measured
position and velocity, and the lag that the controller has is added to it and fades out along a
quintic, whose acceleration is kept to a share of the limits.  What does not fade in the time that
there is stays: the robot then comes to rest that much further on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.excitation.limits import MotionLimits
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.robot.arrays import by_value
from robot_identification.robot.model import Array, read_only

FADE_SHARE = 0.1
"""Share of the acceleration limits that the fading lag uses."""

_QUINTIC_PEAK = 10.0 / np.sqrt(3.0)  # largest second derivative of 10 s^3 - 15 s^4 + 6 s^5
_RATE_PEAK = 4.0  # no less than that of s - 6 s^3 + 8 s^4 - 3 s^5
_SHORTEST = 1e-3


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


def extrapolated_lag(times: npt.ArrayLike, errors: npt.ArrayLike, at: float) -> Lag:
    """Return the lag at a time, by the straight line that fits the last errors best.

    The reference carries the acceleration, so that only the slowly changing lag is extrapolated,
    and the noise of single samples is averaged out.

    Args:
        times: (samples,) in s, increasing.
        errors: (samples, joints) reference minus measured position at these times.
        at: time in s.
    """
    t, e = np.asarray(times, dtype=np.float64), np.asarray(errors, dtype=np.float64)
    away = t - t.mean()
    spread = float(away @ away)
    rate = away @ e / spread if spread > 0.0 else np.zeros(e.shape[1])
    return Lag(e.mean(axis=0) + rate * (at - t.mean()), rate)


def with_lag(braking: Trajectory, lag: Lag, limits: MotionLimits, longest: float) -> Trajectory:
    """Return a braking motion to which a lag is added that fades out.

    It begins at the braking motion's first position and velocity plus the lag: where the reference
    is that the controller follows.

    Args:
        braking: from the measured state to rest; its clock begins at 0.
        lag: of the controller at the beginning.
        limits: of the joints of the braking motion.
        longest: time in which the lag fades out at most, in s; 0: there is no lag from the
            beginning.
    """
    if longest < _SHORTEST:
        return braking
    room = FADE_SHARE * limits.acceleration
    wanted = np.maximum(
        np.sqrt(_QUINTIC_PEAK * np.abs(lag.position) / room),
        _RATE_PEAK * np.abs(lag.velocity) / room,
    )
    end = _near(braking.times, min(max(float(wanted.max()), _SHORTEST), longest))
    most = room * end**2 / _QUINTIC_PEAK
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
