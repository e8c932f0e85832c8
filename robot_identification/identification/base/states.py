"""Random states of a robot, for questions about the structure of its models."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robot_identification.robot.loops import LoopConstraint
from robot_identification.robot.model import Array, JointType, RobotModel

# With these ranges inertial, centrifugal and gravity efforts are of one order of magnitude.
_VELOCITY = 3.0
_ACCELERATION = 10.0
_SLIDE = (0.1, 1.0)


class States(NamedTuple):
    """Positions, velocities and accelerations of the active joints, (samples, active) each."""

    q: Array
    qd: Array
    qdd: Array


def ranges(robot: RobotModel, constraint: LoopConstraint) -> Array:
    """Return (3, active) half ranges of position, velocity and acceleration.

    Revolute joints turn half a turn to either side.  Prismatic joints move as far as the links
    are long (between 0.1 m and 1 m), so that both kinds move the links alike.
    """
    lengths = [float(np.linalg.norm(joint.translation)) for joint in robot.joints]
    slide = float(np.clip(max(lengths), *_SLIDE))
    kinds = [robot.joints[i].type for i in constraint.active]
    size = np.array([slide if kind is JointType.PRISMATIC else 1.0 for kind in kinds])
    turn = np.array([slide if kind is JointType.PRISMATIC else np.pi for kind in kinds])
    return np.array([turn, _VELOCITY * size, _ACCELERATION * size])


def random_states(half_ranges: Array, samples: int, rng: np.random.Generator) -> States:
    """Return independent, evenly distributed states.

    Args:
        half_ranges: (3, active) as from :func:`ranges`.
        samples: number of states.
        rng: source of the numbers; the same seed gives the same states.
    """
    joints = half_ranges.shape[1]
    numbers = rng.uniform(-1.0, 1.0, size=(3, samples, joints))
    return States(*(numbers * half_ranges[:, None]))
