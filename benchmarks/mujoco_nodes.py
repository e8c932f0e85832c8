"""Published arms in MuJoCo, identified by the nodes as a user would do it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import yaml

from mujoco_arms import Arm
from robot_identification import msg
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.model import RobotModel
from robot_identification.ros.demo.session import Session

MUJOCO = "mujoco_robot"
ALL_SAMPLES = msg.ProcessingSettings(velocity_threshold=[0.0])
# Friction of MuJoCo is that of sliding only some time after a joint has begun to slide.
SLIDING = msg.ProcessingSettings(velocity_threshold_window=2.0)


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

    robot: RobotModel
    exciting: float
    result: msg.IdentificationResult
    held_out: tuple[float, ...]
    held_out_total: float
    all_samples: float


def ours_of(arm: Arm, folder: Path, robot: RobotModel) -> Path:
    """Write all parameters of MuJoCo's model, for the robot that we simulate; return the file."""
    path = folder / "truth.yaml"
    named = dict(zip(robot.all_parameter_names, arm.truth(folder).tolist(), strict=True))
    path.write_text(yaml.safe_dump({"parameters": named}))
    return path


@contextmanager
def session_of(
    arm: Arm, folder: Path, node: str, **parameters: Any
) -> Iterator[tuple[RobotModel, Session]]:
    """Give the robot, and the nodes with it in MuJoCo or in our simulation, ready."""
    path, values = arm.write(folder)
    robot = load_robot(path)
    if node != MUJOCO:
        values = ours_of(arm, folder, robot)
    settings = {
        node: {"robot": str(path), "parameters_file": str(values), **parameters},
        "acquisition": {"robot": str(path)},
        "identification": {"robot": str(path)},
    }
    with Session(folder, settings, robot=node) as session:
        session.wait_until_ready()
        yield robot, session


def identified(arm: Arm, folder: Path, seed: int, *, node: str, **parameters: Any) -> Found:
    """Identify an arm through its nodes from one motion, and predict another with the result."""
    with session_of(arm, folder, node, seed=seed, **parameters) as (robot, session):
        exciting = arm.motion(robot, 2 * seed)
        other = arm.motion(robot, 2 * seed + 1)
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


def deviations(
    found: Found, truth: npt.NDArray[np.float64]
) -> dict[str, tuple[float, float, float]]:
    """Return by name (value, truth, std) of the base parameters of a result."""
    known = dict(zip(found.robot.all_parameter_names, truth.tolist(), strict=True))
    table = {}
    for entry in found.result.parameters:
        grouped = zip(entry.grouping_names, entry.grouping_coefficients, strict=True)
        exact = known[entry.leading] + sum(factor * known[name] for name, factor in grouped)
        table[entry.leading] = (entry.value, exact, entry.std)
    return table
