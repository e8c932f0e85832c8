"""Actions of the identification node: the same answers as the services, feedback, cancel."""

import time
import uuid

import numpy as np
import pytest
from rclpy.action.server import ActionServer, GoalResponse, RCLError
from robot_identification.action import Identify, IdentifyDidim
from robot_identification.srv import BaseParameters
from robot_identification.srv import Identify as IdentifyService

from action_goals import ABORTED, CANCELED, SUCCEEDED, Goals
from live_nodes import ROBOT, states
from long_work import many_bags
from robot_identification.ros.common.actions import JobAction
from robot_identification.ros.common.jobs import JobSlot
from robot_identification.ros.messages.error_codes import CODES
from ros_nodes import node
from simulated_experiments import write_without_positions

pytestmark = pytest.mark.ros

IDENTIFY, DIDIM = "identification/identify", "identification/didim"
RATE, NOISE = 200.0, (0.05, 0.01)
CANCELS = 3
UNTIL_CANCELLED = 3000  # times the same motion: nobody waits for the end
FLOOD = 20


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
    return write_without_positions(tmp_path_factory.mktemp("bags") / "bag", RATE, NOISE)


@pytest.fixture(scope="module")
def bags(bag):
    """Four such bags, each with noise of its own."""
    others = (
        write_without_positions(bag.with_name(f"bag_{seed}"), RATE, NOISE, seed)
        for seed in (1, 2, 3)
    )
    return [bag, *others]


def asking(recording, times=1):
    """Return a goal that takes the longer, the more often it names the same motion."""
    goal = Identify.Goal()
    goal.data.recordings, goal.data.bags = [recording], many_bags(times - 1)
    return goal


def endless(bags):
    """Return a goal that goes on until it is cancelled."""
    goal = IdentifyDidim.Goal(
        max_iterations=1000, tolerance_error=1e-300, tolerance_parameters=1e-300
    )
    goal.data.bags = [str(bag) for bag in bags]
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
    # Feedback that a quick end overtakes is dropped by rclpy; what comes is in order.
    stages = list(dict.fromkeys(told.progress.stage for told in goal.feedback))
    assert stages[0] == "reading"
    fractions = [told.progress.fraction for told in goal.feedback]
    assert all(0.0 <= fraction <= 1.0 for fraction in fractions)


def test_a_goal_of_didim_tells_the_torque_error_of_every_iteration(suite, goals, bag):
    asked = IdentifyDidim.Goal()
    asked.data.bags = [str(bag)]
    goal = goals.send(IdentifyDidim, DIDIM, asked)
    result = goal.wait()
    assert goal.status == SUCCEEDED, result.message
    iterations = [one.progress for one in goal.feedback if len(one.progress.relative_error)]
    told = {one.iteration: one for one in iterations}
    history = result.result.error_history
    assert len(history) >= 3
    assert len(told) >= len(history) - 1, "the last one may be overtaken by the end"
    for number, one in told.items():
        assert one.relative_error_total == pytest.approx(history[number])
        assert len(one.relative_error) == len(ROBOT.joint_names)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"method": "guess"}, CODES.INVALID_REQUEST),
        ({"output": "/"}, CODES.OUTPUT_FAILED),
    ],
)
def test_what_cannot_be_done_is_aborted_with_the_reason(suite, goals, recording, fields, code):
    suite.identify(recording)
    before = repr(suite.latched())
    goal = goals.send(Identify, IDENTIFY, Identify.Goal(**fields))
    result = goal.wait()
    assert (goal.status, result.success, result.error_code) == (ABORTED, False, code)
    assert result.message
    assert repr(suite.latched()) == before


def test_an_aborted_goal_of_didim_holds_what_was_reached(goals, bag):
    asked = IdentifyDidim.Goal(max_iterations=1)
    asked.data.bags = [str(bag)]
    goal = goals.send(IdentifyDidim, DIDIM, asked)
    result = goal.wait()
    assert (goal.status, result.error_code) == (ABORTED, CODES.NOT_CONVERGED)
    assert len(result.result.error_history) == 2


def test_services_and_goals_keep_each_other_out_and_short_queries_go_on(suite, goals, bags):
    goal = goals.send(IdentifyDidim, DIDIM, endless(bags))
    suite.wait(lambda: any(told.progress.iteration for told in goal.feedback), "first iteration")
    assert suite.verbs.answers.ask(BaseParameters.Request()).success
    assert not goals.send(IdentifyDidim, DIDIM, endless(bags)).accepted
    assert not goals.send(Identify, IDENTIFY).accepted
    busy = suite.verbs.answers.ask(IdentifyService.Request())
    assert busy.error_code == CODES.BUSY
    assert "didim is under way" in busy.message
    assert goal.result is None
    assert suite.verbs.cancel("identification").success
    result = goal.wait()
    assert (goal.status, result.error_code) == (ABORTED, CODES.CANCELLED), "nobody cancelled it"
    assert "rejected, BUSY: didim is under way" in suite.processes.output("identification")


def test_a_goal_is_rejected_while_a_service_works(suite, goals, recording):
    request = IdentifyService.Request(data=asking(recording, UNTIL_CANCELLED).data)
    answer = suite.begin(request)
    rejected = goals.send(Identify, IDENTIFY, asking(recording))
    assert not answer.done()
    assert not rejected.accepted
    assert suite.verbs.cancel("identification").success
    suite.wait(answer.done, "answer of what was cancelled")
    assert answer.result().error_code == CODES.CANCELLED
    assert goals.send(Identify, IDENTIFY, asking(recording)).wait().success, "not queued, but free"


@pytest.mark.parametrize("work", ["identify", "didim"])
def test_long_work_that_is_cancelled_at_random_times_ends_canceled(
    suite, goals, recording, bags, work
):
    good = goals.send(Identify, IDENTIFY, asking(recording)).wait()
    long = {
        "identify": (Identify, IDENTIFY, asking(recording, UNTIL_CANCELLED)),
        "didim": (IdentifyDidim, DIDIM, endless(bags)),
    }
    for moment in np.random.default_rng(9).uniform(0.0, 0.5, CANCELS):
        goal = goals.send(*long[work])
        suite.client.spin(moment)
        assert goal.cancel()
        assert goal.wait().error_code == CODES.CANCELLED
        assert goal.status == CANCELED
    again = goals.send(Identify, IDENTIFY, asking(recording)).wait()
    assert values(again.result) == values(good.result)


def test_work_that_is_cancelled_about_when_it_ends_is_canceled_or_done(suite, goals, recording):
    good = goals.send(Identify, IDENTIFY, asking(recording)).wait()
    started = time.monotonic()
    assert goals.send(Identify, IDENTIFY, asking(recording, 8)).wait().success
    whole = time.monotonic() - started
    for moment in np.random.default_rng(8).uniform(0.0, 1.2 * whole, CANCELS):
        goal = goals.send(Identify, IDENTIFY, asking(recording, 8))
        suite.client.spin(moment)
        agreed = goal.cancel()
        end = (goal.wait().error_code, goal.status)
        assert end in {(CODES.OK, SUCCEEDED), (CODES.CANCELLED, CANCELED)}
        assert agreed or end == (CODES.OK, SUCCEEDED)
    again = goals.send(Identify, IDENTIFY, asking(recording)).wait()
    assert values(again.result) == values(good.result)


def test_of_many_goals_at_once_one_is_accepted_and_none_waits(suite, goals, recording):
    goals.wait_for_action(Identify, IDENTIFY)
    client = goals._action(Identify, IDENTIFY)
    goal = asking(recording, UNTIL_CANCELLED)
    answers = [client.send_goal_async(goal) for _ in range(FLOOD)]
    suite.wait(lambda: all(answer.done() for answer in answers), "all answers")
    (accepted,) = (answer.result() for answer in answers if answer.result().accepted)
    end = accepted.get_result_async()
    accepted.cancel_goal_async()
    suite.wait(end.done, "result")
    assert end.result().status == CANCELED
    assert goals.send(Identify, IDENTIFY, asking(recording)).wait().success


def test_a_client_that_goes_away_before_it_is_answered_leaves_the_desk_free(monkeypatch):
    async def gone(server, _request):
        assert server._goal_callback(Identify.Goal()) == GoalResponse.ACCEPT
        assert slot.busy
        raise RCLError("failed to send the response")

    monkeypatch.setattr(ActionServer, "_execute_goal_request", gone)
    with node(name="actions", namespace=f"/a{uuid.uuid4().hex[:8]}") as made:
        slot = JobSlot(made.get_logger())
        action = JobAction(made, Identify, "x", slot=slot, work="work", perform=lambda *_: None)
        with pytest.raises(StopIteration):  # the node lives
            action._server.execute({"goal": None}).send(None)
        assert not slot.busy
        action.destroy()
