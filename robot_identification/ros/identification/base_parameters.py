"""The service ~/base_parameters: identifiable parameters and their grouping."""

from __future__ import annotations

import math
from collections.abc import Mapping

from robot_identification import msg
from robot_identification.identification.base.parameters import BaseParameters, base_parameters
from robot_identification.identification.base.relations import relations
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.model import RobotModel
from robot_identification.ros.identification.requests import base_values, named_values
from robot_identification.ros.messages.common import floats
from robot_identification.srv import BaseParameters as Service


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
