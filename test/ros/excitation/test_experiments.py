"""Which experiment a motion is at, and what is left of a plan; without ROS and without a clock."""

import numpy as np
import pytest

from robot_identification.errors import NothingInterruptedError
from robot_identification.excitation.one_joint.plan import plan_one_joint
from robot_identification.excitation.one_joint.settings import OneJointSettings
from robot_identification.ros.excitation.experiments import Course, experiment_count
from robot_identification.ros.planning.planning import PlanningJob, Sources, load_machine
from robot_identification.ros.planning.preparation import prepare
from robot_identification.ros.supervision.supervisor import MotionSupervisor, Phase

JOB = PlanningJob(Sources("scara"), OneJointSettings(start=np.zeros(2)))
SPEED = 0.5


@pytest.fixture(scope="module")
def plan():
    """Return a plan as the planning process makes it."""
    machine = load_machine(JOB.sources)
    return plan_one_joint(machine.robot, JOB.settings, surroundings=machine.surroundings)


def course(plan, reached, phase=Phase.STOPPED, since=None):
    """Return a motion that has come to a time on the clock of the plan."""
    origin = 0.0 if since is None else plan.schedule[since].begin
    motion = MotionSupervisor(None, None, None, plan.trajectory, phase=phase)
    motion.reached = (reached - origin) / SPEED
    return Course(plan, motion, SPEED, since)


@pytest.mark.parametrize("since", [None, 1])
def test_an_experiment_is_under_way_from_the_end_of_the_one_before(plan, since):
    for place, run in list(enumerate(plan.schedule))[1:]:
        for time in (plan.schedule[place - 1].end + 1e-3, run.begin + 0.1, run.end - 1e-3):
            at = course(plan, time, since=since)
            assert at.under_way == at.interrupted() == place
            assert at.number == place + 1
            assert f"~/continue goes on with experiment {place + 1} of" in at.text


def test_while_it_runs_the_text_says_what_moves(plan):
    run = plan.schedule[-1]
    text = course(plan, run.begin + 0.1, Phase.RUNNING).text
    assert f"{plan.joint_names[run.experiment.motion.moving]} moves" in text
    assert f"effort of {plan.joint_names[run.experiment.motion.measured]} is read" in text


def test_nothing_is_left_after_the_last_experiment(plan):
    over = course(plan, plan.schedule[-1].end + 1e-3)
    assert over.number == experiment_count(plan)
    for done in (over, course(plan, plan.trajectory.duration, Phase.FINISHED)):
        with pytest.raises(NothingInterruptedError, match="every experiment is done"):
            done.interrupted()


def test_what_is_left_is_certified_and_approached(plan):
    place = len(plan.schedule) - 2
    there = plan.schedule[place].experiment.posture
    whole = prepare(JOB, plan, np.zeros(2))
    assert whole.approach is None
    rest = prepare(JOB, plan, there + 0.3, since=place)
    np.testing.assert_allclose(rest.approach.positions[-1], there, atol=1e-9)
    np.testing.assert_allclose(rest.run.positions[0], there, atol=1e-9)
    np.testing.assert_allclose(rest.run.positions[-1], whole.run.positions[-1])
    left = plan.trajectory.duration - plan.schedule[place].begin
    assert rest.run.duration == pytest.approx(left)
