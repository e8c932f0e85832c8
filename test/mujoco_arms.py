"""Published arms whose motion MuJoCo computes, identified by the nodes as a user would do it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import yaml

from engines import example
from robot_identification import msg
from robot_identification.dynamics.simulation.mujoco import MujocoLoop
from robot_identification.excitation.motions.random_points import (
    RandomPointsSettings,
    random_points,
)
from robot_identification.files.mujoco_models import mujoco_robot
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.urdf_prior import urdf_prior
from robot_identification.robot.parameters import LINK_PARAMETERS
from robot_identification.ros.demo.session import Session

MUJOCO = "mujoco_robot"
ALL_SAMPLES = msg.ProcessingSettings(velocity_threshold=[0.0])
# Friction of MuJoCo is that of sliding only some time after a joint has begun to slide.
SLIDING = msg.ProcessingSettings(velocity_threshold_window=2.0)


@dataclass(frozen=True)
class Arm:
    """An arm of example-robot-data, and what its URDF does not say: chosen, one per joint.

    Attributes:
        urdf: its file there.
        name: its name there.
        kp: gains of the position error.
        kd: gains of the velocity error.
        drives: values of parameters that take the place of the URDF's, by the letters of their
            name: drive inertia `Ia`, friction `Fv` and `Fc`.
        acceleration: limit of all joints, rad/s^2.
    """

    urdf: str
    name: str
    kp: tuple[float, ...]
    kd: tuple[float, ...]
    drives: dict[str, tuple[float, ...]]
    acceleration: float = 10.0

    def write(self, folder):
        """Write robot file and parameter file into a folder; return their paths."""
        robot, values = folder / "arm.yaml", folder / "drives.yaml"
        document = {
            "name": self.name,
            "effort_meaning": "joint_torque",
            "urdf": os.path.relpath(example(self.urdf), folder),
            "joint_defaults": {"limits": {"acceleration": self.acceleration}},
            "controller": {
                "law": "pid",
                "rate_hz": 1000,
                "gains": {"kp": list(self.kp), "kd": list(self.kd)},
            },
        }
        named = {
            f"{kind}{joint}": value
            for kind, column in self.drives.items()
            for joint, value in enumerate(column, start=1)
        }
        robot.write_text(yaml.safe_dump(document))
        values.write_text(yaml.safe_dump({"parameters": named}))
        return robot, values

    def motion(self, robot, seed, points=12):
        """Return a motion within the limits, with twelve points of about 20 s."""
        settings = RandomPointsSettings(points=points, draws=2, reach=0.35, seed=seed)
        return random_points(robot, settings, np.zeros(len(robot.joints))).trajectory

    def truth(self, folder):
        """Return the parameters of MuJoCo's model: bodies as the URDF, drives as MuJoCo has them.

        Returns:
            (full columns,) values.
        """
        path, values = self.write(folder)
        robot = load_robot(path)
        loop = MujocoLoop(robot, *mujoco_robot(robot, path, values=str(values)))
        known = urdf_prior(example(self.urdf), robot).copy()
        robot.layout.table(known)[:, LINK_PARAMETERS:] = loop.drives().values
        return known


# The URDF of the xArm7 states damping and friction; drive inertias of that size are usual.
XARM7 = Arm(
    "xarm_description/urdf/xarm7.urdf",
    "UF_ROBOT",
    kp=(2000.0, 2500.0, 1500.0, 1500.0, 600.0, 600.0, 300.0),
    kd=(80.0, 100.0, 60.0, 60.0, 20.0, 20.0, 8.0),
    drives={"Ia": (0.6, 0.6, 0.3, 0.3, 0.2, 0.1, 0.1)},
)
# The URDF of the UR5 has no friction.
UR5 = Arm(
    "ur_description/urdf/ur5_robot.urdf",
    "ur5",
    kp=(5000.0, 5000.0, 2500.0, 600.0, 600.0, 400.0),
    kd=(300.0, 300.0, 150.0, 30.0, 30.0, 20.0),
    drives={
        "Ia": (1.5, 1.5, 0.8, 0.2, 0.2, 0.2),
        "Fv": (12.0, 12.0, 8.0, 2.0, 2.0, 2.0),
        "Fc": (8.0, 8.0, 5.0, 1.5, 1.5, 1.5),
    },
    acceleration=8.0,
)
ARMS = {"xarm7": XARM7, "ur5": UR5}


class Found(NamedTuple):
    """What the nodes found.

    Attributes:
        robot: the robot.
        exciting: duration of the exciting motion in s.
        result: of ~/identify.
        held_out: relative error of the torques of the other motion, by joint, and of all.
        held_out_total: relative error of all its torques.
        all_samples: the same with slow samples kept.
    """

    robot: object
    exciting: float
    result: msg.IdentificationResult
    held_out: tuple[float, ...]
    held_out_total: float
    all_samples: float


def ours_of(arm, folder, robot):
    """Write all parameters of MuJoCo's model, for the robot that we simulate; return the file."""
    path = folder / "truth.yaml"
    named = dict(zip(robot.all_parameter_names, arm.truth(folder).tolist(), strict=True))
    path.write_text(yaml.safe_dump({"parameters": named}))
    return path


@contextmanager
def session_of(arm, folder, node, environment=None, session=Session, **parameters):
    """Give the robot, and the nodes with it in MuJoCo or in our simulation, ready.

    Args:
        session: a class of sessions.
    """
    path, values = arm.write(folder)
    robot = load_robot(path)
    if node != MUJOCO:
        values = ours_of(arm, folder, robot)
    settings = {
        node: {"robot": str(path), "parameters_file": str(values), **parameters},
        "acquisition": {"robot": str(path)},
        "identification": {"robot": str(path)},
    }
    with session(folder, settings, robot=node, environment=environment) as started:
        started.wait_until_ready()
        yield robot, started


def identified(
    arm, folder, seed=0, *, node=MUJOCO, environment=None, unseen_points=12, **parameters
):
    """Identify an arm through its nodes from one motion, and predict another with the result."""
    with session_of(arm, folder, node, environment, seed=seed, **parameters) as (robot, session):
        exciting = arm.motion(robot, 2 * seed)
        other = arm.motion(robot, 2 * seed + 1, unseen_points)
        fitted, fresh = session.record(exciting), session.record(other)
        result = session.identify(fitted, processing=SLIDING)
        told = session.validate(fresh)
        everything = session.validate(fresh, ALL_SAMPLES)
    return Found(
        robot,
        exciting.duration,
        result,
        tuple(told.relative_error),
        told.relative_error_total,
        everything.relative_error_total,
    )


def deviations(found, truth):
    """Return by name (value, truth, std) of the base parameters of a result."""
    known = dict(zip(found.robot.all_parameter_names, truth.tolist(), strict=True))
    table = {}
    for entry in found.result.parameters:
        grouped = zip(entry.grouping_names, entry.grouping_coefficients, strict=True)
        exact = known[entry.leading] + sum(factor * known[name] for name, factor in grouped)
        table[entry.leading] = (entry.value, exact, entry.std)
    return table
