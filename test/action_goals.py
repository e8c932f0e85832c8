"""Goals of actions, seen from a client: accepted or rejected, feedback, cancel, result."""

from __future__ import annotations

from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action.client import ActionClient

from robot_identification.ros.clients.client import Client, Closing, RequestRefusedError
from robot_identification.ros.common import qos

SUCCEEDED = GoalStatus.STATUS_SUCCEEDED
CANCELED = GoalStatus.STATUS_CANCELED
ABORTED = GoalStatus.STATUS_ABORTED


class Goal:
    """A goal that was sent.

    Args:
        client: that it was sent through.
        name: name of the action.

    Attributes:
        feedback: what has come so far, oldest first.
        accepted: whether it was accepted; None before the answer.
        status: state in which it has ended, such as SUCCEEDED; None before.
        result: its result; None before.
    """

    def __init__(self, client: Client, name: str) -> None:
        self._client, self._name = client, name
        self._handle: Any = None
        self.feedback: list[Any] = []
        self.accepted: bool | None = None
        self.status: int | None = None
        self.result: Any = None

    @property
    def identifier(self) -> Any:
        """What the server knows it by."""
        return self._handle.goal_id

    def wait(self, timeout: float = 120.0) -> Any:
        """Wait for the end; return the result.

        Raises:
            RequestRefusedError: if it was rejected.
            ClientTimeoutError: if that takes longer than ``timeout`` seconds.
        """
        if not self.accepted:
            raise RequestRefusedError(self._name, "the goal was rejected")
        return self._client.wait_for(lambda: self.result, timeout, f"result of {self._name}")

    def cancel(self, timeout: float = 30.0) -> bool:
        """Ask for the end; return whether the server agrees.

        Raises:
            ClientTimeoutError: if no answer comes within ``timeout`` seconds.
        """
        future = self._handle.cancel_goal_async()
        self._client.wait_for(future.done, timeout, f"answer of {self._name} to cancel")
        return bool(future.result().goals_canceling)

    def on_answer(self, future: Any) -> None:
        """Take in whether it was accepted, and ask for the result."""
        self._handle = future.result()
        self.accepted = self._handle.accepted
        if self.accepted:
            self._handle.get_result_async().add_done_callback(self._on_result)

    def _on_result(self, future: Any) -> None:
        response = future.result()
        self.status, self.result = response.status, response.result


class Goals(Closing):
    """Sends goals through a client.

    Args:
        client: to talk through; of the namespace of the nodes.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._actions: dict[str, ActionClient] = {}

    def close(self) -> None:
        """Destroy the clients of all actions."""
        for action in self._actions.values():
            action.destroy()

    def wait_for_action(self, kind: Any, name: str, timeout: float = 60.0) -> None:
        """Wait until an action is there, and knows this client: it answers nobody else.

        Raises:
            ClientTimeoutError: if it is not within ``timeout`` seconds.
        """
        new = name not in self._actions
        is_ready = self._action(kind, name).server_is_ready
        self._client.wait_for_server(is_ready, new, timeout, f"action {name}")

    def send(self, kind: Any, name: str, goal: Any = None, timeout: float = 60.0) -> Goal:
        """Send a goal and wait until it is accepted or rejected.

        Args:
            kind: type of the action.
            name: its name, relative to the namespace.
            goal: the goal; None: an empty one.
            timeout: how long to wait, for the action and for its answer, in s.

        Raises:
            ClientTimeoutError: if the action is not there or does not answer in time.
        """
        self.wait_for_action(kind, name, timeout)
        sent = Goal(self._client, name)
        answer = self._action(kind, name).send_goal_async(
            goal or kind.Goal(), lambda message: sent.feedback.append(message.feedback)
        )
        answer.add_done_callback(sent.on_answer)
        self._client.wait_for(
            lambda: sent.accepted is not None, timeout, f"answer of {name} to a goal"
        )
        return sent

    def _action(self, kind: Any, name: str) -> ActionClient:
        if name not in self._actions:
            self._actions[name] = ActionClient(
                self._client.node,
                kind,
                name,
                goal_service_qos_profile=qos.SERVICES,
                result_service_qos_profile=qos.SERVICES,
                cancel_service_qos_profile=qos.SERVICES,
                feedback_sub_qos_profile=qos.STATUS,
            )
        return self._actions[name]
