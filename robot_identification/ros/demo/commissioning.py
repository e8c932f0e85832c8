"""Commissioning of a simulated robot through the services of the nodes, from no model to control.

Excite, record, identify, calibrate to a prior, and follow another motion with a model fed forward:
first the prior, then what the node `calibration` publishes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.files.atomic import write_text_atomically
from robot_identification.files.export.text import yaml_text
from robot_identification.robot.arrays import Array, read_only
from robot_identification.robot.model import RobotModel
from robot_identification.robot.parameters import LINK_PARAMETERS
from robot_identification.ros.demo.session import Session
from robot_identification.ros.demo.tracking import Errors, Tracking
from robot_identification.srv import Calibrate


@dataclass(frozen=True)
class Followed:
    """The same motion with two models.

    Attributes:
        with_prior: tracking errors with the prior fed forward.
        calibrated: the response of ~/calibrate.
        with_identified: tracking errors with what the node `calibration` published then.
        recording: identifier of the recording of both.
    """

    with_prior: Errors
    calibrated: Calibrate.Response
    with_identified: Errors
    recording: str

    @property
    def ratio(self) -> float:
        """Root mean square over all joints with the prior, over that with the identified model."""
        return self.with_prior.total / self.with_identified.total


def heavy_prior(robot: RobotModel, truth: Array, factor: float) -> Array:
    """Return what a drawing may give: bodies and drives too large by a factor, no friction.

    Args:
        robot: the robot.
        truth: (full columns,) its parameters.
        factor: by which inertias, first moments, masses and drive inertias are multiplied.
    """
    return read_only(np.where(_of_bodies(robot), factor * np.asarray(truth), 0.0))


def write_prior(path: Path, robot: RobotModel, prior: Array) -> None:
    """Write a prior as a parameter file that says nothing of friction and offsets.

    Raises:
        OutputError: the target cannot be written.
    """
    names = robot.all_parameter_names
    known = [i for i in robot.standard_indices.tolist() if _of_bodies(robot)[i]]
    values = {names[i]: float(prior[i]) for i in known}
    write_text_atomically(path, yaml_text({"robot": robot.name, "parameters": values}))


def _of_bodies(robot: RobotModel) -> npt.NDArray[np.bool_]:
    """Return which of the full columns are of bodies and drives."""
    chosen = np.zeros(len(robot.all_parameter_names), dtype=np.bool_)
    table = robot.layout.table(chosen)
    table[:, :LINK_PARAMETERS] = True
    for place, term in robot.layout.places:
        table[:, place] = term.kind.stores_energy
    return chosen


def follow_with_both(
    session: Session, tracking: Tracking, prior: Array, motion: Trajectory, folder: Path
) -> Followed:
    """Follow a motion with the prior, calibrate the last result to it, and follow it again.

    All of it is recorded, and no estimate of that recording takes the place of the result.

    Args:
        session: the nodes, with `calibration`, after an identification.
        tracking: the node computed_torque beside them.
        prior: (full columns,) what is known before; see :func:`heavy_prior`.
        motion: joints in the robot's order.
        folder: for the file of the prior.

    Raises:
        RequestRefusedError: if the calibration is refused.
    """
    tracking.use(prior)
    path = folder / "prior.yaml"
    write_prior(path, tracking.robot, prior)
    streamed = session.verbs.changed("identification", "streaming", False)
    with streamed, session.verbs.recorded() as recording:
        with_prior = tracking.approach_and_follow(motion)
        calibrated, with_identified = follow_calibrated(session, tracking, path, motion)
    return Followed(with_prior, calibrated, with_identified, recording.name)


def follow_calibrated(
    session: Session, tracking: Tracking, prior: Path, motion: Trajectory, **fields: str
) -> tuple[Calibrate.Response, Errors]:
    """Calibrate a result to a prior, and follow a motion with what the node publishes.

    Args:
        session: the nodes, with `calibration`, after an identification.
        tracking: the node computed_torque beside them.
        prior: parameter file.
        motion: joints in the robot's order.
        fields: of the request, such as ``result`` for a result file in place of the last result.

    Raises:
        RequestRefusedError: if the calibration is refused.
    """
    calibrated = session.calibrate(prior, **fields)
    tracking.wait_until_used(calibrated.parameters)
    return calibrated, tracking.approach_and_follow(motion)
