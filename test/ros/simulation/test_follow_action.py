"""The action of a simulated robot, in a process of its own, through DDS."""

import math
import uuid
from dataclasses import replace

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState

from control_messages import control_msgs  # noqa: F401
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.files.loading import load_robot
from robot_identification.ros.clients.client import Client
from robot_identification.ros.clients.processes import NodeProcesses, command
from robot_identification.ros.common import qos
from robot_identification.ros.messages.trajectories import message_of

pytestmark = [pytest.mark.ros, pytest.mark.usefixtures("control_msgs")]

NAMES = load_robot("tx40").joint_names
EXACT = {
    "robot": "tx40",
    "real_time_factor": 2.0,
    "position_noise": [0.0],
    "position_resolution": [0.0],
    "interface": "action",
}
GONE = np.array([np.zeros(6), np.full(6, 0.3)])
MOTION = Trajectory(NAMES, [0.0, 1.5], GONE, np.zeros((2, 6)), np.zeros((2, 6)))
FAR = Trajectory(NAMES, [0.0, 60.0], GONE, np.zeros((2, 6)), np.zeros((2, 6)))


class Arm:
    """A simulated robot and a client of its action."""

    def __init__(self, client):
        from control_msgs.action import FollowJointTrajectory
        from control_msgs.msg import JointTolerance

        self._kind, self._tolerance = FollowJointTrajectory, JointTolerance
        self._client, self.states = client, []
        client.collect(JointState, "joint_states", self.states.append, qos.STATES_IN)
        self._action = ActionClient(client.node, FollowJointTrajectory, "follow_joint_trajectory")
        self.spin(lambda: self.states and self._action.server_is_ready())

    def spin(self, until):
        self._client.wait_for(until, math.inf, "expected state of the simulated robot")

    def get(self, future):
        self.spin(future.done)
        return future.result()

    def send(self, trajectory, **fields):
        goal = self._kind.Goal(trajectory=message_of(trajectory, 0))
        for name, value in fields.items():
            setattr(goal, name, value)
        return self.get(self._action.send_goal_async(goal))

    def within(self, position):
        return [self._tolerance(name=name, position=position) for name in NAMES]

    def result(self, handle):
        """Return how a goal has ended: status, code, words."""
        answer = self.get(handle.get_result_async())
        return answer.status, answer.result.error_code, answer.result.error_string

    def place(self):
        return np.array(self.states[-1].position)

    def wait_for_rest(self):
        """Wait until it stands."""
        self.spin(lambda: max(map(abs, self.states[-1].velocity)) < 1e-3)

    def require_rest(self, place, within=0.02):
        """Wait until it stands, and make sure that this is near a place."""
        self.wait_for_rest()
        np.testing.assert_allclose(self.place(), place, atol=within)


@pytest.fixture(scope="module")
def arm(tmp_path_factory, control_msgs):  # noqa: F811
    namespace = f"/t{uuid.uuid4().hex[:12]}"
    with (
        NodeProcesses(tmp_path_factory.mktemp("nodes")) as processes,
        Client(namespace, watch=processes.check) as client,
    ):
        line = command("simulated_robot", namespace=namespace, parameters=EXACT)
        processes.start("simulated_robot", line)
        yield Arm(client)


def test_a_goal_succeeds_when_the_robot_is_within_its_tolerances(arm):
    handle = arm.send(MOTION, path_tolerance=arm.within(1.0), goal_tolerance=arm.within(0.05))
    assert arm.result(handle)[:2] == (GoalStatus.STATUS_SUCCEEDED, 0)
    arm.require_rest(GONE[1])


def test_a_goal_that_leaves_its_path_is_aborted_and_the_robot_holds(arm):
    handle = arm.send(FAR, path_tolerance=arm.within(1e-9))
    status, code, words = arm.result(handle)
    assert (status, code) == (GoalStatus.STATUS_ABORTED, -4)
    assert "more than 1e-09" in words
    arm.wait_for_rest()
    held, count = arm.place(), len(arm.states)
    arm.spin(lambda: len(arm.states) > count + 20)
    arm.require_rest(held)


def test_a_goal_whose_end_is_not_reached_in_its_time_is_aborted(arm):
    handle = arm.send(
        MOTION, goal_tolerance=arm.within(1e-12), goal_time_tolerance=Duration(nanosec=200_000_000)
    )
    assert arm.result(handle)[:2] == (GoalStatus.STATUS_ABORTED, -5)


def test_another_goal_takes_the_place_of_the_one_under_way_which_is_told(arm):
    first, second = arm.send(FAR), arm.send(MOTION)
    assert first.accepted
    assert arm.result(first)[:2] == (GoalStatus.STATUS_ABORTED, -1)
    assert arm.result(second)[0] == GoalStatus.STATUS_SUCCEEDED


def test_a_robot_whose_goal_is_cancelled_holds_where_it_is(arm):
    way = np.array([arm.place(), arm.place() + 0.3])
    handle = arm.send(replace(FAR, positions=way))
    arm.get(handle.cancel_goal_async())
    assert arm.result(handle)[0] == GoalStatus.STATUS_CANCELED
    arm.require_rest(way[0], within=0.2)  # the way takes half a minute


@pytest.mark.parametrize("wrong", ["joints", "tolerance", "motion at the end"])
def test_goals_that_cannot_be_followed_are_rejected(arm, wrong):
    trajectory, fields = MOTION, {}
    if wrong == "joints":
        trajectory = replace(MOTION, joint_names=("elbow", *NAMES[1:]))
    elif wrong == "tolerance":
        tolerance = arm.within(0.1)
        tolerance[0].name = "elbow"
        fields["path_tolerance"] = tolerance
    else:
        trajectory = replace(MOTION, velocities=np.full((2, 6), 0.1))
    assert not arm.send(trajectory, **fields).accepted
