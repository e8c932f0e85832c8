"""The service ~/base_parameters: which parameters a motion can tell."""

from __future__ import annotations

import math
from collections.abc import Mapping

from robot_identification import msg
from robot_identification.errors import SettingError
from robot_identification.identification.base import BaseParameters
from robot_identification.nodes.messages import floats, unit_of
from robot_identification.nodes.requests import base_values, named_values
from robot_identification.robot.model import RobotModel
from robot_identification.srv import BaseParameters as Service


def fill_base_parameters(
    request: Service.Request, response: Service.Response, base: BaseParameters
) -> str:
    """Fill a response; return a summary for people.

    Args:
        request: the request, for the robot that ``base`` belongs to.
        response: what to fill.
        base: base parameters of the robot.

    Raises:
        SettingError: if names and values do not fit, or a model or method is not available.
    """
    for name, available in (("model", "dynamic"), ("method", "qr")):
        wanted = getattr(request, name)
        if wanted not in ("", available):
            raise SettingError(name, wanted, f"only {available} is available")
    given = named_values(request.names, request.values)
    values = base_values(given, base) if given else [math.nan] * base.rank
    response.standard_names = list(base.standard_names)
    response.unaffecting = [base.standard_names[i] for i in base.unaffecting]
    response.regrouped = [base.standard_names[i] for i in base.regrouped]
    response.base = [
        _parameter(name, leading, grouping, float(value), base.robot)
        for name, leading, grouping, value in zip(
            base.names, base.leading_names, base.groupings, values, strict=True
        )
    ]
    response.relations = [
        f"{name} = {_sum(grouping)}"
        for name, grouping in zip(base.names, base.groupings, strict=True)
    ]
    response.rank = base.rank
    return (
        f"{base.robot.name}: {base.rank} base parameters, {len(base.regrouped)} regrouped, "
        f"{len(base.unaffecting)} without effect"
    )


def _sum(grouping: Mapping[str, float]) -> str:
    """Return a grouping such as ``ZZ1 + 1 Ia1 - 0.4 MZ3``."""
    return " ".join(
        name if i == 0 else f"{'-' if factor < 0 else '+'} {abs(factor):.6g} {name}"
        for i, (name, factor) in enumerate(grouping.items())
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
        unit=unit_of(leading, robot),
        value=value,
        std=math.nan,
        std_robust=math.nan,
        relative_std_percent=math.nan,
        essential=True,
    )
