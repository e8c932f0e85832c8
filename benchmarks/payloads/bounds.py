"""What the noise of the efforts leaves of a payload, whoever estimates it.

The bound of Cramér and Rao is that of somebody who knows the arm exactly, friction, velocities and
accelerations included, and the inertia of the body about its centre too: the efforts of the body
are the only thing unknown, and white noise the only one wrong.  No unbiased estimate of mass and
centre has a smaller covariance.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import scipy.signal

from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.robot.arrays import Array
from robot_identification.robot.bodies import Body
from robot_identification.robot.model import RobotModel
from robot_identification.robot.mounting import Mounting

_STEPS = (1e-3, 1e-4, 1e-4, 1e-4)  # kg, m
_MOTION = 10.0  # Hz, above which positions are noise
_DRAWS = 20_000


def covariance(
    robot: RobotModel, mounting: Mounting, body: Body, position: Array, noise: Array, rate: float
) -> Array:
    """Return (4, 4) the smallest covariance of mass and centre, kg and m.

    Args:
        robot: the arm.
        mounting: where the body is held.
        body: the true one.
        position: (samples, joints) of the motion that is looked at, in rad.
        noise: (joints,) standard deviation of the efforts, white, in N m.
        rate: of the samples in Hz.
    """
    low = scipy.signal.butter(4, _MOTION, fs=rate, output="sos")
    q = scipy.signal.sosfiltfilt(low, position, axis=0)
    qd = np.gradient(q, 1.0 / rate, axis=0)
    qdd = np.gradient(qd, 1.0 / rate, axis=0)
    bare = np.zeros(len(robot.all_parameter_names))

    def efforts(other: Body) -> Array:
        return inverse_dynamics(robot, mounting.with_body(bare, other), q, qd, qdd) / noise

    slopes = []
    for number, step in enumerate(_STEPS):
        sides = []
        for change in (step, -step):
            moved = np.array([body.mass, *body.centre])
            moved[number] += change
            sides.append(efforts(replace(body, mass=float(moved[0]), centre=moved[1:])))
        slopes.append(((sides[0] - sides[1]) / (2.0 * step)).ravel())
    rows = np.column_stack(slopes)
    return np.linalg.inv(rows.T @ rows)


def shares(least: Array, mass: float, near: float, within: float) -> tuple[float, float]:
    """Return how often normal errors of a covariance are small, of the mass and of the centre.

    Args:
        least: (4, 4) from :func:`covariance`.
        mass: the true one, in kg.
        near: share of the mass within which its error counts as small.
        within: distance in m within which the centre counts as found.
    """
    of_mass = math.erf(near * mass / math.sqrt(2.0 * least[0, 0]))
    drawn = np.random.default_rng(0).multivariate_normal(np.zeros(3), least[1:, 1:], _DRAWS)
    return of_mass, float(np.mean(np.linalg.norm(drawn, axis=1) <= within))
