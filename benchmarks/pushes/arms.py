"""Arms of example-robot-data that are pushed at their flange in MuJoCo."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from engines import example
from mujoco_arms import ARMS as EXAMPLES
from robot_identification.dynamics.direct import DirectModel
from robot_identification.dynamics.simulation.mujoco import MujocoLoop
from robot_identification.files.mujoco_models import mujoco_robot
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.urdf.prior import urdf_prior
from robot_identification.robot.model import RobotModel
from robot_identification.robot.mounting import Mounting, mounting, urdf_frames

FREQUENCY, DAMPING = 35.0, 0.9  # rad/s, of the position control where no gains are known
ACCELERATION = 8.0  # rad/s^2
ROOT_FRICTION = 0.3  # of the Coulomb friction, at 1 rad/s


@dataclass(frozen=True)
class PushedArm:
    """An arm, and what its URDF does not say.

    Attributes:
        urdf: its file in example-robot-data.
        flange: link of the URDF that is pushed.
        drives: drive inertia `Ia`, friction `Fv` and `Fc`, one per joint; empty: the example's.
        still: joints that are fixed.
        gains: kp and kd; by default for the largest inertia of every joint.
    """

    urdf: str
    flange: str
    drives: dict[str, tuple[float, ...]]
    still: tuple[str, ...] = ()
    gains: tuple[tuple[float, ...], tuple[float, ...]] | None = None


def _of_example(name: str, flange: str) -> PushedArm:
    arm = EXAMPLES[name]
    return PushedArm(arm.urdf, flange, arm.drives, gains=(arm.kp, arm.kd))


ARMS = {
    "ur5": _of_example("ur5", "tool0"),
    "xarm7": _of_example("xarm7", "link_eef"),
    "panda": PushedArm(
        "panda_description/urdf/panda.urdf",
        "panda_link8",
        # Friction of the size that Gaz et al. 2019 identified.
        {
            "Ia": (0.6, 0.6, 0.5, 0.5, 0.2, 0.2, 0.2),
            "Fv": (1.0, 1.0, 0.8, 0.8, 0.5, 0.5, 0.5),
            "Fc": (0.6, 0.9, 0.7, 1.3, 0.9, 0.4, 0.6),
        },
        ("panda_finger_joint1", "panda_finger_joint2"),
    ),
    "kinova": PushedArm(
        "kinova_description/robots/kinova.urdf",
        "j2s6s200_end_effector",
        {
            "Ia": (0.8, 0.8, 0.6, 0.3, 0.3, 0.3),
            "Fv": (4.0, 4.0, 3.0, 2.0, 2.0, 2.0),
            "Fc": (3.0, 3.0, 2.5, 1.2, 1.2, 1.0),
        },
    ),
}


@dataclass(frozen=True)
class Bench:
    """An arm in MuJoCo.

    Attributes:
        robot: as its model knows it.
        loop: the arm in MuJoCo, whose friction has a term more.
        model: MuJoCo's model.
        flange: the frame that is pushed.
    """

    robot: RobotModel
    loop: MujocoLoop
    model: Any
    flange: Mounting

    @property
    def middle(self) -> np.ndarray:
        """(joints,) the middle of the position ranges."""
        return np.array([(j.limits.lower + j.limits.upper) / 2.0 for j in self.robot.joints])


def bench(name: str, folder: Path) -> Bench:
    """Return an arm, whose files are written into a folder."""
    arm = ARMS[name]
    urdf = folder / f"{name}.urdf"
    urdf.write_text(fixed(example(arm.urdf).read_text(), arm.still))
    joints = load_robot(urdf).joints
    kp, kd = arm.gains or gains(urdf, arm.drives)
    friction = arm.drives.get("Fc", (2.0,) * len(joints))
    drives = {**arm.drives, "Fr": tuple(ROOT_FRICTION * size for size in friction)}
    parameters = {f"{k}{j}": size for k, own in drives.items() for j, size in enumerate(own, 1)}
    document = {
        "name": name,
        "effort_meaning": "joint_torque",
        "urdf": urdf.name,
        "joint_defaults": {"limits": {"acceleration": ACCELERATION}},
        "controller": {"law": "pid", "rate_hz": 1000, "gains": {"kp": list(kp), "kd": list(kd)}},
    }
    path, rough, values = (folder / f"{part}.yaml" for part in ("arm", "rough", "drives"))
    path.write_text(yaml.safe_dump(document))
    document["joint_defaults"]["root_friction"] = True
    rough.write_text(yaml.safe_dump(document))
    values.write_text(yaml.safe_dump({"parameters": parameters}))
    true, robot = load_robot(rough), load_robot(path)
    model, given = mujoco_robot(true, rough, values=str(values))
    flange = mounting(robot, arm.flange, urdf_frames(path, robot))
    return Bench(robot, MujocoLoop(true, model, given), model, flange)


def fixed(text: str, still: tuple[str, ...]) -> str:
    """Return a URDF with some joints fixed, and limits for joints that turn without end."""
    text = text.replace('type="continuous"', 'type="revolute"')
    for name in still:
        text = re.sub(rf'(name="{name}"\s+type=)"\w+"', r'\1"fixed"', text)
    return re.sub(r"<mimic[^>]*/>", "", text) if still else text


def gains(
    urdf: Path, drives: dict[str, tuple[float, ...]]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return gains of position and velocity for the largest inertia of every joint."""
    robot = load_robot(urdf)
    values = urdf_prior(urdf, robot).copy()
    for name, value in zip(robot.all_parameter_names, values, strict=True):
        kind, joint = re.fullmatch(r"([A-Za-z]+)(\d+)", name).groups()
        chosen = drives.get(kind)
        values[robot.all_parameter_names.index(name)] = chosen[int(joint) - 1] if chosen else value
    ends = [(j.limits.lower, j.limits.upper) for j in robot.joints]
    postures = np.random.default_rng(1).uniform(*np.transpose(ends), (500, len(ends)))
    masses = DirectModel(robot, values).mass_matrix(postures)
    inertia = masses.diagonal(axis1=1, axis2=2).max(axis=0)
    kp, kd = inertia * FREQUENCY**2, 2.0 * DAMPING * FREQUENCY * inertia
    return tuple(kp.round(1).tolist()), tuple(kd.round(2).tolist())
