"""A controller with the action FollowJointTrajectory in the process of the test.

The robot is a fake driver, which follows exactly what this controller has accepted; see
:meth:`lock_step.LockStepCell.drive`.  Needs control_msgs.
"""

from functools import partial

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.task import Future

from robot_identification.ros.common.joint_states import NANOSECONDS, stamp_of
from robot_identification.ros.messages.trajectories import trajectory_of


class FakeController:
    """Serves the action.

    Args:
        cell: with a fake driver.

    Attributes:
        rejects: whether goals are rejected.
        goals: those that came.
    """

    def __init__(self, cell):
        from control_msgs.action import FollowJointTrajectory

        self._cell, self.rejects, self.goals = cell, False, []
        self._result = FollowJointTrajectory.Result
        self._goal = self._over = None
        self._server = ActionServer(
            cell.client.node, FollowJointTrajectory, "follow_joint_trajectory",
            partial(self._work_off, Future()), goal_callback=self._on_goal,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
        )  # fmt: skip
        cell.drivers.append(self.look)

    def _on_goal(self, goal):
        self.goals.append(goal)
        return GoalResponse.REJECT if self.rejects else GoalResponse.ACCEPT

    def _on_accepted(self, handle):
        self.end(-1, "replaced")
        self._goal, self._over = handle, Future()
        handle.execute(partial(self._work_off, self._over))

    async def _work_off(self, over, handle):
        result = await over
        handle.abort() if result.error_code else handle.succeed()
        return result

    def end(self, code=0, text=""):
        """End the goal under way."""
        if self._goal is not None:
            self._goal = None
            self._over.set_result(self._result(error_code=code, error_string=text))

    def abort(self, code, text):
        """End it and stay where the robot is."""
        self._cell.sent.clear()
        self.end(code, text)

    def look(self):
        """Tell the end of what is over."""
        if self._goal is None:
            return
        message = self._goal.request.trajectory
        end = stamp_of(message) + trajectory_of(message).times[-1] * NANOSECONDS
        if self._cell.now() >= end:
            self.end()

    def go(self):
        """Leave; the robot stays where it is."""
        if self._server is not None:
            self._cell.sent.clear()
            self._cell.drivers.remove(self.look)
            self._server.destroy()
            self._server = None
