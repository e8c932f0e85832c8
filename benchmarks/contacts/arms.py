"""The arms of the study in MuJoCo, among boxes, and where they are free."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from clearances.arms import PACKAGES, boxes

from mujoco_arms import ARMS as EXAMPLES
from robot_identification.collision.model import CollisionModel, load_collision_model
from robot_identification.errors import NotCertifiedError
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.timing import shortest_durations
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.motions.way_around import nearest_free
from robot_identification.robot.files.loading import load_robot

os.environ["ROS_PACKAGE_PATH"] = str(PACKAGES)
# Without integral action: stiff enough that gravity leaves them within the tolerance of a start.
PUBLISHED = {
    name: replace(
        one, kp=tuple(3.0 * gain for gain in one.kp), kd=tuple(1.7 * gain for gain in one.kd)
    )
    for name, one in EXAMPLES.items()
}
ARMS = ("ur10", *PUBLISHED)
TRACKING = 0.1  # rad
"""``tracking_error_limit`` of the study, and of the node where nothing else is said."""

_REACH = 1.5  # rad, from the middle of the ranges, of postures to begin at
_OVERLAP = -0.03  # m, of postures that touch something


@dataclass(frozen=True)
class Place:
    """An arm among boxes.

    Attributes:
        robot: robot file, or name of a robot.
        values: drives in MuJoCo, or all parameters.
        cell: cell file.
        model: what the robot must not touch.
    """

    robot: str
    values: str
    cell: Path
    model: CollisionModel

    @property
    def limits(self) -> MotionLimits:
        """Limits of the arm."""
        return MotionLimits.of(self.model.robot)

    def free(self, rng: np.random.Generator) -> np.ndarray:
        """Return a random posture in which the arm touches nothing.

        Raises:
            NotCertifiedError: there is none.
        """
        joints = len(self.model.robot.joints)
        return self.free_near(self.limits.middle + rng.uniform(-_REACH, _REACH, joints))

    def free_near(self, wanted: np.ndarray) -> np.ndarray:
        """Return a posture, or one near it, in which the arm touches nothing.

        Raises:
            NotCertifiedError: there is none.
        """
        return nearest_free(self.model, self.limits, wanted, np.full(len(wanted), TRACKING))

    def collision(self, rng: np.random.Generator, here: np.ndarray) -> Trajectory:
        """Return a slow motion from a posture into something."""
        positions, still = np.array([here, self.touching(rng)]), np.zeros((2, len(here)))
        slow = self.limits.tightened(velocity=0.3, acceleration=0.3)
        seconds = float(shortest_durations(positions, still, slow, least=2.0)[0])
        names = self.model.robot.joint_names
        return Trajectory(names, np.array([0.0, seconds]), positions, still, still)

    def touching(self, rng: np.random.Generator) -> np.ndarray:
        """Return a random posture in which the arm would overlap with something that stands."""
        pairs = np.array(
            [not self.model.scene.bodies[b].of_robot for _, b in self.model.scene.pairs]
        )
        while True:
            shape = 200, len(self.model.robot.joints)
            drawn = self.limits.middle + rng.uniform(-_REACH, _REACH, shape)
            rows = np.argwhere(np.broadcast_to(pairs, (len(drawn), len(pairs))))
            distance = self.model.check.at(drawn, rows)[0]
            found = rows[distance < _OVERLAP, 0]
            if found.size:
                return np.array(drawn[found[0]])


def places(name: str, folder: Path, rng: np.random.Generator) -> Iterator[Place]:
    """Yield an arm in one cell of random boxes after the other, where it can stand somewhere."""
    robot, values = name, f"{name}_simulated"
    if name in PUBLISHED:
        robot, values = (str(path) for path in PUBLISHED[name].write(folder))
    number = 0
    while True:
        number += 1
        cell = folder / f"cell_{number}.yaml"
        cell.write_text(_described(boxes(rng)))
        model = load_collision_model(robot, load_robot(robot), cell=cell)
        if isinstance(model, str):
            raise SystemExit(f"{name}: {model}")
        place = Place(robot, values, cell, model)
        try:
            place.free(rng)
        except NotCertifiedError:
            continue
        yield place


def _described(around: list[tuple[np.ndarray, np.ndarray]]) -> str:
    lines = [
        f"  - {{name: box_{i}, box: {size.round(6).tolist()}, at: {place.round(6).tolist()}}}"
        for i, (size, place) in enumerate(around)
    ]
    return "\n".join(["obstacles:", *lines]) + "\n"
