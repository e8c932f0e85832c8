"""Chains of hinges and slides, values of their parameters by name, and their conditions."""

import numpy as np

from robot_identification.calibration.consistency.conditions import conditions
from robot_identification.robot.joint import Joint, JointType
from robot_identification.robot.model import RobotModel

REVOLUTE, PRISMATIC = JointType.REVOLUTE, JointType.PRISMATIC


def robot_of(*joints, couplings=()):
    """Return a chain of joints, each a type and the length of the link before it in m."""
    return RobotModel(
        "machine",
        "base",
        tuple(
            Joint(f"joint_{i}", f"link_{i}", kind, i - 2, np.eye(3), np.array([0.0, length, 0.0]))
            for i, (kind, length) in enumerate(joints, start=1)
        ),
        [0.0, 0.0, -9.81],
        couplings,
    )


def hinge_and_slide(couplings=()):
    return robot_of((REVOLUTE, 0.3), (PRISMATIC, 0.5), couplings=couplings)


def full(robot, **given):
    names = robot.all_parameter_names
    values = np.zeros(len(names))
    for name, value in given.items():
        values[names.index(name)] = value
    return values


def found(robot, boxes=None):
    return {(c.kind, c.owner): c for c in conditions(robot, boxes)}
