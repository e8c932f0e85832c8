"""Clients that ask at the wrong time, too often, or change their mind."""

import time

import numpy as np
import pytest
from robot_identification.srv import BaseParameters, Identify, Validate
from std_srvs.srv import Trigger

from faults.driver import SAMPLES
from long_work import many_bags
from robot_identification import msg
from robot_identification.ros.clients.client import Client
from robot_identification.ros.clients.verbs import Verbs
from robot_identification.ros.messages.error_codes import CODES

pytestmark = pytest.mark.ros

CANCELS = 6
UNTIL_CANCELLED = 3000  # times the same motion: nobody waits for the end
FLOOD = 200


def asking(recording, times=1, **fields):
    data = msg.DataSelection(recordings=[recording], bags=many_bags(times - 1))
    return Identify.Request(data=data, **fields)


def usable(faulty, recording):
    response = faulty.identify(recording)
    return response.success and list(response.result.parameters)


def set_parameter(faulty, name, value):
    return faulty.verbs.answers.set_parameter("identification", name, value)


def begun(faulty, recording, times):
    """Return the future of a request that takes a while and has begun."""
    return faulty.begin(asking(recording, times))


def test_the_second_of_two_clients_is_told_at_once_and_harms_nothing(faulty, recording):
    faulty.client.wait_for_service(Trigger, "identification/cancel")
    with Client(faulty.namespace) as other:
        verbs = Verbs(other).answers
        verbs.require("identification")
        first = begun(faulty, recording, UNTIL_CANCELLED)
        answers = [
            verbs.ask(asking(recording)),
            verbs.ask(Validate.Request()),
        ]
        assert {answer.error_code for answer in answers} == {CODES.BUSY}
        assert not first.done()
        assert verbs.cancel("identification").success
    faulty.wait(first.done, "answer of the first")
    assert first.result().error_code == CODES.CANCELLED
    assert usable(faulty, recording)


def test_cancels_at_random_moments_of_long_work_end_it(faulty, recording):
    good = usable(faulty, recording)
    for moment in np.random.default_rng(4).uniform(0.0, 0.3, CANCELS):
        future = begun(faulty, recording, UNTIL_CANCELLED)
        faulty.client.spin(moment)
        faulty.wait(lambda: faulty.verbs.answers.cancel("identification").success, "cancel")
        faulty.wait(future.done, "answer")
        assert future.result().error_code == CODES.CANCELLED
    assert usable(faulty, recording) == good


def test_cancels_about_when_the_work_ends_leave_an_answer(faulty, recording):
    good = usable(faulty, recording)
    request = asking(recording, 5)
    started = time.monotonic()
    assert faulty.verbs.answers.ask(request).success
    whole = time.monotonic() - started
    for moment in np.random.default_rng(5).uniform(0.0, 1.2 * whole, CANCELS):
        future = faulty.verbs.begun.ask(request)
        faulty.client.spin(moment)
        faulty.verbs.answers.cancel("identification")
        faulty.wait(future.done, "answer")
        assert future.result().error_code in {CODES.OK, CODES.CANCELLED}
    assert usable(faulty, recording) == good


def test_a_flood_of_requests_is_answered_to_the_last(faulty, recording):
    kinds = (
        (Identify, "identify", asking(recording)),
        (BaseParameters, "base_parameters", None),
        (Trigger, "cancel", None),
        (Validate, "validate", Validate.Request(data=msg.DataSelection(recordings=[recording]))),
    )
    futures = [
        faulty.client.begin(kind, f"identification/{name}", request)
        for _ in range(FLOOD // len(kinds))
        for kind, name, request in kinds
    ]
    assert len(futures) == FLOOD
    faulty.wait(lambda: all(future.done() for future in futures), "all answers")
    codes = {getattr(future.result(), "error_code", CODES.OK) for future in futures}
    assert codes <= {CODES.OK, CODES.BUSY, CODES.CANCELLED}
    assert usable(faulty, recording)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("robot", "tx40", "read-only"),
        ("good_enough_std", -1.0, "good_enough_std"),
        ("good_enough_std", "much", "good_enough_std"),
        ("didim_max_iterations", 0, "didim_max_iterations"),
    ],
)
def test_a_parameter_that_cannot_change_is_refused_with_the_reason(
    faulty, recording, name, value, reason
):
    running = begun(faulty, recording, UNTIL_CANCELLED)
    answer = set_parameter(faulty, name, value)
    assert not answer.successful
    assert reason in answer.reason
    faulty.verbs.answers.cancel("identification")
    faulty.wait(running.done, "answer")
    assert usable(faulty, recording)


@pytest.mark.parametrize(
    ("name", "value", "default", "seen"),
    [
        ("good_enough_std", 10.0, 0.1, lambda result: result.good_enough),
        ("velocity_threshold_window", 0.0, -1.0, lambda result: list(result.parameters)),
    ],
)
def test_a_parameter_that_changes_holds_from_the_next_request_on(
    faulty, recording, name, value, default, seen
):
    asked = asking(recording)  # both parameters hold for live recordings alone
    answers = []
    try:
        for change in (None, value, None):
            running = faulty.begin(asked)
            if change is not None:
                answer = set_parameter(faulty, name, change)
                assert answer.successful, answer.reason
                while running.done():  # too late: a busy machine has served the node before us
                    assert set_parameter(faulty, name, default).successful
                    running = faulty.begin(asked)
                    assert set_parameter(faulty, name, change).successful
            faulty.wait(running.done, "answer")
            assert running.result().success, running.result().message
            answers.append(seen(running.result().result))
    finally:
        assert set_parameter(faulty, name, default).successful
    before, during, after = answers
    assert during == before
    assert after != before


def test_a_flood_of_starts_and_stops_leaves_no_recording_open(faulty):
    names = ("start", "stop", "clear", "stop")
    futures = [faulty.client.begin(Trigger, f"acquisition/{names[i % 4]}") for i in range(FLOOD)]
    faulty.wait(lambda: all(future.done() for future in futures), "all answers")
    faulty.verbs.answers.stop_recording()
    assert "no recording" in faulty.verbs.answers.stop_recording().message
    (last,), _ = faulty.record_with()
    assert last.received == SAMPLES
