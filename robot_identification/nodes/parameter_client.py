"""Parameters of other nodes, over the services that every node has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters, SetParameters

from robot_identification.nodes.client import Client, ClientTimeoutError, refusal
from robot_identification.nodes.interruption import signals_ignored

_ANSWER_WITHIN = 10.0


def get_parameter(client: Client, node: str, name: str) -> ParameterValue:
    """Return the value of a parameter of a node."""
    request = GetParameters.Request(names=[name])
    answer = client.call(GetParameters, f"{node}/get_parameters", request, _ANSWER_WITHIN)
    return answer.values[0]


def set_parameter(
    client: Client, node: str, name: str, value: float | bool | ParameterValue
) -> None:
    """Set a parameter of a node.

    Raises:
        RequestRefusedError: the node refuses the value.
    """
    request = SetParameters.Request(parameters=[Parameter(name=name, value=_message(value))])
    answer = client.call(SetParameters, f"{node}/set_parameters", request, _ANSWER_WITHIN)
    (result,) = answer.results
    if not result.successful:
        raise refusal(f"{node}/set_parameters", f"INVALID_REQUEST: {result.reason}")


@contextmanager
def changed(client: Client, node: str, name: str, value: float | bool) -> Iterator[None]:
    """Give a parameter of a node another value until the block ends.

    Raises:
        RequestRefusedError: the node refuses the value.
    """
    before = get_parameter(client, node, name)
    try:
        set_parameter(client, node, name, value)
        yield
    except BaseException:
        with signals_ignored(), suppress(ClientTimeoutError):
            set_parameter(client, node, name, before)
        raise
    with signals_ignored():
        set_parameter(client, node, name, before)


def _message(value: float | bool | ParameterValue) -> ParameterValue:
    if isinstance(value, bool):
        return ParameterValue(type=ParameterType.PARAMETER_BOOL, bool_value=value)
    if isinstance(value, float):
        return ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=value)
    return value
