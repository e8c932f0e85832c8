"""Published arms whose motion MuJoCo computes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from engines import example
from robot_identification.dynamics.simulation.mujoco import MujocoLoop
from robot_identification.excitation.motions.random_points import (
    RandomPointsSettings,
    random_points,
)
from robot_identification.files.mujoco_models import mujoco_robot
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.urdf.prior import urdf_prior
from robot_identification.robot.parameters import LINK_PARAMETERS


@dataclass(frozen=True)
class Arm:
    """An arm of example-robot-data, and what its URDF does not say: chosen, one per joint.

    Attributes:
        urdf: its file there, or the path of a copy.
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

    @property
    def path(self):
        """The URDF."""
        return Path(self.urdf) if Path(self.urdf).is_absolute() else example(self.urdf)

    def write(self, folder):
        """Write robot file and parameter file into a folder; return their paths."""
        robot, values = folder / "arm.yaml", folder / "drives.yaml"
        document = {
            "name": self.name,
            "effort_meaning": "joint_torque",
            "urdf": os.path.relpath(self.path, folder),
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
        known = urdf_prior(self.path, robot).copy()
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
