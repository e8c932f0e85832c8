"""Arms of example-robot-data in MuJoCo, which pick up bodies while they move."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from engines import example
from mujoco_arms import UR5, XARM7
from mujoco_arms import Arm as Described
from robot_identification.dynamics.simulation.mujoco import MujocoLoop
from robot_identification.excitation.motions.random_points import (
    RandomPointsSettings,
    random_points,
)
from robot_identification.files.mujoco_models import mujoco_robot
from robot_identification.robot.bodies import Body
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.model import RobotModel
from robot_identification.robot.mounting import mounting_from

CONTROL, RATE = 1000.0, 250.0
POSITION_NOISE = 1e-5  # rad
EFFORT_NOISE = 0.005  # of the effort limit
ROOT_FRICTION = 0.3  # of the Coulomb friction, at 1 rad/s; the model has no such term
SPEED, REACH = 0.6, 0.35
COLD, WARMING = 0.3, 1200.0  # friction of a cold arm is larger by this share; time constant in s
_WARMED_EACH = 5.0  # s between two changes of friction
Floats = np.ndarray[Any, np.dtype[np.float64]]

# Friction of the size that Gaz et al. (2019) found for this arm, fingers fixed.
PANDA = Described(
    "panda_description/urdf/panda.urdf",
    "panda",
    kp=(4000.0, 4000.0, 2500.0, 2500.0, 800.0, 800.0, 400.0),
    kd=(160.0, 160.0, 100.0, 100.0, 30.0, 30.0, 12.0),
    drives={
        "Ia": (0.6, 0.6, 0.5, 0.5, 0.2, 0.2, 0.1),
        "Fv": (3.0, 3.0, 2.0, 2.0, 1.0, 1.0, 0.6),
        "Fc": (1.2, 1.2, 1.0, 1.0, 0.6, 0.6, 0.4),
    },
    acceleration=8.0,
)
# The xArm7's URDF has friction of its own, damping 10 and friction 1 at the first joints.
ARMS = {
    "ur5": (UR5, "wrist_3_link"),
    "xarm7": (XARM7, "link7"),
    "panda": (PANDA, "panda_link7"),
}


@dataclass(frozen=True)
class Samples:
    """What sensors give of a motion.

    Attributes:
        time: (samples,) in s.
        position: (samples, joints) in rad.
        effort: (samples, joints) in N m.
    """

    time: Floats
    position: Floats
    effort: Floats


def random_body(rng: np.random.Generator, mass: float) -> Body:
    """Return a box of homogeneous material before the flange."""
    centre = np.array([*rng.uniform(-0.05, 0.05, 2), rng.uniform(0.02, 0.12)])
    sides = rng.uniform(0.05, 0.25, 3)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    square = sides**2
    moments = mass / 12.0 * (square.sum() - square)
    inertia = (turn * moments) @ turn.T
    return Body(mass, centre, 0.5 * (inertia + inertia.T))


class Arm:
    """An arm that moves on and on, with or without a payload.

    Args:
        name: one of ``ARMS``.
        folder: for its files.
        seed: of motions and noise.
        noise: standard deviation of the noise of the efforts, as a share of their limits.

    Attributes:
        noise: (joints,) standard deviation of the noise of the efforts, in N m.
    """

    def __init__(self, name: str, folder: Path, seed: int, noise: float = EFFORT_NOISE) -> None:
        described, frame = ARMS[name]
        path, values = described.write(folder)
        if name == "panda":
            _fix_fingers(path, folder)
        self.robot = load_robot(path)
        self.mounting = mounting_from(path, self.robot, frame)
        rough, file = _rough(path, values, described)
        model, drives = mujoco_robot(rough, file, values=str(values))
        self._model = model
        self._loop = MujocoLoop(rough, model, drives, sample_rate_hz=RATE)
        body = model.body(frame)
        self._bare = (float(body.mass[0]), body.ipos.copy(), body.iquat.copy(), body.inertia.copy())
        self._body = body.id
        limits = np.array([joint.limits.effort for joint in self.robot.joints])
        self.noise = noise * limits
        self._rng = np.random.default_rng(seed)
        self._drives = model.dof_damping.copy(), model.dof_frictionloss.copy()
        self._cold = np.inf  # time at which the arm was cold, in s
        self._now, self._motion, self._left = 0.0, None, 0
        self._place = random_points(self.robot, self._settings(2)).trajectory.positions[0]
        self._state = self._loop.settled(self._place, 1.0)

    def _settings(self, points: int) -> RandomPointsSettings:
        seed = int(self._rng.integers(2**31))
        return RandomPointsSettings(points=points, draws=1, reach=REACH, seed=seed, speed=SPEED)

    def carry(self, body: Body | None) -> None:
        """Have a body in the hand from now on, or none."""
        import mujoco

        mass, place, turn, moments = self._bare
        matrix = np.zeros(9)
        mujoco.mju_quat2Mat(matrix, turn)
        axes = matrix.reshape(3, 3)
        inertia = (axes * moments) @ axes.T
        if body is not None:
            both = mass + body.mass
            middle = (mass * place + body.mass * body.centre) / both
            inertia = (
                inertia
                + body.inertia
                + mass * _steiner(place - middle)
                + body.mass * _steiner(body.centre - middle)
            )
            mass, place = both, middle
        sizes, axes = np.linalg.eigh(inertia)
        axes[:, 2] *= np.sign(np.linalg.det(axes))
        mujoco.mju_mat2Quat(turn := np.zeros(4), axes.ravel())
        model = self._model
        model.body_mass[self._body], model.body_ipos[self._body] = mass, place
        model.body_iquat[self._body], model.body_inertia[self._body] = turn, sizes
        model.body_sameframe[self._body] = 0
        mujoco.mj_setConst(model, mujoco.MjData(model))

    def cool(self) -> None:
        """Let the arm be cold from now on; it warms up as it moves."""
        self._cold = self._now

    def _warm(self, now: float) -> None:
        share = 1.0 + (COLD * np.exp((self._cold - now) / WARMING) if self._cold <= now else 0.0)
        self._model.dof_damping[:], self._model.dof_frictionloss[:] = (
            share * of_warm for of_warm in self._drives
        )

    def move(self, seconds: float) -> Samples:
        """Go on moving, from one random point to the other, and return what sensors give."""
        found, wanted = [], round(seconds * RATE)
        left = wanted
        every = round(CONTROL / RATE)
        while left:
            if not self._left:
                self._motion = random_points(self.robot, self._settings(12), self._place).trajectory
                self._place = self._motion.positions[-1]
                self._left = int(self._motion.duration * RATE)
                self._state = replace(self._state, step=0)
            self._warm(self._now + (wanted - left) / RATE)
            count = min(left, self._left, round(_WARMED_EACH * RATE))
            self._state, got = self._loop.advance(
                self._state, self._motion.reference, count * every
            )
            found.append(got)
            left, self._left = left - count, self._left - count
        position = np.concatenate([part.position for part in found])
        effort = np.concatenate([part.effort for part in found])
        time = self._now + np.arange(len(position)) / RATE
        self._now = time[-1] + 1.0 / RATE
        return Samples(
            time,
            position + POSITION_NOISE * self._rng.normal(size=position.shape),
            effort + self.noise * self._rng.normal(size=effort.shape),
        )

    def moves(self, seconds: float, most: float = 60.0) -> Iterator[Samples]:
        """Yield a long motion in parts."""
        while seconds > 0.0:
            yield self.move(min(seconds, most))
            seconds -= most


def _steiner(place: Floats) -> Floats:
    return (place @ place) * np.eye(3) - np.outer(place, place)


def _rough(path: Path, values: Path, described: Described) -> tuple[RobotModel, Path]:
    """Write the robot with friction that its model does not have; return it and its file."""
    document, drives = yaml.safe_load(path.read_text()), yaml.safe_load(values.read_text())
    document["joint_defaults"]["root_friction"] = True
    coulomb = described.drives.get("Fc", (2.0,) * len(described.kp))
    drives["parameters"] |= {f"Fr{j}": ROOT_FRICTION * c for j, c in enumerate(coulomb, start=1)}
    rough = path.parent / "rough.yaml"
    rough.write_text(yaml.safe_dump(document))
    values.write_text(yaml.safe_dump(drives))
    return load_robot(rough), rough


def _fix_fingers(path: Path, folder: Path) -> None:
    """Describe the arm by a copy of its URDF without fingers that move."""
    text = example(PANDA.urdf).read_text()
    urdf = folder / "panda_fixed.urdf"
    text = re.sub(r'type="prismatic"', 'type="fixed"', re.sub(r"<mimic [^>]*/>", "", text))
    urdf.write_text(text)
    document = yaml.safe_load(path.read_text())
    document["urdf"] = urdf.name
    path.write_text(yaml.safe_dump(document))
