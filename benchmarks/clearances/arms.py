"""The arms of the study, with limits, in cells of random boxes."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

import numpy as np

from robot_identification.collision.model import CollisionModel, load_collision_model
from robot_identification.files.export.urdf_generation import generated_urdf
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.joint import Joint
from robot_identification.robot.model import RobotModel

PACKAGES = Path(str(metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share")))
os.environ["ROS_PACKAGE_PATH"] = str(PACKAGES)
ARMS = {
    "ur10": "ur_description/urdf/ur10_robot.urdf",
    "panda": "panda_description/urdf/panda.urdf",
    "kinova": "kinova_description/robots/kinova.urdf",
    "tiago": "tiago_description/robots/tiago_no_hand.urdf",
    "tx40": "",
}
"""URDF of example-robot-data; empty: a robot of this package."""

STILL = {
    "panda": ("panda_finger_joint1", "panda_finger_joint2"),
    "tiago": ("torso_lift_joint", "head_1_joint", "head_2_joint"),
}
ACCELERATION = 6.0  # rad/s^2, of joints whose URDF says none
RANGE = 3.0  # rad, each way, of joints that turn without end
REACH = 1.2  # m, within which boxes are


@dataclass(frozen=True)
class Arm:
    """An arm of the study.

    Attributes:
        name: of the arm.
        source: what describes it.
        path: its URDF; made from the robot file where that is what describes it.
        robot: with limits of everything.
    """

    name: str
    source: str | Path
    path: Path
    robot: RobotModel


def arm(name: str, folder: Path) -> Arm:
    """Return an arm; joints that hold still are fixed in a copy of its URDF."""
    path = folder / f"{name}.urdf"
    if not ARMS[name]:
        robot = load_robot(name)
        path.write_text(generated_urdf(robot, load_values(f"{name}_simulated", robot)))
        return Arm(name, name, path, robot)
    source = PACKAGES / "example-robot-data" / "robots" / ARMS[name]
    path.write_text(_fixed(source.read_text(), STILL.get(name, ())))
    robot = load_robot(path)
    return Arm(name, path, path, replace(robot, joints=tuple(map(_limited, robot.joints))))


def _fixed(text: str, still: tuple[str, ...]) -> str:
    """Return a URDF in which some joints, and all wheels and fingers, are fixed."""

    def fix(match: re.Match[str]) -> str:
        name = match["name"]
        moves = name not in still and not re.search("wheel|caster|finger|gripper", name)
        kind = match["kind"] if moves else "fixed"
        body = match["body"] if moves else re.sub(r"<mimic[^>]*/>", "", match["body"])
        return f'<joint{match["before"]}name="{name}"{match["between"]}type="{kind}"{body}</joint>'

    pattern = re.compile(
        r'<joint(?P<before>\s+)name="(?P<name>[^"]+)"(?P<between>\s+)type="(?P<kind>\w+)"'
        r"(?P<body>.*?)</joint>",
        re.DOTALL,
    )
    # Inertias, of which some are wrong, have nothing to do with distances.
    return re.sub(r"<inertial>.*?</inertial>", "", pattern.sub(fix, text), flags=re.DOTALL)


def _limited(joint: Joint) -> Joint:
    given = joint.limits
    lower, upper = (-RANGE if given.lower is None else given.lower), given.upper
    limits = replace(
        given,
        lower=max(lower, -RANGE),
        upper=min(RANGE if upper is None else upper, RANGE),
        velocity=given.velocity or 2.0,
        acceleration=given.acceleration or ACCELERATION,
    )
    return replace(joint, limits=limits)


def boxes(rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return sizes and places of random boxes around a robot."""
    found = []
    while len(found) < rng.integers(1, 5):
        size, place = rng.uniform(0.05, 0.5, 3), rng.uniform(-REACH, REACH, 3)
        place[2] = abs(place[2])
        if np.hypot(*place[:2]) > 0.35 + np.hypot(*size[:2]) / 2.0:
            found.append((size, place))
    return found


def described(
    one: Arm, around: list[tuple[np.ndarray, np.ndarray]], folder: Path
) -> CollisionModel:
    """Return the collision model of an arm among boxes, through a cell file."""
    lines = ["obstacles:"]
    for number, (size, place) in enumerate(around):
        lines.append(
            f"  - {{name: box_{number}, box: {size.round(6).tolist()}, "
            f"at: {place.round(6).tolist()}}}"
        )
    cell = folder / "cell.yaml"
    cell.write_text("\n".join(lines) + "\n")
    model = load_collision_model(one.source, one.robot, cell=cell)
    if isinstance(model, str):
        raise SystemExit(f"{one.name}: {model}")
    return model
