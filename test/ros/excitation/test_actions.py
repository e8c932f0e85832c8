"""Goals that plan and that move the robot, through DDS, with a SCARA whose plans take a moment."""

import math
import os
import signal
import sys

import numpy as np
import pytest
from robot_identification.action import ExecuteExcitation, PlanExcitation
from robot_identification.srv import PlanExcitation as PlanService
from trajectory_msgs.msg import JointTrajectory

from action_goals import ABORTED, CANCELED, SUCCEEDED, Goals
from forked_processes import Popen
from live_nodes import complete_values
from lock_step import LockStepCell
from robot_identification.ros.clients.client import Client
from robot_identification.ros.common import qos
from robot_identification.ros.common.joint_states import stamp_of
from robot_identification.ros.messages.error_codes import CODES
from simulated_cell import Status

pytestmark = [pytest.mark.ros, pytest.mark.slow]

PLAN, EXECUTE = "excitation/plan", "excitation/execute"
QUICK = {"rows": 8, "starts": 1, "duration": 3.0}
LONG = {"rows": 40, "starts": 20, "duration": 3.0}
AWAY = [0.3, -0.3]
CANCELS = 2
QUICKLY = {"tracking_error_limit": [0.5], "approach_speed": 0.5, "rest_speed": 0.1}


@pytest.fixture(scope="module")
def cell(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cell")
    values = str(complete_values(folder))
    with LockStepCell(folder, "scara", values, excitation=QUICKLY) as cell:
        cell.start_nodes()
        with Goals(cell.client) as cell.goals:
            cell.planning = plan(cell)
            cell.planned = cell.planning.wait()
            assert cell.planned.success, cell.planned.message
            yield cell


def plan(cell, **fields):
    """Send a goal to plan a motion that begins where the robot is not at first."""
    goal = PlanExcitation.Goal(**{**QUICK, "start_position": AWAY, **fields})
    return cell.goals.send(PlanExcitation, PLAN, goal)


def execute(cell, **fields):
    """Send a goal to move a robot that has just said where it is."""
    cell.hear()
    return cell.goals.send(ExecuteExcitation, EXECUTE, ExecuteExcitation.Goal(**fields))


def at_rest(cell):
    """Tell whether the robot is at rest."""
    cell.pass_time(0.1)
    return np.abs([state.velocity for state in cell.states[-5:]]).max() < 0.05


def test_a_goal_to_plan_and_a_goal_to_move_succeed_with_feedback_and_latched_results(cell):
    goal, planned = cell.planning, cell.planned
    assert goal.status == SUCCEEDED
    assert all(planned.passed)
    assert goal.feedback
    assert all(0.0 <= told.progress.fraction <= 1.0 for told in goal.feedback)
    count = len(cell.sent)
    goal = execute(cell, trajectory_hash=planned.trajectory_hash)
    result = goal.wait()
    assert (goal.status, result.error_code) == (SUCCEEDED, CODES.OK), result.message
    assert result.status.state == Status.FINISHED
    assert at_rest(cell)
    assert len(cell.sent) == count + 2
    told = [(one.status.state, one.fraction) for one in goal.feedback]
    states = list(dict.fromkeys(state for state, _ in told))
    # The last feedback may be overtaken by the end, and is then dropped by rclpy.
    assert states[:2] == [Status.APPROACHING, Status.RUNNING]
    assert set(states[2:]) <= {Status.FINISHED}
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert 0.9 < shares[-1] <= 1.0
    assert len(goal.feedback[-1].status.tracking_error) == 2
    with Client(cell.namespace) as late:
        trajectories, statuses = [], []
        late.node.create_subscription(
            JointTrajectory, "excitation/planned_trajectory", trajectories.append, qos.LATCHED
        )
        late.node.create_subscription(Status, "excitation/status", statuses.append, qos.LATCHED)
        late.wait_for(
            lambda: trajectories and statuses and statuses[-1].state == Status.FINISHED,
            math.inf,
            "latched plan, and status of its end",
        )
    assert repr(trajectories[-1]) == repr(planned.trajectory)
    assert statuses[-1].trajectory_hash == planned.trajectory_hash


def test_what_cannot_be_done_is_aborted_with_the_reason(cell):
    count = len(cell.sent)
    for goal, code in (
        (plan(cell, method="guess"), CODES.INVALID_REQUEST),
        (execute(cell, trajectory_hash="0" * 64), CODES.RESULT_INVALID),
        (execute(cell, resume=True), CODES.INVALID_REQUEST),
    ):
        result = goal.wait()
        assert (goal.status, result.success, result.error_code) == (ABORTED, False, code)
        assert result.message
    assert len(cell.sent) == count


@pytest.mark.parametrize("repetition", range(CANCELS))
def test_a_motion_that_is_cancelled_ends_canceled_and_at_rest(cell, repetition):
    moment = np.random.default_rng(repetition).uniform(0.0, 1.0 + cell.planned.duration)
    begun, count = cell.now(), len(cell.sent)
    goal = execute(cell)
    cell.pass_time(moment)
    with cell.held():
        agreed = goal.cancel()
    result = goal.wait()
    assert agreed, result.message
    assert (goal.status, result.error_code) == (CANCELED, CODES.CANCELLED), result.message
    assert at_rest(cell)
    braked = result.status.state == Status.STOPPED
    if braked:
        cell.wait_for(Status.STOPPED)
        braking = cell.followed(begun)
        assert braking is cell.sent[-1]
        assert np.abs(braking.trajectory.velocities[-1]).max() == 0.0
    assert len(cell.sent) - count <= 2 + braked, "approach, trajectory, and one braking"
    again = execute(cell)
    assert again.accepted
    assert again.cancel()
    assert again.wait().error_code == CODES.CANCELLED


def test_a_motion_that_is_cancelled_at_once_never_begins(cell):
    count = len(cell.sent)
    goal = execute(cell)
    agreed = goal.cancel()
    result = goal.wait()
    assert agreed, result.message
    assert (goal.status, result.error_code) == (CANCELED, CODES.CANCELLED)
    assert at_rest(cell)
    assert len(cell.sent) <= count + 2, "approach and braking at most"


def test_plans_cancelled_at_random_times_leave_the_plan_before(cell):
    for moment in np.random.default_rng(5).uniform(0.0, 2.0, CANCELS):
        goal = plan(cell, **LONG)
        cell.client.spin(moment)
        assert goal.cancel()
        assert goal.wait().error_code == CODES.CANCELLED
        assert goal.status == CANCELED
    goal = execute(cell, trajectory_hash=cell.planned.trajectory_hash)
    assert goal.cancel()
    assert goal.wait().error_code == CODES.CANCELLED, "not RESULT_INVALID"


def test_goals_and_services_keep_each_other_out(cell):
    goal = plan(cell, **LONG)
    assert goal.accepted
    cell.wait_for(Status.PLANNING)
    assert not plan(cell).accepted
    assert not execute(cell).accepted
    assert cell.answers.plan(**QUICK).error_code == CODES.BUSY
    assert cell.answers.start().message.startswith("BUSY: a plan is under way")
    assert cell.answers.cancel("excitation").success
    result = goal.wait()
    assert (goal.status, result.error_code) == (ABORTED, CODES.CANCELLED), "by the service"
    # PLANNING then tells of the next request.
    cell.wait(lambda: cell.status.state != Status.PLANNING, "end of the plan in the status")
    request = PlanService.Request(**LONG)
    answer = cell.begun.ask(request)
    cell.wait_for(Status.PLANNING)
    assert not plan(cell).accepted
    assert not execute(cell).accepted
    assert cell.answers.cancel("excitation").success
    cell.wait(answer.done, "answer of what was cancelled")
    assert answer.result().error_code == CODES.CANCELLED


def test_a_second_motion_is_rejected_and_a_stop_aborts_the_first(cell):
    goal = execute(cell)
    cell.wait_for(Status.RUNNING)
    cell.pass_time(0.5)
    count = len(cell.sent)
    with cell.held():
        assert not execute(cell).accepted
        assert not plan(cell).accepted
        assert cell.answers.start().message.startswith("BUSY: a motion is under way")
        assert cell.answers.plan(**QUICK).error_code == CODES.BUSY
        assert len(cell.sent) == count
        assert goal.result is None
        assert cell.answers.stop().message.startswith("braking")
    result = goal.wait()
    assert (goal.status, result.error_code) == (ABORTED, CODES.CANCELLED)
    assert result.status.stop_reason == Status.REQUESTED
    assert at_rest(cell)
    assert cell.answers.start().success
    cell.wait_for(Status.RUNNING)
    with cell.held():
        assert not execute(cell).accepted, "a motion that a service began"
        assert cell.answers.stop().success
    cell.wait_for(Status.STOPPED)
    cell.pass_time(0.5)
    assert cell.status.state == Status.STOPPED, "nothing was queued"


def test_states_that_stop_coming_stop_the_motion_and_abort_the_goal(cell):
    begun = cell.now()
    goal = execute(cell)
    cell.wait_for(Status.RUNNING)
    cell.followed(begun)
    count = len(cell.sent)
    robot = cell.nodes.process("simulated_robot")
    robot.send_signal(signal.SIGSTOP)  # and the clock stands still with it
    try:
        cell.wait(lambda: len(cell.sent) > count, "braking trajectory")
        cell.wait_for(Status.BRAKING, Status.FAULT)
        assert cell.status.stop_reason == Status.STATE_STALE
    finally:
        robot.send_signal(signal.SIGCONT)
    result = goal.wait()
    np.testing.assert_allclose(cell.sent[count].trajectory.velocities[-1], 0.0)
    assert len(cell.sent) == count + 1
    assert (goal.status, result.error_code) == (ABORTED, CODES.STATE_STALE)
    assert result.status.stop_reason == Status.STATE_STALE
    assert "no joint state" in result.message


DYING_CLIENT = """
import math, sys
from pathlib import Path
from robot_identification.action import ExecuteExcitation
from robot_identification.ros.clients.client import Client
from action_goals import Goals
with Client(sys.argv[1]) as client:
    goals = Goals(client)
    goal = goals.send(ExecuteExcitation, "excitation/execute")
    client.wait_for(lambda: goal.feedback, math.inf, "feedback")
    Path(sys.argv[2]).touch()
    goal.wait(math.inf)
"""


def test_a_motion_goes_on_to_its_end_when_its_client_is_killed(cell, tmp_path):
    count = len(cell.sent)
    moving = tmp_path / "moving"
    line = [sys.executable, "-c", DYING_CLIENT, cell.namespace, str(moving)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with Popen(line, env=environment) as client:
        try:
            cell.wait(moving.exists, "motion of the other client")
            cell.wait_for(Status.RUNNING)
        finally:
            client.kill()
    with cell.held():
        assert not execute(cell).accepted, "another client is rejected meanwhile"
    status = cell.wait_for(Status.FINISHED, Status.STOPPED, Status.FAULT)
    assert status.state == Status.FINISHED, status.text
    assert len(cell.sent) <= count + 2, "nothing but approach and trajectory"
    duration = cell.sent[-1].trajectory.duration
    assert duration == pytest.approx(cell.planned.duration, abs=1e-6)
    cell.wait(lambda: stamp_of(cell.states[-1]) >= cell.sent[-1].end, "the last of its states")
    assert at_rest(cell)
    goal = execute(cell)
    assert goal.accepted, "the slot is free again"
    assert goal.wait().success


def test_one_joint_at_a_time_goes_on_where_it_was_cancelled(cell):
    wanted = PlanExcitation.Goal(method="one-joint", travel=0.25)
    planned = cell.goals.send(PlanExcitation, PLAN, wanted).wait()
    assert planned.success, planned.message

    def experiments(goal):
        told = [one.status for one in goal.feedback]
        return [status.experiment for status in told if status.state == Status.RUNNING]

    goal = execute(cell)
    cell.wait(lambda: 2 in experiments(goal), "second experiment")
    with cell.held():
        assert goal.cancel()
    result = goal.wait()
    assert (goal.status, result.status.experiment) == (CANCELED, 2), result.message
    goal = execute(cell, resume=True)
    cell.wait(lambda: 3 in experiments(goal), "experiment after the interrupted one")
    assert experiments(goal)[0] == 2
    assert goal.cancel()
    assert goal.wait().status.experiment == 3


def test_a_node_that_was_killed_and_started_again_takes_goals(cell):
    execute(cell)
    cell.wait_for(Status.RUNNING)
    cell.kill(signal.SIGKILL)
    cell.client.spin(0.2)
    count = len(cell.sent)
    cell.start_excitation()
    # A client that does not know the dead one.
    with Client(cell.namespace, watch=cell.look) as client, Goals(client) as goals:
        goal = goals.send(ExecuteExcitation, EXECUTE)
        result = goal.wait()
        assert (goal.status, result.error_code) == (ABORTED, CODES.RESULT_INVALID)
        assert "no certified plan" in result.message
        assert len(cell.sent) == count
        goal = goals.send(PlanExcitation, PLAN, PlanExcitation.Goal(method="guess"))
        assert goal.wait().error_code == CODES.INVALID_REQUEST
