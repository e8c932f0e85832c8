"""How a motion is followed to its end, with a transport that the test moves."""

import signal
from types import SimpleNamespace

import pytest
from robot_identification.msg import ExcitationStatus as Status

from robot_identification.ros.clients import motion
from robot_identification.ros.clients.client import ClientTimeoutError, NodeGoneError
from robot_identification.ros.clients.motion import OtherSpeedError, follow

MOVING = Status(state=Status.RUNNING, elapsed=1.0, duration=4.0)
FINISHED = Status(state=Status.FINISHED, text="at rest at the end")
PLANNING = Status(state=Status.PLANNING, text="a plan is being computed")
FRESH = Status(state=Status.IDLE, text="waits for ~/plan")


class Node:
    """Says one portion of statuses after another, one each second, and then the last for ever."""

    def __init__(self, *portions):
        self.portions, self.now, self.asked = list(portions), 0.0, []
        self.statuses, self.interrupted = [], None
        self.answers = SimpleNamespace(stop=self.stop)

    @property
    def status(self):
        return self.statuses[-1]

    def wait_for_brake(self):
        pass

    def start(self):
        self.asked.append("start")

    def stop(self):
        self.asked.append("stop")
        if self.interrupted is not None:
            self.interrupted()
        return SimpleNamespace(message="nothing moves")

    def next_status(self):
        self.statuses.clear()
        self.wait(lambda: self.statuses, "status")
        return self.status

    def wait(self, condition, what, timeout=30.0):
        end = self.now + timeout
        while not condition():
            if self.now > end or self.now > 100.0:
                raise ClientTimeoutError(f"no {what}")
            self.now += 1.0
            told = self.portions.pop(0) if len(self.portions) > 1 else self.portions[0]
            self.statuses += told


@pytest.fixture
def following(monkeypatch):
    def follow_with(*portions):
        node = Node(*portions)
        monkeypatch.setattr(motion.time, "monotonic", lambda: node.now)
        return node, lambda: follow(node)

    return follow_with


def test_the_end_counts_although_another_plan_is_begun_at_once(following):
    _, followed = following([MOVING], [MOVING, FINISHED, PLANNING], [PLANNING])
    assert followed() is FINISHED


def test_what_was_said_before_the_start_is_not_the_end(following):
    _, followed = following([FINISHED], [MOVING], [FINISHED])
    assert followed() is FINISHED


def test_what_was_said_before_the_start_may_come_late(following):
    """As where this process has stood still for some seconds."""
    before = Status(state=Status.PLANNED, text="waits for ~/start")
    _, followed = following(*[[before]] * 8, [MOVING], [FINISHED])
    assert followed() is FINISHED


def test_a_robot_that_moves_at_another_speed_than_was_agreed_to_is_braked(following):
    """Two clients set the parameter speed: the one that starts must not go at that of the other."""
    slow, quick = (Status(state=Status.APPROACHING, speed=speed) for speed in (0.2, 1.0))
    stopped = Status(state=Status.STOPPED, text="stop requested")
    node, _ = following([quick], [quick], [stopped])
    with pytest.raises(OtherSpeedError, match=r"at 100 % .* in place of 20 %.*stop requested"):
        follow(node, speed=0.2)
    assert node.asked == ["start", "stop"]
    node, _ = following([slow], [FINISHED])
    assert follow(node, speed=0.2) is FINISHED
    assert node.asked == ["start"]


@pytest.mark.parametrize("before", [[[MOVING]], []], ids=["moving", "at once"])
def test_a_node_that_has_started_anew_does_not_watch_the_robot(following, before):
    node, followed = following(*before, [FRESH])
    with pytest.raises(NodeGoneError, match=r"knows of no motion .*waits for ~/plan.*emergency"):
        followed()
    assert node.asked == ["start", "stop"]


@pytest.mark.parametrize(
    ("last", "became"),
    [
        (MOVING, "the controller goes on with the trajectory that it has"),
        (
            Status(state=Status.BRAKING, text="the node ends"),
            r"was braking the robot \(the node ends\), and nobody has seen it at rest",
        ),
    ],
    ids=["killed", "ended"],
)
def test_of_a_node_that_has_gone_it_is_told_what_it_did_last(following, last, became):
    _, followed = following([MOVING], [last], [])
    with pytest.raises(NodeGoneError, match=f"has said nothing for 5 s, and {became}"):
        followed()


def test_an_interruption_of_braking_does_not_keep_the_robot_from_it(following):
    """The node says nothing for some seconds, and the operator presses Ctrl-C just then."""
    node, followed = following([MOVING], [])
    node.interrupted = lambda: signal.raise_signal(signal.SIGINT)
    with pytest.raises(NodeGoneError, match="has said nothing"):
        followed()
    assert node.asked == ["start", "stop"]
