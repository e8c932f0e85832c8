"""Small robots whose motion can be worked out by hand, and a motion for them."""

import math

import numpy as np

from random_robots import coupled_wrist, random_robot, random_values
from robot_identification.dynamics.reference import Reference
from robot_identification.excitation.motions.trajectory import Trajectory, interpolate
from robot_identification.robot.experiment import Controller
from robot_identification.robot.joint import Joint, JointLimits, JointType
from robot_identification.robot.model import RobotModel


def pendulum(gravity=9.81, **limits):
    """Return a link about a horizontal axis; at position 0 it points sideways."""
    joint = Joint(
        name="hinge",
        link="arm",
        type=JointType.REVOLUTE,
        antecedent=-1,
        rotation=np.eye(3),
        translation=np.zeros(3),
        limits=JointLimits(**limits),
    )
    return RobotModel("pendulum", "base", (joint,), [0.0, -gravity, 0.0])


def pendulum_values(ZZ=0.5, MX=1.0, Fv=0.0, Fc=0.0):
    values = np.zeros(14)
    values[[5, 6, 9, 11, 12]] = ZZ, MX, 2.0, Fv, Fc
    return values


PENDULUM_LIMITS = {"lower": -3.0, "upper": 3.0, "velocity": 4.0, "acceleration": 10.0}


def pendulum_sweep(points=2, joints=("hinge",)):
    """Return a motion from 0 to 1 rad in a second, from rest to rest."""
    times, still = np.linspace(0.0, 1.0, points), np.zeros((points, len(joints)))
    positions = np.repeat(np.linspace(0.0, 1.0, points)[:, None], len(joints), axis=1)
    return Trajectory(joints, times, positions, still, still)


def sinusoid(amplitude, frequency, duration, piece=0.01):
    """Return a reference along a raised cosine, by quintic pieces of so many seconds."""
    t = np.arange(0.0, duration + 0.5 * piece, piece)
    w = 2.0 * math.pi * frequency
    at = np.array(amplitude)[None, :]
    position = at * (1.0 - np.cos(w * t))[:, None]
    velocity = at * w * np.sin(w * t)[:, None]
    acceleration = at * w**2 * np.cos(w * t)[:, None]
    return Reference(t, interpolate(t, position, velocity, acceleration))


def two_joints_with_coupled_friction(coulomb=(0.5, 0.3), coupled=0.4):
    rng = np.random.default_rng(8)
    robot = random_robot(rng, 2, coupled_wrist())
    values = random_values(rng, robot)
    values[[12, 26]] = coulomb
    values[24] = 0.1
    values[-1] = coupled
    gains = {"kp": (400.0, 400.0), "kd": (40.0, 40.0)}
    return robot, values, Controller("pid", 1000.0, gains)
