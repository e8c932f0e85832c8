"""Plans of the excitation node without a node: what a request that fails leaves as it was."""

import logging
from types import SimpleNamespace

import numpy as np
import pytest
from robot_identification.srv import PlanExcitation

from awaited import answer_of
from robot_identification.errors import MissingLimitError
from robot_identification.excitation.one_joint.plan import plan_one_joint
from robot_identification.excitation.one_joint.settings import OneJointSettings
from robot_identification.ros.common.jobs import JobSlot
from robot_identification.ros.common.parameters.declaration import NodeParameters
from robot_identification.ros.excitation.parameters import ExcitationParameters
from robot_identification.ros.messages.error_codes import CODES
from robot_identification.ros.planning import planner as planning
from robot_identification.ros.planning.planner import Planner
from robot_identification.ros.planning.planning import PlanningJob, Sources, load_machine
from robot_identification.ros.planning.worker import Planned

SOURCES = Sources("scara")


class Node:
    """Takes down what is published."""

    def __init__(self):
        self.published = []

    def get_fully_qualified_name(self):
        return "/excitation"

    def create_publisher(self, *_):
        return self

    def publish(self, message):
        self.published.append(message)


@pytest.fixture(scope="module")
def plans():
    machine = load_machine(SOURCES)
    return [
        Planned(plan_one_joint(machine.robot, OneJointSettings(seed=seed, start=np.zeros(2))))
        for seed in (0, 1)
    ]


def made(folder, **parts):
    """Return a planner for the SCARA, with parts that a test moves by hand."""
    robot = load_machine(SOURCES).robot
    values = ExcitationParameters("scara", output_directory=str(folder), planning_niceness=0)
    return Planner(
        Node(), robot, JobSlot(logging.getLogger()), NodeParameters.of(values),
        problem=lambda: "joint joint_2 is not there",
        kept=lambda: None, changed=lambda: None, **parts,
    )  # fmt: skip


@pytest.fixture
def planner(monkeypatch, tmp_path):
    monkeypatch.setattr(planning, "PlanningWorker", lambda _: None)
    markers = SimpleNamespace(picture=lambda *_: None, publish=lambda _: None)
    return made(tmp_path, arms=None, markers=markers, place=lambda: np.zeros(2))


@pytest.fixture
def late(monkeypatch, tmp_path):
    """Return a planner whose robot is not heard yet: `place` and `now` are moved by hand."""
    monkeypatch.setattr(planning, "PlanningWorker", lambda _: SimpleNamespace(submit=print))
    moved = SimpleNamespace(place=None, now=0.0)
    arms = SimpleNamespace(postures=tuple)
    moved.planner = made(
        tmp_path, arms=arms, markers=None, place=lambda: moved.place, clock=lambda: moved.now
    )
    return moved


def begin(planner):
    """Begin a plan from where the robot is; return its coroutine and its job."""
    job = planner._slot.take("plan")
    request, response = PlanExcitation.Request(), PlanExcitation.Response()
    course = planner.plan(request, response, job)
    course.send(None)
    return course, job


class TestThePlanOfARobotThatIsNotHeardYet:
    """A node that has just begun: services are found before the states of the driver come."""

    def test_begins_where_the_first_state_says(self, late):
        course, _ = begin(late.planner)
        late.now = 1.9
        late.planner.poll()
        assert late.planner.busy
        assert not late.planner._wait.over.done()
        late.place = np.array([0.1, 0.2])
        late.planner.poll()
        course.send(None)  # it is being computed now
        assert late.planner._wait is None
        assert late.planner.busy
        course.close()

    def test_is_refused_where_no_state_comes(self, late):
        course, _ = begin(late.planner)
        late.now = 2.0
        late.planner.poll()
        answer = answer_of(course)
        assert answer.error_code == CODES.STATE_STALE
        assert "start the driver: joint joint_2 is not there" in answer.message
        assert not late.planner.busy

    def test_ends_at_once_where_it_is_cancelled(self, late):
        course, _ = begin(late.planner)
        assert late.planner.cancel()
        late.planner.poll()
        assert answer_of(course).error_code == CODES.CANCELLED


def take(planner, planned, output=""):
    """Have a plan that was made taken, and return the answer to its request."""
    request, response = PlanExcitation.Request(output=str(output)), PlanExcitation.Response()
    job = PlanningJob(SOURCES, planned.plan.settings)
    return planner._slot.answer(
        "plan", response, lambda filled: planner._take(request, filled, job, planned)
    )


def test_a_plan_that_cannot_be_answered_for_takes_nobody_s_place(planner, plans, monkeypatch):
    assert take(planner, plans[0]).success
    sent = list(planner._node.published)

    def gone(_):
        raise MissingLimitError("joint_2", "acceleration")

    with monkeypatch.context() as patch:
        patch.setattr(planning, "load_machine", gone)
        answer = take(planner, plans[1])
    assert answer.error_code == CODES.LIMITS_MISSING
    assert planner.planned is plans[0]
    assert planner._node.published == sent
    assert take(planner, plans[1]).success
    assert planner.planned is plans[1]


def test_a_plan_that_cannot_be_written_takes_nobody_s_place(planner, plans, tmp_path):
    assert take(planner, plans[0], tmp_path / "plan.yaml").success
    answer = take(planner, plans[1], tmp_path / "nowhere" / "plan.yaml")
    assert answer.error_code == CODES.OUTPUT_FAILED
    assert planner.planned is plans[0]


@pytest.mark.parametrize("off", [0.02, -0.02])
def test_a_start_too_near_to_a_limit_is_refused_with_the_reserve_that_it_lacks(late, off):
    """Or beyond the limit; the robot need not be heard for that."""
    machine = load_machine(SOURCES)
    begin_at = [float(machine.declared.upper[0]) - off, 0.0]
    job = late.planner._slot.take("plan")
    request = PlanExcitation.Request(start_position=begin_at)
    answer = answer_of(late.planner.plan(request, PlanExcitation.Response(), job))
    assert answer.error_code == CODES.INVALID_REQUEST
    assert f"joint_1 is to begin at {begin_at[0]:.4g}" in answer.message
    assert "for tracking_error_limit and the rest to brake: begin below" in answer.message
    assert "joint_2" not in answer.message


def test_a_start_with_reserve_is_planned_from(late):
    job = late.planner._slot.take("plan")
    request = PlanExcitation.Request(start_position=[0.1, 0.2])
    course = late.planner.plan(request, PlanExcitation.Response(), job)
    course.send(None)
    assert late.planner.busy
    course.close()
