"""What the acquisition node says of efforts on a topic of their own, which are sent by hand."""

import logging
from types import SimpleNamespace

import pytest
from sensor_msgs.msg import JointState

from diagnostics import values_of
from live_nodes import BEGIN, ROBOT
from robot_identification.ros.acquisition import efforts as module
from robot_identification.ros.acquisition.efforts import JOINT_STATE_TYPE, SeparateEfforts
from robot_identification.ros.common.diagnostics import ERROR, OK, STALE
from robot_identification.ros.messages.common import time_of
from robot_identification.signals.efforts.separate import EffortSource

PERIOD = 10_000_000


class Bench:
    """A node, and what it hears."""

    def __init__(self, monkeypatch):
        monkeypatch.setattr(module, "DriverSubscription", self.subscribed)
        source = EffortSource("efforts", 0.001)
        self.efforts = SeparateEfforts(self, ROBOT, source, JOINT_STATE_TYPE, lambda _: None)

    def subscribed(self, _node, _kind, topic, _callback):
        nothing = {"lost": 0, "incompatible": "", "listen_to_lossy_publishers": lambda: None}
        return SimpleNamespace(topic=f"/arm/{topic}", **nothing)

    def get_name(self):
        return "acquisition"

    def get_namespace(self):
        return "/arm"

    def get_fully_qualified_name(self):
        return "/arm/acquisition"

    def get_logger(self):
        return logging.getLogger()

    def tell(self, *stamps):
        """Send an effort for each stamp in ns."""
        for stamp in stamps:
            message = JointState(name=list(ROBOT.joint_names), effort=[1.0, 2.0])
            message.header.stamp = time_of(stamp)
            self.efforts.add(message, 0, keep=True)


@pytest.fixture
def bench(monkeypatch):
    return Bench(monkeypatch)


def stamps(first, count=30):
    return [int(first + PERIOD * k) for k in range(count)]


def test_efforts_that_come_with_the_states_are_received(bench):
    bench.tell(*stamps(BEGIN))
    status = bench.efforts.status(BEGIN + 31 * PERIOD)
    assert (status.level, status.message) == (OK, "receiving")
    assert float(values_of(status)["newest_behind_states_s"]) == pytest.approx(0.02)


@pytest.mark.parametrize(("stamp", "told"), [(0, "carry no stamps"), (BEGIN, "do not rise")])
def test_efforts_without_stamps_that_rise_are_an_error(bench, stamp, told):
    bench.tell(*[stamp] * 30)
    status = bench.efforts.status(BEGIN)
    assert status.level == ERROR
    assert "/arm/efforts" in status.message
    assert told in status.message


@pytest.mark.parametrize(("ahead", "told"), [(-1e9, "before"), (60.0, "after")])
def test_efforts_of_another_clock_than_the_states_are_an_error(bench, ahead, told):
    bench.tell(*stamps(BEGIN + ahead * 1e9))
    status = bench.efforts.status(BEGIN + 29 * PERIOD)
    assert status.level == ERROR
    assert f"stamped {abs(ahead):.3f} s {told} the joint states" in status.message


def test_efforts_without_states_have_no_other_clock(bench):
    for second in range(0, 60, 20):
        bench.tell(*stamps(BEGIN + second * 1_000_000_000))
        status = bench.efforts.status(BEGIN)
    assert status.level != ERROR
    assert bench.efforts.status(BEGIN).level == STALE
    assert bench.efforts.status(None).level == STALE
