"""The client of FollowJointTrajectory.  Needs control_msgs, which is optional."""

from __future__ import annotations

from typing import Any

from action_msgs.srv import CancelGoal
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from robot_identification.ros.common import qos
from robot_identification.ros.controllers.goals import Outcome


class SentGoal:
    """A goal, and what has come of it so far.

    Args:
        sent: future of the answer of the server.
    """

    def __init__(self, sent: Any) -> None:
        self._sent = sent
        self._result: Any = None
        self._cancel: Any = None

    @property
    def accepted(self) -> bool | None:
        """Whether it was accepted; None: that is not known yet."""
        if not self._sent.done():
            return None
        handle = self._sent.result()
        if handle.accepted and self._result is None:
            self._result = handle.get_result_async()
        return bool(handle.accepted)

    @property
    def outcome(self) -> Outcome | None:
        """How it has ended; None: it has not, or that is not known yet."""
        if not self.accepted or not self._result.done():
            return None
        answer = self._result.result()
        return Outcome(answer.status, answer.result.error_code, answer.result.error_string)

    @property
    def cancelled(self) -> bool | None:
        """Whether the request to cancel it was granted; None: not asked, or not answered yet."""
        if self._cancel is None or not self._cancel.done():
            return None
        return bool(self._cancel.result().return_code == CancelGoal.Response.ERROR_NONE)

    def cancel(self) -> None:
        """Ask for its end."""
        if self.accepted:
            self._cancel = self._sent.result().cancel_goal_async()


class ActionWire:
    """A client of the action.

    Args:
        node: the node.
        action: name of the action, relative to the node's namespace.
    """

    def __init__(self, node: Node, action: str) -> None:
        self._node = node
        self.name = node.resolve_service_name(action)
        self._client = ActionClient(
            node,
            FollowJointTrajectory,
            action,
            callback_group=MutuallyExclusiveCallbackGroup(),
            goal_service_qos_profile=qos.SERVICES,
            result_service_qos_profile=qos.SERVICES,
            cancel_service_qos_profile=qos.SERVICES,
            feedback_sub_qos_profile=qos.STATUS,
        )

    def ready(self) -> bool:
        """Tell whether there is a server."""
        return bool(self._client.server_is_ready())

    def send(self, trajectory: JointTrajectory) -> SentGoal:
        """Send a goal with the tolerances of the controller."""
        return SentGoal(
            self._client.send_goal_async(FollowJointTrajectory.Goal(trajectory=trajectory))
        )

    def work(self, seconds: float) -> None:
        """Have the node work off what has come, or wait for it."""
        if self._node.executor is not None:
            self._node.executor.spin_once(timeout_sec=seconds)
