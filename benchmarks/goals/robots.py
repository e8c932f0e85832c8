"""Robots that the goals are measured with, the same for Pinocchio, and motions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio as pin
from base_parameters import robot_of
from didim_seven_joints import panda

from robot_identification.identification.base.parameters import BaseParameters, base_parameters
from robot_identification.robot.arrays import Array
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.joint import JointType
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.kinds import TermKind

_TREE = 30
_HARMONICS = 5
_FUNDAMENTAL_HZ, _PERIODS = 0.1, 3.0


@dataclass(frozen=True)
class Arm:
    """A robot with values of its parameters.

    Attributes:
        name: short name.
        robot: the robot, without couplings: 14 columns per joint.
        values: (columns,) parameters in the order of ``robot.all_parameter_names``.
    """

    name: str
    robot: RobotModel
    values: Array

    @property
    def joints(self) -> int:
        """Number of joints."""
        return len(self.robot.joints)

    @cached_property
    def base(self) -> BaseParameters:
        """Base parameters."""
        return base_parameters(self.robot)

    @cached_property
    def peer(self) -> Any:
        """Pinocchio's model of it."""
        return pinocchio_model(self.robot, self.values)

    @property
    def pairs(self) -> int:
        """Number of pairs of a link and a joint that moves it."""
        return int(np.count_nonzero(self.robot.ancestors))


def six_joints() -> Arm:
    """Return the TX-40 of config/robots without its coupling."""
    coupled = load_robot("tx40")
    values = np.array(load_values("tx40_simulated", coupled))
    robot = replace(coupled, couplings=(), experiment=None)
    joints = tuple(replace(j, limits=replace(j.limits, effort=None)) for j in robot.joints)
    return Arm("6R", replace(robot, joints=joints), robot.layout.table(values).ravel())


def seven_joints() -> Arm:
    """Return the Panda of example-robot-data, drives chosen, without limits of the efforts."""
    robot, values = panda()
    joints = tuple(replace(j, limits=replace(j.limits, effort=None)) for j in robot.joints)
    return Arm("7R", replace(robot, joints=joints), np.array(values))


def tree(joints: int = _TREE, name: str = "tree of 30") -> Arm:
    """Return a random tree, a fifth of its joints prismatic, with random bodies."""
    rng = np.random.default_rng(0)
    antecedents = [int(rng.integers(max(-1, i - 6), i)) for i in range(joints)]
    robot = robot_of(name, antecedents, rng, oblique=True)
    return Arm(name, robot, random_values(joints, rng))


def chain(joints: int) -> Arm:
    """Return a serial arm with random bodies."""
    rng = np.random.default_rng(0)
    robot = robot_of(f"{joints}R", [i - 1 for i in range(joints)], rng, oblique=False)
    return Arm(f"{joints}R", robot, random_values(joints, rng))


def random_values(joints: int, rng: np.random.Generator) -> Array:
    """Return parameters of bodies that can exist, drives and friction."""
    values = []
    for _ in range(joints):
        mass, centre = rng.uniform(1.0, 5.0), rng.uniform(-0.1, 0.1, 3)
        tensor = np.diag(rng.uniform(0.9, 1.1, 3)) * 0.01 * mass
        tensor += mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
        values += [*tensor[np.triu_indices(3)], *(mass * centre), mass, 0.1, 1.0, 1.0, 0.0]
    return np.array(values)


def pinocchio_model(robot: RobotModel, values: Array) -> Any:
    """Return Pinocchio's model of a robot, drive inertias included."""
    model = pin.Model()
    model.gravity.linear = np.array(robot.gravity)
    numbers = [0]
    for j, joint in enumerate(robot.joints):
        own = values[robot.layout.link(j)]
        placement = pin.SE3(np.array(joint.rotation), np.array(joint.translation))
        kind = pin.JointModelPZ() if joint.type is JointType.PRISMATIC else pin.JointModelRZ()
        index = model.addJoint(numbers[joint.antecedent + 1], kind, placement, joint.name)
        numbers.append(index)
        mass, centre = own[9], own[6:9] / own[9]
        tensor = np.array(
            [[own[0], own[1], own[2]], [own[1], own[3], own[4]], [own[2], own[4], own[5]]]
        )
        tensor -= mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
        model.appendBodyToJoint(index, pin.Inertia(mass, centre, tensor), pin.SE3.Identity())
    drives = [robot.layout.columns(j, TermKind.INERTIA) for j in range(len(robot.joints))]
    model.armature = np.array([values[columns].sum() for columns in drives])
    return model


def motion(joints: int, samples: int, amplitude: float = 0.5) -> npt.NDArray[np.float64]:
    """Return (3, joints, samples) position, velocity and acceleration of a Fourier series at 1 kHz.

    The series of every joint has five harmonics of its own about a posture of its own, of 0.1 Hz
    or as much more as lets a short motion turn round several times.
    """
    rng = np.random.default_rng(1)
    t = np.arange(samples) / 1000.0
    fundamental = max(_FUNDAMENTAL_HZ, _PERIODS * 1000.0 / samples)
    result = np.zeros((3, joints, samples))
    for j in range(joints):
        for h in range(1, _HARMONICS + 1):
            w = 2.0 * np.pi * fundamental * h * rng.uniform(0.9, 1.1)
            a, b = rng.normal(size=2) * amplitude / h
            sine, cosine = np.sin(w * t), np.cos(w * t)
            result[0, j] += a * sine + b * cosine
            result[1, j] += w * (a * cosine - b * sine)
            result[2, j] -= w**2 * (a * sine + b * cosine)
        result[0, j] += rng.uniform(-1.0, 1.0)
    return result
