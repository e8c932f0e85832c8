"""The service ~/base_parameters: identifiable parameters and their grouping."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from robot_identification import msg
from robot_identification.dynamics.reference import Reference
from robot_identification.errors import MissingSignalError, SettingError
from robot_identification.files.bags.trajectories import read_reference, sampled_reference
from robot_identification.identification.base.parameters import BaseParameters, base_parameters
from robot_identification.identification.base.relations import relations
from robot_identification.identification.didim.run import DidimProgress
from robot_identification.identification.didim.settings import DidimSettings
from robot_identification.identification.didim.starts import IDIM, REGULAR, Start
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.model import RobotModel
from robot_identification.ros.identification.requests import (
    base_values,
    named_values,
    values_of_file,
)
from robot_identification.ros.messages.common import floats, stated
from robot_identification.ros.messages.progress import ProgressReporter
from robot_identification.signals.recording import Recording
from robot_identification.srv import BaseParameters as Service
from robot_identification.srv import IdentifyDidim

PRIOR = "prior"
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


def base_of(request: Service.Request, own: BaseParameters) -> BaseParameters:
    """Return the base parameters that a request asks for.

    Args:
        request: names a robot, a model and a method, or leaves them open.
        own: base parameters of the robot of the node.

    Raises:
        InputError: if there is no such robot, model or method.
        RankError: if the rank cannot be decided.
    """
    model, method = request.model or own.model, request.method or own.method
    if not request.robot and (model, method) == (own.model, own.method):
        return own
    robot = load_robot(request.robot, closed_loops=True) if request.robot else own.robot
    return base_parameters(robot, model, method)


def fill_base_parameters(
    request: Service.Request, response: Service.Response, base: BaseParameters
) -> str:
    """Fill a response; return a summary for people.

    Args:
        request: the request, for the robot that ``base`` belongs to.
        response: what to fill.
        base: base parameters of the robot.

    Raises:
        SettingError: if names and values do not fit.
    """
    given = named_values(request.names, request.values)
    values = base_values(given, base) if given else [math.nan] * base.rank
    names = base.standard_names
    response.standard_names = list(names)
    response.unaffecting = [names[i] for i in base.unaffecting]
    response.regrouped = [names[i] for i in base.regrouped]
    response.appended = [names[i] for i in base.appended]
    response.base = [
        _parameter(name, leading, grouping, float(value), base.robot)
        for name, leading, grouping, value in zip(
            base.names, base.leading_names, base.groupings, values, strict=True
        )
    ]
    response.relations = [relation.symbols() for relation in relations(base)]
    response.rank = base.rank
    response.tolerance = base.tolerance
    response.diagonal = floats(base.diagonal)
    response.singular_values = floats(base.singular_values)
    response.gap = base.gap
    response.warnings = list(base.warnings)
    return (
        f"{base.robot.name}: {base.rank} base parameters, {len(base.regrouped)} regrouped, "
        f"{len(base.unaffecting)} without effect"
    )


def _parameter(
    name: str, leading: str, grouping: Mapping[str, float], value: float, robot: RobotModel
) -> msg.BaseParameter:
    others = {key: factor for key, factor in grouping.items() if key != leading}
    return msg.BaseParameter(
        name=name,
        leading=leading,
        grouping_names=list(others),
        grouping_coefficients=floats(list(others.values())),
        unit=robot.unit_of(leading),
        value=value,
        std=math.nan,
        std_robust=math.nan,
        relative_std_percent=math.nan,
        essential=True,
    )
