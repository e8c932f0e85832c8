"""Actions of the identification node: the same answers as the services, feedback, cancel."""

import time

import numpy as np
import pytest
from robot_identification.action import Identify, IdentifyDidim
from robot_identification.srv import BaseParameters
from robot_identification.srv import Identify as IdentifyService
from std_srvs.srv import Trigger

from live_nodes import ROBOT, states
from robot_identification.nodes.goals import ABORTED, CANCELED, SUCCEEDED, Goals
from robot_identification.nodes.services import CODES
from robot_identification.signals.recording import RawSamples
from robot_identification.storage.bag_writing import write_joint_states
from simulated_experiments import raw_samples, simulated

pytestmark = pytest.mark.ros

IDENTIFY, DIDIM = "identification/identify", "identification/didim"
RATE = 200.0
CANCELS = 10


@pytest.fixture(scope="module")
def goals(suite):
    with Goals(suite.client) as goals:
        yield goals


@pytest.fixture(scope="module")
def recording(suite):
    return suite.record(states())[0].recording


@pytest.fixture(scope="module")
def bag(tmp_path_factory):
    """Efforts and reference of a minute."""
    raw = raw_samples("scara", "scara", RATE, (0.05, 0.01), positions=False)
    _, trajectory = simulated("scara", "scara", RATE)
    reference = trajectory.sample((raw.stamps - raw.stamps[0]) * 1e-9)[0]
    path = tmp_path_factory.mktemp("bags") / "bag"
    samples = RawSamples(raw.stamps, raw.position, None, raw.effort, reference)
    write_joint_states(path, ROBOT.joint_names, samples)
    return path


def asking(recording, times=1):
    """Return a goal that takes the longer, the more often it names a recording."""
    goal = Identify.Goal()
    goal.data.recordings = [recording] * times
    return goal


def endless(bag):
    """Return a goal that goes on until it is cancelled."""
    goal = IdentifyDidim.Goal(
        max_iterations=1000, tolerance_error=1e-300, tolerance_parameters=1e-300
    )
    goal.data.bags = [str(bag)] * 4
    return goal


def values(result):
    return [(one.name, one.value, one.std) for one in result.parameters]


def test_a_goal_gives_what_the_service_gives_and_latches_it(suite, goals, recording):
    answered = suite.identify(recording)
    goal = goals.send(Identify, IDENTIFY, asking(recording))
    assert goal.accepted
    result = goal.wait()
    assert (goal.status, result.success, result.error_code) == (SUCCEEDED, True, CODES.OK)
    assert values(result.result) == values(answered.result)
    assert result.message.partition(" in ")[0]
    assert repr(suite.latched()) == repr(result.result)
    suite.wait(lambda: goal.feedback[-1].progress.fraction == 1.0, "end of the feedback")
    stages = list(dict.fromkeys(told.progress.stage for told in goal.feedback))
    assert len(stages) >= 3
    assert stages[0] == "reading"
