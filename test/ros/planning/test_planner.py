"""Plans of the excitation node without a node: what a request that fails leaves as it was."""

import logging
from types import SimpleNamespace

import numpy as np
import pytest
from robot_identification.srv import PlanExcitation

from robot_identification.errors import MissingLimitError
from robot_identification.excitation.plan import PlanSettings, plan
from robot_identification.excitation.search.points import PointSettings
from robot_identification.ros.common.jobs import JobSlot
from robot_identification.ros.common.parameters import NodeParameters
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
        Planned(
            plan(
                machine.robot,
                PlanSettings(
                    rows=8,
                    duration=3.0,
                    points=PointSettings(starts=1, seed=seed),
                    start=np.zeros(2),
                ),
            )
        )
        for seed in (0, 1)
    ]


@pytest.fixture
def planner(monkeypatch, tmp_path):
    monkeypatch.setattr(planning, "PlanningWorker", lambda _: None)
    robot = load_machine(SOURCES).robot
    values = ExcitationParameters("scara", output_directory=str(tmp_path), planning_niceness=0)
    return Planner(
        Node(), robot, JobSlot(logging.getLogger()), NodeParameters.of(values),
        arms=None, markers=SimpleNamespace(picture=lambda *_: None, publish=lambda _: None),
        place=lambda: np.zeros(2), kept=lambda: None, changed=lambda: None,
    )  # fmt: skip


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
