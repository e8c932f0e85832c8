"""The excitation node and a simulated robot, each in a process of its own, through DDS."""

import re
import signal

import numpy as np
import pytest
from robot_identification.srv import PlanExcitation
from sensor_msgs.msg import JointState

from robot_identification.identification.base import base_parameters
from robot_identification.nodes import qos
from robot_identification.nodes.cell import Cell, Status
from robot_identification.nodes.joint_states import stamp_of
from robot_identification.nodes.services import CODES
from robot_identification.storage.plans import read_plan

pytestmark = [pytest.mark.ros, pytest.mark.slow, pytest.mark.timeout(300)]

QUICK = {"rows": 8, "starts": 1, "duration": 5.0, "timeout": 240.0}
STOPS = 5
STALE_AFTER = 2.0
MEASURED = 1e-3
PROMPT = 0.005
START = [0.1, -0.1, 0.0, 0.0, 0.05, 0.0]


@pytest.fixture(scope="module")
def cell(tmp_path_factory):
    """Return a TX-40 with a plan."""
    with Cell(
        tmp_path_factory.mktemp("cell"),
        "tx40",
        "tx40_simulated",
        excitation={"state_timeout": STALE_AFTER},
    ) as cell:
        cell.start_nodes()
        cell.planned = cell.answers.plan(**QUICK)
        assert cell.planned.success, cell.planned.message
        yield cell


def within(shares, tolerance=0.0):
    """Check shares of limits."""
    assert max(shares.values()) <= 1.0 + tolerance, shares


def measured_within(shares, late):
    """Check shares of limits, measured by differences of velocities.

    Where the machine is so busy that a trajectory reaches the robot late, it leaps to catch up.
    """
    if late <= PROMPT:
        within(shares, MEASURED)


def test_a_plan_is_certified_reported_and_written(cell):
    cell.progress["excitation"].clear()
    response = cell.answers.plan(**QUICK, output="plan.yaml", start_position=START)
    assert response.success, response.message
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
    assert cell.answers.plan(**QUICK, start_position=START).success
    cell.set_parameter("excitation", "speed", 0.2)
    count, late = len(cell.sent), len(cell.lateness)
    preview = cell.answers.preview()
    assert preview.success, preview.message
    assert len(cell.sent) == count
    asked = cell.now()
    status, shares = cell.run()
    assert status.state == Status.FINISHED, status.text
    measured_within(shares, late=max(cell.lateness[late:], default=0.0))
    approach, run = cell.sent[count:]
    told = [float(number) for number in re.findall(r"[\d.]+(?= s)", preview.message)]
    durations = [approach.trajectory.duration, run.trajectory.duration]
    np.testing.assert_allclose(told[:2], durations, atol=0.051)
    assert shares["velocity"] < 0.25
    np.testing.assert_allclose(approach.trajectory.positions[-1], START)
    assert stamp_of(approach.message) > asked
    assert stamp_of(run.message) > approach.end
    cell.set_parameter("excitation", "speed", 1.0)
    late = len(cell.lateness)
    status, shares = cell.run()
    assert status.state == Status.FINISHED, status.text
    measured_within(shares, late=max(cell.lateness[late:], default=0.0))
    assert len(cell.sent) == count + 3, "the robot stood at the start: no approach"


def test_stops_at_random_moments(cell):
    moments = np.random.default_rng(1)
    duration, certified = cell.planned.duration, cell.planned.braking_time
    stops = []
    while len(stops) < STOPS:
        stop = cell.stop_after(moments.uniform(0.05, 0.9) * duration, certified)
        if stop is None and cell.status.state == Status.FINISHED:
            continue  # a stalled machine has asked too late
        assert stop is not None, cell.status.text
        assert stop.state == Status.STOPPED
        assert cell.status.stop_reason == Status.REQUESTED
        assert stop.rest <= certified + stop.late
        within(stop.commanded)
        measured_within(stop.measured, stop.late)
        stops.append(stop)


def test_states_that_stop_coming_stop_the_motion(cell):
    assert cell.answers.start().success
    cell.wait_for(Status.RUNNING)
    cell.wait(lambda: cell.status.elapsed > 1.0, "motion")
    count = len(cell.sent)
    robot = cell.nodes.process("simulated_robot")
    robot.send_signal(signal.SIGSTOP)
    try:
        cell.wait(lambda: len(cell.sent) > count, "braking trajectory")
        cell.wait_for(Status.BRAKING, Status.FAULT)
        assert cell.status.stop_reason == Status.STATE_STALE
        # The robot may have been halted after it had sent a state here and before it sent it there.
        before, newest = map(stamp_of, cell.states[-2:])
    finally:
        robot.send_signal(signal.SIGCONT)
    braking = cell.sent[count]
    detected = stamp_of(braking.message)
    assert STALE_AFTER <= (detected - before) * 1e-9
    assert (detected - newest) * 1e-9 <= STALE_AFTER + 0.5
    assert (braking.clock - detected) * 1e-9 <= 0.1
    np.testing.assert_allclose(braking.trajectory.velocities[-1], 0.0)
    assert len(cell.sent) == count + 1
    cell.wait_for(Status.STOPPED, Status.FAULT)
    cell.wait(lambda: cell.now() - stamp_of(cell.states[-1]) < 50_000_000, "the robot's clock")


def test_a_second_plan_is_busy_and_a_start_too_until_it_is_cancelled(cell):
    request = PlanExcitation.Request(optimizer="all", starts=50)
    first = cell.begun.ask(request)
    cell.wait_for(Status.PLANNING)
    assert cell.answers.plan(**QUICK).error_code == CODES.BUSY
    assert cell.answers.start().message.startswith("BUSY")
    assert cell.answers.cancel("excitation").success
    cell.wait(first.done, "answer of the cancelled plan")
    assert first.result().error_code == CODES.CANCELLED
    assert not cell.answers.cancel("excitation").success


def test_a_node_that_was_killed_in_motion_commands_nothing(cell):
    assert cell.answers.plan(**QUICK).success
    assert cell.answers.start().success
    cell.wait_for(Status.RUNNING)
    cell.kill(signal.SIGKILL)
    count = len(cell.sent)
    cell.start_excitation()
    seen = len(cell.statuses)
    cell.wait(lambda: len(cell.statuses) > seen + 20, "twenty messages on ~/status")
    assert cell.status.state == Status.IDLE
    assert len(cell.sent) == count
    assert "no certified plan" in cell.answers.start().message


def test_a_robot_that_is_pushed_off_the_trajectory_is_stopped(cell):
    efforts = cell.client.node.create_publisher(JointState, "feedforward_effort", qos.COMMANDS)
    assert cell.answers.plan(**QUICK).success
    assert cell.answers.start().success
    cell.wait_for(Status.RUNNING)
    cell.wait(lambda: cell.status.state == Status.RUNNING and cell.status.elapsed > 1.0, "motion")
    efforts.publish(JointState(name=["joint_2"], effort=[2000.0]))
    status = cell.wait_for(Status.BRAKING, Status.STOPPED, Status.FAULT)
    assert status.stop_reason == Status.TRACKING_ERROR
    assert "joint_2" in status.text
    efforts.publish(JointState(name=["joint_2"], effort=[0.0]))
    cell.wait_for(Status.STOPPED, Status.FAULT)
