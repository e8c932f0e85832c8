"""The action FollowJointTrajectory of a simulated robot.  Needs control_msgs, which is optional.

It answers as joint_trajectory_controller does: a trajectory that cannot be followed is rejected; a
new goal takes the place of the one under way; a goal that is cancelled, or that leaves its
tolerances, has the robot hold where it is.  Tolerances that a goal does not state are not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectory

from robot_identification.errors import InputError
from robot_identification.robot.arrays import Array
from robot_identification.ros.common import qos
from robot_identification.ros.simulation.robot import RobotSimulator

_Result = FollowJointTrajectory.Result
_REPLACED = "Current goal cancelled due to new incoming action."


class FollowAction:
    """Server of the action.

    Args:
        node: the simulated robot.
        joint_names: its joints.
        check: raises InputError where a trajectory cannot be followed.
        follow: begins one; raises InputError like ``check``.
        hold: has the robot stay where it is.
    """

    def __init__(
        self,
        node: Node,
        joint_names: tuple[str, ...],
        *,
        check: Callable[[JointTrajectory], object],
        follow: Callable[[JointTrajectory], object],
        hold: Callable[[], None],
    ) -> None:
        self._names, self._log = joint_names, node.get_logger()
        self._check, self._follow, self._hold = check, follow, hold
        self._goal: Any = None  # handle of the goal under way
        self._over: Any = Future()  # of its result
        self._server = ActionServer(
            node,
            FollowJointTrajectory,
            "follow_joint_trajectory",
            partial(self._work_off, Future()),
            callback_group=MutuallyExclusiveCallbackGroup(),
            goal_callback=self._on_goal,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel,
            goal_service_qos_profile=qos.SERVICES,
            result_service_qos_profile=qos.SERVICES,
            cancel_service_qos_profile=qos.SERVICES,
        )

    def destroy(self) -> None:
        """End the action."""
        self._server.destroy()

    def replaced(self) -> None:
        """Take note that another trajectory has taken the place of the goal under way."""
        self._end(_Result(error_code=_Result.INVALID_GOAL, error_string=_REPLACED))

    def _on_goal(self, goal: Any) -> GoalResponse:
        try:
            self._check(goal.trajectory)
            for tolerances in (goal.path_tolerance, goal.goal_tolerance):
                limits(self._names, tolerances)
        except InputError as error:
            self._log.error(f"goal rejected: {error}")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _on_accepted(self, handle: Any) -> None:
        self.replaced()
        self._goal, self._over = handle, Future()
        handle.execute(partial(self._work_off, self._over))
        try:
            self._follow(handle.request.trajectory)
        except InputError as error:
            self._end(_Result(error_code=_Result.OLD_HEADER_TIMESTAMP, error_string=str(error)))

    def _on_cancel(self, handle: Any) -> CancelResponse:
        if self._goal is not None and handle.goal_id == self._goal.goal_id:
            self._hold()
            self._end(_Result())
        return CancelResponse.ACCEPT

    async def _work_off(self, over: Any, handle: Any) -> Any:
        result = await over
        if handle.is_cancel_requested:
            handle.canceled()
        elif result.error_code == _Result.SUCCESSFUL:
            handle.succeed()
        else:
            handle.abort()
        return result

    def _end(self, result: Any) -> None:
        if self._goal is not None:
            self._goal = None
            self._over.set_result(result)

    def watch(self, simulator: RobotSimulator, since_end: float) -> None:
        """Compare the robot with the trajectory, where there is a goal.

        Args:
            simulator: the robot.
            since_end: time since the end of the trajectory, s; negative before.
        """
        if self._goal is None:
            return
        goal, error = self._goal.request, simulator.error
        if since_end < 0.0:
            self._require(error, goal.path_tolerance, _Result.PATH_TOLERANCE_VIOLATED)
            return
        leeway = goal.goal_time_tolerance
        longest = leeway.sec + leeway.nanosec * 1e-9
        if violation(self._names, error, goal.goal_tolerance):
            if longest and since_end > longest:
                self._require(error, goal.goal_tolerance, _Result.GOAL_TOLERANCE_VIOLATED)
            return
        self._end(_Result(error_code=_Result.SUCCESSFUL))

    def _require(self, error: Array, tolerances: Sequence[Any], code: int) -> None:
        wrong = violation(self._names, error, tolerances)
        if wrong:
            self._hold()
            self._log.warning(f"goal aborted: {wrong}")
            self._end(_Result(error_code=code, error_string=wrong))


def limits(names: tuple[str, ...], tolerances: Sequence[Any]) -> Array:
    """Return (joints,) positions by which joints may be off; infinite where that is not stated.

    Raises:
        InputError: a joint is unknown.
    """
    values = np.full(len(names), np.inf)
    for tolerance in tolerances:
        if tolerance.name not in names:
            raise InputError(f"a tolerance is for {tolerance.name}, a joint that there is not")
        if tolerance.position > 0.0:
            values[names.index(tolerance.name)] = tolerance.position
    return values


def violation(names: tuple[str, ...], error: Array, tolerances: Sequence[Any]) -> str:
    """Return which joint is outside its tolerance, for people; empty where none is."""
    values = limits(names, tolerances)
    joint = int(np.argmax(np.abs(error) / values))
    if abs(error[joint]) <= values[joint]:
        return ""
    return f"{names[joint]} is {abs(error[joint]):.4g} off, more than {values[joint]:g}"
