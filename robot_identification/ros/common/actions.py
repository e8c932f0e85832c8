"""Actions for what takes long or moves the robot; their goals are jobs of a node.

A goal that comes while a service or another goal is worked on is rejected at once and never queued.
Every other goal is accepted; what is wrong with it stands in its result.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from rclpy.action.server import ActionServer, CancelResponse, GoalResponse, RCLError
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.executors import await_or_execute
from rclpy.node import Node

from robot_identification.ros.common import qos
from robot_identification.ros.common.jobs import Job, JobSlot
from robot_identification.ros.messages.error_codes import CODES

RESULT_TIMEOUT = 60
"""Time for which the result of a goal that has ended can still be asked for, s."""

_LOG_PERIOD = 1.0


class JobAction:
    """An action whose goals are worked on one at a time, with what a service of the node uses.

    A goal succeeds with a result of success.  It is canceled where its client has asked for that
    and the work has ended with CANCELLED; in every other case it is aborted, and error code and
    message of the result say why.

    Args:
        node: the node.
        kind: type of the action; its result has success, error_code and message.
        name: name of the action.
        slot: where the work is done.
        work: what the work is called.
        perform: function or coroutine that takes a goal, an empty result and its job, and returns
            the result, whatever happens.
        feedback: makes feedback of what the work tells; by default of its progress.
        on_cancel: called when the client of the goal under way wants it to end.
    """

    def __init__(
        self,
        node: Node,
        kind: Any,
        name: str,
        *,
        slot: JobSlot,
        work: str,
        perform: Callable[[Any, Any, Job], Any],
        feedback: Callable[[Any], Any] | None = None,
        on_cancel: Callable[[], object] = lambda: None,
    ) -> None:
        self._log = node.get_logger()
        self._kind, self._name = kind, name
        self._slot, self._work, self._perform = slot, work, perform
        self._feedback = feedback or (lambda progress: kind.Feedback(progress=progress))
        self._on_cancel = on_cancel
        self._reserved: Job | None = None  # of a goal whose client does not know yet
        self._goal: Any = None  # identifier of the goal under way
        self._server = _Server(
            node,
            kind,
            name,
            self._work_off,
            callback_group=MutuallyExclusiveCallbackGroup(),
            goal_callback=self._on_goal,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel_request,
            goal_service_qos_profile=qos.SERVICES,
            result_service_qos_profile=qos.SERVICES,
            cancel_service_qos_profile=qos.SERVICES,
            feedback_pub_qos_profile=qos.STATUS,
            result_timeout=RESULT_TIMEOUT,
        )
        self._server.after, self._server.warn = self._give_back, self._log.warning

    def destroy(self) -> None:
        """End the action."""
        self._server.destroy()

    def _on_goal(self, _goal: Any) -> GoalResponse:
        self._reserved = self._slot.take(self._work)
        if self._reserved is None:
            self._log.warning(
                f"goal of {self._name} rejected, BUSY: {self._slot.busy}",
                throttle_duration_sec=_LOG_PERIOD,
            )
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _on_accepted(self, handle: Any) -> None:
        job: Any = self._reserved
        job.asked = lambda: handle.is_cancel_requested
        job.tell = lambda told: self._tell(handle, told)
        self._goal = handle.goal_id
        handle.execute(partial(self._work_off, job))
        self._reserved = None  # from here on the work ends it

    def _tell(self, handle: Any, told: Any) -> None:
        """Send feedback; work goes on without."""
        try:
            handle.publish_feedback(self._feedback(told))
        except RCLError as error:
            self._log.warning(f"no feedback: {error}", throttle_duration_sec=_LOG_PERIOD)

    def _give_back(self) -> None:
        """Free the slot from a goal that could not be begun, because its client has gone away."""
        if self._reserved is not None:
            self._reserved.end()
            self._reserved = None

    def _on_cancel_request(self, handle: Any) -> CancelResponse:
        # The job learns it from the state of the goal, which changes after this.
        if handle.goal_id == self._goal:
            self._on_cancel()
        return CancelResponse.ACCEPT

    async def _work_off(self, job: Job, handle: Any) -> Any:
        try:
            result = await await_or_execute(self._perform, handle.request, self._kind.Result(), job)
        finally:
            self._goal = None
            job.end()
        if result.success:
            handle.succeed()
        elif result.error_code == CODES.CANCELLED and handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        return result


class _Server(ActionServer):
    """An action server that a client which goes away does not take with it."""

    after: Callable[[], None]
    warn: Callable[[str], object]

    async def execute(self, taken_data: Any) -> None:
        try:
            await super().execute(taken_data)
        except RCLError as error:
            self.warn(f"a client has gone away: {error}")
        finally:
            self.after()
