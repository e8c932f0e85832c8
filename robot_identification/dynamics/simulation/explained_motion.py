"""Accelerations and friction of a simulated motion that satisfy its model to rounding.

A simulation gives positions, velocities, efforts, and the friction that acted, sticking included.
With the same parameters they fix the accelerations, so that for every sample

    effort = W(q, qd, qdd, shares) chi

holds to rounding, at reversals and at rest too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robot_identification.dynamics.coulomb import coulomb_terms_of
from robot_identification.dynamics.direct import Plant
from robot_identification.dynamics.kernels import direct as direct_kernels
from robot_identification.dynamics.simulation.fixed_step import SimulatedSamples
from robot_identification.dynamics.tree import Floats
from robot_identification.errors import MassMatrixError
from robot_identification.robot.model import RobotModel


class ExplainedMotion(NamedTuple):
    """What the efforts of a simulation did to the robot.

    Attributes:
        acceleration: (samples, joints) in rad/s^2 or m/s^2.
        shares: (samples, motions) of the friction motions of
            :func:`~robot_identification.dynamics.coulomb.coulomb_terms_of`.
    """

    acceleration: Floats
    shares: Floats


def explain(robot: RobotModel, plant: Plant, samples: SimulatedSamples) -> ExplainedMotion:
    """Return accelerations and friction shares of a simulated motion.

    Args:
        robot: the robot.
        plant: the parameters that it was simulated with.
        samples: from :class:`~robot_identification.dynamics.simulation.fixed_step.ClosedLoop`.

    Raises:
        MassMatrixError: if the mass matrix of a sample is not positive definite.
    """
    q, qd = (np.array(signal, order="C") for signal in (samples.position, samples.velocity))
    driving = np.ascontiguousarray(samples.effort - samples.slip @ plant.action)
    none = np.empty((0, q.shape[1]))
    acceleration = np.empty(q.shape)
    failed = direct_kernels.accelerations(
        plant._replace(motion=none, action=none), q, qd, driving, acceleration
    )
    if failed >= 0:
        raise MassMatrixError(robot.name, int(failed))
    motions = coulomb_terms_of(robot).motions
    shares = np.sign(qd @ motions.T)
    place = {tuple(motion): i for i, motion in enumerate(motions)}
    shares[:, [place[tuple(motion)] for motion in plant.motion]] = samples.slip
    return ExplainedMotion(acceleration, shares)
