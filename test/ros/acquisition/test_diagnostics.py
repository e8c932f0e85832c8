"""What the acquisition node says of its joint states, with reports that are made by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus

from diagnostics import values_of
from node_loggers import NodeLogger
from robot_identification.ros.acquisition.diagnostics import Diagnostics
from robot_identification.signals.positions.held_joints import HeldJoints

REASON = "effort of joint joint_2 is nan"


class Node:
    """A node whose warnings are kept."""

    def __init__(self):
        self.logger = NodeLogger()

    def get_logger(self):
        return self.logger

    def get_fully_qualified_name(self):
        return "/arm/acquisition"


class Reporter:
    """Diagnostics, the driver's joint states and the reports."""

    def __init__(self):
        self.node = Node()
        self.driver = SimpleNamespace(lost=0, incompatible="")
        self.held = HeldJoints({"finger": 0.0})
        self.diagnostics = Diagnostics(self.node, "arm", self.driver, self.held)
        self.stamp = 0

    def good(self, step=10_000_000):
        self.stamp += step
        self.diagnostics.count()
        position = np.full(2, float(self.stamp))
        self.diagnostics.observe(
            SimpleNamespace(stamp=self.stamp, position=position, effort=position)
        )

    def bad(self):
        self.diagnostics.count()
        self.diagnostics.refuse(REASON)

    def report(self, recorder=None):
        return self.diagnostics.report(recorder)


@pytest.fixture
def reporter():
    return Reporter()


def test_states_refused_since_the_last_report_are_an_error_with_the_reason(reporter):
    reporter.good()
    reporter.bad()
    reporter.bad()
    status = reporter.report()
    assert status.level == DiagnosticStatus.ERROR
    assert status.message == f"2 joint states refused: {REASON}"
    assert REASON in reporter.node.logger.told[0]


def test_what_was_refused_before_is_counted_on_but_no_error_any_more(reporter):
    reporter.bad()
    reporter.report()
    reporter.good()
    status = reporter.report()
    assert (status.level, status.message) == (DiagnosticStatus.OK, "receiving")
    values = values_of(status)
    assert (values["messages_received"], values["messages_refused"]) == ("2", "1")
    assert values["last_refusal"] == REASON


def test_a_driver_that_says_nothing_is_stale(reporter):
    assert reporter.report().level == DiagnosticStatus.STALE
    reporter.good()
    assert reporter.report().level == DiagnosticStatus.OK
    assert reporter.report().message == "no joint states arrive"


@pytest.mark.parametrize(
    ("first", "told"),
    [(10_000_000, "stamps of the joint states do not rise"), (0, "joint states carry no stamps")],
)
def test_stamps_that_do_not_rise_are_stale(reporter, first, told):
    reporter.good(first)
    for _ in range(10):
        reporter.good(step=0)
    status = reporter.report()
    assert status.level == DiagnosticStatus.STALE
    assert told in status.message


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (lambda reporter: reporter.diagnostics.set_back(), "the clock of the joint states was set"),
        (lambda reporter: setattr(reporter.driver, "lost", 3), "joint states are being lost"),
    ],
)
def test_a_clock_set_back_and_losses_are_warnings_once(reporter, event, reason):
    reporter.good()
    event(reporter)
    status = reporter.report()
    assert status.level == DiagnosticStatus.WARN
    assert status.message.startswith(reason)
    reporter.good()
    assert reporter.report().level == DiagnosticStatus.OK


def test_a_driver_that_offers_what_nobody_can_take_is_an_error(reporter):
    reporter.driver.incompatible = "the driver offers no durability"
    reporter.good()
    status = reporter.report()
    assert (status.level, status.message) == (
        DiagnosticStatus.ERROR,
        "the driver offers no durability",
    )


def test_a_gripper_that_moves_while_a_recording_runs_is_a_warning(reporter):
    recorder = SimpleNamespace(recording="one", counts=SimpleNamespace())
    reporter.held.add("finger", 0.0, 0.03)
    reporter.good()
    assert reporter.report().level == DiagnosticStatus.OK
    reporter.good()
    status = reporter.report(recorder)
    assert status.level == DiagnosticStatus.WARN
    assert "finger moved from 0 to 0.03" in status.message
