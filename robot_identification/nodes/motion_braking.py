"""The braking trajectory that a moving robot is sent, without a jump of what it is asked for.

As long as the robot follows, its controller is asked for the measured state plus a small tracking
error.  A braking trajectory that began at the measured position would take this error away within
one message: an acceleration of the controller's stiffness times the error, on top of braking.  It
therefore sets out from the reference, which the measured state has just confirmed.  A robot that
has left its reference brakes from the measured position and velocity.
"""

from __future__ import annotations

import numpy as np

from robot_identification.excitation.braking import Braking, brake
from robot_identification.excitation.limits import MotionLimits
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.robot.model import Array

RELEASE = 0.02
"""Time, in s, in which the acceleration at the beginning falls to zero; longer for a jerk limit."""


def release_time(limits: MotionLimits) -> float:
    """Return how long the acceleration takes to fall to zero before braking proper, in s."""
    return max(RELEASE, float((limits.acceleration / limits.jerk).max()))


def brake_from_reference(limits: MotionLimits, reference: Trajectory, time: float) -> Braking:
    """Return the braking motion that continues a reference smoothly.

    The acceleration falls linearly to zero, then :func:`brake` takes over.

    Args:
        limits: of the joints of the reference.
        reference: what the robot is following.
        time: on the reference's clock, in s.
    """
    q, v, a = (values[0] for values in reference.sample(time))
    if not np.any(v) and not np.any(a):
        return brake(limits, reference.joint_names, q, v)
    u = release_time(limits)
    rest = brake(limits, reference.joint_names, q + v * u + a * u**2 / 3.0, v + a * u / 2.0)
    return Braking(_joined(rest.trajectory, u, q, v, a), rest.keeps_limits)


def _joined(rest: Trajectory, after: float, q: Array, v: Array, a: Array) -> Trajectory:
    later = Trajectory(
        rest.joint_names, rest.times + after, rest.positions, rest.velocities, rest.accelerations
    )
    return later.preceded_by(0.0, q, v, a)
