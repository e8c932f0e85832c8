"""Requests of ~/identify_didim: settings, start and references; and how far it has come."""

from __future__ import annotations

from typing import Literal

from robot_identification.dynamics.reference import Reference
from robot_identification.errors import MissingSignalError, SettingError
from robot_identification.files.bags.trajectories import read_reference, sampled_reference
from robot_identification.identification.didim.run import DidimProgress
from robot_identification.identification.didim.settings import DidimSettings
from robot_identification.identification.didim.starts import IDIM, PRIOR, REGULAR, Start
from robot_identification.robot.model import RobotModel
from robot_identification.ros.identification.requests import values_of_file
from robot_identification.ros.messages.common import stated
from robot_identification.ros.messages.progress import ProgressReporter
from robot_identification.signals.recording import Recording
from robot_identification.srv import IdentifyDidim

SETTINGS = ("weighting", "max_iterations", "tolerance_error", "tolerance_parameters")


def settings_of(request: IdentifyDidim.Request, max_iterations: int) -> DidimSettings:
    """Return the settings of a request; what it leaves open is the node's, else the default.

    Raises:
        SettingError: if a value is not possible, or essential parameters are asked for.
    """
    if request.essential:
        raise SettingError(
            "essential", True, "DIDIM estimates them all; calibrate says which are essential"
        )
    said = {"max_iterations": max_iterations, **stated(request, DidimSettings, SETTINGS)}
    return DidimSettings(**said)


def start_of(
    request: IdentifyDidim.Request, robot: RobotModel, prior: str
) -> Start | Literal["regular", "idim"]:
    """Return the first parameters of a request.

    Args:
        request: the request.
        robot: the robot.
        prior: parameter file that the start ``prior`` stands for.

    Raises:
        InputError: if a file is not there, is damaged, or is another robot's.
    """
    name = request.start or REGULAR
    if name == REGULAR:
        return "regular"
    if name == IDIM:
        return "idim"
    if name == PRIOR:
        return Start(f"{PRIOR}, {prior}", values_of_file(prior, robot).values)
    return Start(name, values_of_file(name, robot).values)


def references_of(
    request: IdentifyDidim.Request, recordings: list[Recording], robot: RobotModel
) -> list[Reference]:
    """Return what the controller followed in each recording, bags first as they were read.

    Raises:
        MissingSignalError: if a recording or a bag does not tell.
        TopicError: if a bag lacks the topic that is named.
        InputError: if what it tells is of no use.
    """
    found = []
    for i, recording in enumerate(recordings):
        if i < len(request.data.bags):
            topic = request.data.reference_topic
            found.append(read_reference(request.data.bags[i], recording, robot, topic=topic))
            continue
        sampled = sampled_reference(recording)
        if sampled is None:
            raise MissingSignalError("reference", f"recording {recording.source}")
        found.append(sampled)
    return found


def report_didim(report: ProgressReporter, state: DidimProgress) -> None:
    """Publish how far DIDIM has come: the error of every joint with every new iterate."""
    newest = state.iteration
    if newest is None:
        report(state.stage, state.fraction)
        return
    step = f", step {newest.step:g}" if newest.number else ""
    report.iteration(
        state.stage,
        state.fraction,
        number=newest.number,
        error=newest.torque_error,
        text=f"iteration {newest.number}: torque error {newest.torque_error.total:.4f}{step}, "
        f"parameters changed by {100.0 * newest.parameter_change:.3g} %",
    )
