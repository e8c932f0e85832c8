import inspect
import threading

import pytest
from rclpy.logging import get_logger
from robot_identification.srv import Identify

from robot_identification import errors
from robot_identification.ros.common.jobs import JobSlot
from robot_identification.ros.messages.error_codes import (
    CODES,
    ERROR_CODES,
    error_code,
)

CLASSES = [
    value
    for _, value in inspect.getmembers(errors, inspect.isclass)
    if issubclass(value, errors.RobotIdentificationError)
]


@pytest.fixture
def slot():
    return JobSlot(get_logger("test"))


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_error_has_a_code(kind):
    assert kind in ERROR_CODES
    assert ERROR_CODES[kind] != CODES.OK


def test_an_error_that_is_not_in_the_table_gets_the_code_of_its_base():
    class NewError(errors.TopicError):
        pass

    assert error_code(NewError("bag", "/t", [])) == CODES.BAG_UNREADABLE


def test_success_is_filled(slot):
    def work(response, _):
        response.result.robot = "r"
        return "done"

    response = slot.run("work", Identify.Response(), work)
    assert (response.success, response.error_code, response.message) == (True, CODES.OK, "done")
    assert response.result.robot == "r"


def test_a_failure_leaves_nothing_half_filled(slot):
    def work(response, _):
        response.result.robot = "r"
        raise errors.SettingError("x", 1, "too much")

    response = slot.run("work", Identify.Response(), work)
    assert (response.success, response.error_code) == (False, CODES.INVALID_REQUEST)
    assert response.message == "x = 1: too much"
    assert response.result.robot == ""


def test_a_fault_becomes_internal_and_frees_the_desk(slot):
    response = slot.run("work", Identify.Response(), lambda *_: 1 / 0)
    assert response.error_code == CODES.INTERNAL
    assert "ZeroDivisionError" in response.message
    assert slot.run("work", Identify.Response(), lambda *_: "fine").success


def test_a_second_request_is_busy_and_cancel_reaches_the_first(slot):
    running, answers = threading.Event(), []

    def work(_, job):
        running.set()
        while not job.cancelled():
            pass
        raise errors.CancelledError("stopped")

    thread = threading.Thread(
        target=lambda: answers.append(slot.run("long", Identify.Response(), work))
    )
    assert slot.cancel() == ""
    thread.start()
    running.wait(5)
    busy = slot.run("other", Identify.Response(), lambda *_: "never")
    assert (busy.success, busy.error_code) == (False, CODES.BUSY)
    assert "long is under way" in busy.message
    assert slot.cancel() == "long"
    thread.join(5)
    assert answers[0].error_code == CODES.CANCELLED
    assert slot.run("again", Identify.Response(), lambda *_: "fine").success
