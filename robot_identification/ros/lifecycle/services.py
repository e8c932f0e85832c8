"""Services of a lifecycle; `~/change_state` is answered when its transition is over.

rclpy's own lifecycle node answers it when the callback of a transition returns, and does nothing
else until then.  A node that watches a robot come to rest goes on working meanwhile, whatever
executor it has: events executors know no coroutines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lifecycle_msgs.msg import State, Transition, TransitionDescription
from lifecycle_msgs.srv import ChangeState, GetAvailableStates, GetAvailableTransitions, GetState
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.service import Service
from rclpy.type_support import check_is_valid_srv_type

from robot_identification.ros.lifecycle.transitions import Lifecycle

CHANGE_STATE = "~/change_state"


class Answer:
    """A response that is sent when :meth:`give` has been called, and not before.

    Args:
        response: the response; may be filled until then.
    """

    def __init__(self, response: Any) -> None:
        self.response = response
        self._given = False
        self._send: Callable[[], None] | None = None

    def give(self) -> None:
        """Have it sent."""
        self._given = True
        if self._send is not None:
            self._send()

    def when_given(self, send: Callable[[], None]) -> None:
        """Say how it is sent."""
        self._send = send
        if self._given:
            send()


class LaterService(Service):
    """A service whose callback may return an :class:`Answer`."""

    def send_response(self, response: Any, header: Any) -> None:
        """Send a response, now or when it is given."""
        if not isinstance(response, Answer):
            super().send_response(response, header)
            return

        def send() -> None:
            try:
                self.send_response(response.response, header)
            except rclpy_implementation.RCLError:
                return  # the client has gone away; the transition is over all the same

        response.when_given(send)


def state_machine(node: Node) -> Any:
    """Return a state machine of rcl with what it communicates by: services and a topic.

    Args:
        node: the node.
    """
    for kind in (ChangeState, GetState, GetAvailableStates, GetAvailableTransitions):
        check_is_valid_srv_type(kind)  # and loads what rcl needs of it
    with node.handle:
        return rclpy_implementation.LifecycleStateMachine(node.handle, True)


def lifecycle_services(
    machine: Any, lifecycle: Lifecycle, changing: Callable[[], None]
) -> list[Service]:
    """Return the services that a managed node has.

    Args:
        machine: state machine of rcl, which has made them.
        lifecycle: carries the transitions out.
        changing: called when a transition has begun that may go on.
    """

    def change(request: Any, response: Any) -> Answer:
        answer = Answer(response)

        def over(success: bool) -> None:
            response.success = success
            answer.give()

        lifecycle.change(request.transition.id, request.transition.label, over)
        changing()
        return answer

    def state(_: Any, response: Any) -> Any:
        response.current_state = _state(*machine.current_state)
        return response

    def states(_: Any, response: Any) -> Any:
        response.available_states = [_state(*one) for one in machine.available_states]
        return response

    def transitions(_: Any, response: Any) -> Any:
        response.available_transitions = list(map(_described, machine.available_transitions))
        return response

    def graph(_: Any, response: Any) -> Any:
        response.available_transitions = list(map(_described, machine.transition_graph))
        return response

    group = ReentrantCallbackGroup()
    made = []
    for name, kind, callback in (
        (CHANGE_STATE, ChangeState, change),
        ("~/get_state", GetState, state),
        ("~/get_available_states", GetAvailableStates, states),
        ("~/get_available_transitions", GetAvailableTransitions, transitions),
        ("~/get_transition_graph", GetAvailableTransitions, graph),
    ):
        handle = getattr(machine, f"service_{name.removeprefix('~/')}")
        make = LaterService if name == CHANGE_STATE else Service
        service = make(handle, kind, handle.name, callback, group, QoSProfile(**handle.qos))
        group.add_entity(service)
        made.append(service)
    return made


def _state(number: int, label: str) -> State:
    return State(id=number, label=label)


def _described(told: tuple[int, str, int, str, int, str]) -> TransitionDescription:
    """Return a transition with its origin and its goal."""
    number, label, start, start_label, goal, goal_label = told
    return TransitionDescription(
        transition=Transition(id=number, label=label),
        start_state=_state(start, start_label),
        goal_state=_state(goal, goal_label),
    )
