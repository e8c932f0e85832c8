"""The excitation node and a simulated robot, each in a process of its own, through DDS."""

import re

import numpy as np
import pytest
from robot_identification.srv import PlanExcitation
from sensor_msgs.msg import JointState

from lock_step import LockStepCell
from robot_identification.files.plans.plans import read_plan
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.ros.common import qos
from robot_identification.ros.common.joint_states import stamp_of
from robot_identification.ros.messages.error_codes import CODES
from simulated_cell import Status

pytestmark = [pytest.mark.ros, pytest.mark.slow]

QUICK = {"rows": 8, "starts": 1, "duration": 3.0}
STOPS = 2
MEASURED = 1e-3
LATEST = 0.0101  # s: the time of a sample, at which the robot takes a trajectory over
START = [0.1, -0.1, 0.0, 0.0, 0.05, 0.0]


@pytest.fixture(scope="module")
def cell(tmp_path_factory):
    """Return a TX-40 with a plan."""
    folder, quickly = tmp_path_factory.mktemp("cell"), {"approach_speed": 0.4}
    with LockStepCell(folder, "tx40", "tx40_simulated", excitation=quickly) as cell:
        cell.start_nodes()
        cell.planned = cell.answers.plan(**QUICK, output="plan.yaml", start_position=START)
        assert cell.planned.success, cell.planned.message
        yield cell


def within(shares, tolerance=0.0):
    """Check shares of limits."""
    assert max(shares.values()) <= 1.0 + tolerance, shares


def test_a_plan_is_certified_reported_and_written(cell):
    response = cell.planned
    (target,) = response.written
    assert all(response.passed)
    assert {"position", "velocity", "acceleration", "braking"} <= set(response.checks)
    assert cell.progress["excitation"]
    trajectory, certificate = read_plan(target, cell.robot)
    assert certificate.digest == response.trajectory_hash
    np.testing.assert_allclose(trajectory.positions[0], START)
    cell.wait(lambda: cell.status.trajectory_hash == response.trajectory_hash, "hash in the status")
    assert cell.status.state == Status.PLANNED
    assert not cell.sent
    told = dict(zip(response.missing_parameters, response.missing_reasons, strict=True))
    base = base_parameters(cell.robot)
    assert {base.standard_names[i] for i in base.unaffecting} <= set(told)
    assert all(told.values())
    # no model was asked for: a row for each of 6 joints and every sample, not one per interval
    assert response.rows % (6 * QUICK["rows"]) == 0


def test_approach_rehearsal_and_run(cell):
    cell.set_parameter("excitation", "speed", 0.5)
    count = len(cell.sent)
    preview = cell.answers.preview()
    assert preview.success, preview.message
    assert len(cell.sent) == count
    asked = cell.now()
    status, shares = cell.run()
    assert status.state == Status.FINISHED, status.text
    within(shares, MEASURED)
    approach, run = cell.sent[count:]
    told = [float(number) for number in re.findall(r"[\d.]+(?= s)", preview.message)]
    durations = [approach.trajectory.duration, run.trajectory.duration]
    np.testing.assert_allclose(told[:2], durations, atol=0.051)
    assert shares["velocity"] < 0.6
    np.testing.assert_allclose(approach.trajectory.positions[-1], START)
    assert stamp_of(approach.message) > asked
    assert stamp_of(run.message) > approach.end
    cell.set_parameter("excitation", "speed", 1.0)
    status, shares = cell.run()
    assert status.state == Status.FINISHED, status.text
    within(shares, MEASURED)
    assert len(cell.sent) == count + 3, "the robot stood at the start: no approach"


def test_stops_at_random_moments(cell):
    moments = np.random.default_rng(1)
    duration, certified = cell.planned.duration, cell.planned.braking_time
    for _ in range(STOPS):
        stop = cell.stop_after(moments.uniform(0.05, 0.9) * duration, certified)
        assert stop is not None, cell.status.text
        assert stop.state == Status.STOPPED
        assert cell.status.stop_reason == Status.REQUESTED
        assert stop.rest <= certified + stop.late
        assert stop.late <= LATEST
        within(stop.commanded)
        within(stop.measured, MEASURED)


def test_a_second_plan_is_busy_and_a_start_too_until_it_is_cancelled(cell):
    request = PlanExcitation.Request(optimizer="all", starts=50)
    first = cell.begun.ask(request)
    cell.wait(lambda: first.done() or cell.status.state == Status.PLANNING, "plan that has begun")
    assert not first.done(), first.result().message
    assert cell.answers.plan(**QUICK).error_code == CODES.BUSY
    assert cell.answers.start().message.startswith("BUSY")
    assert cell.answers.cancel("excitation").success
    cell.wait(first.done, "answer of the cancelled plan")
    assert first.result().error_code == CODES.CANCELLED
    assert not cell.answers.cancel("excitation").success


def test_a_robot_that_is_pushed_off_the_trajectory_is_stopped(cell):
    efforts = cell.client.node.create_publisher(JointState, "feedforward_effort", qos.COMMANDS)
    assert cell.answers.start().success
    cell.wait_for(Status.RUNNING)
    cell.wait(lambda: cell.status.state == Status.RUNNING and cell.status.elapsed > 1.0, "motion")
    efforts.publish(JointState(name=["joint_2"], effort=[2000.0]))
    status = cell.wait_for(Status.BRAKING, Status.STOPPED, Status.FAULT)
    assert status.stop_reason == Status.TRACKING_ERROR
    assert "joint_2" in status.text
    efforts.publish(JointState(name=["joint_2"], effort=[0.0]))
    cell.wait_for(Status.STOPPED, Status.FAULT)
