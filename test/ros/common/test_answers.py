"""Responses that a client cannot be given yet are sent again."""

import warnings
from types import SimpleNamespace

import pytest
import rclpy.service
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_srvs.srv import Trigger

from robot_identification.ros.common import answers
from robot_identification.ros.common.answers import KeptAnswers
from robot_identification.ros.common.executors import NodeExecutor, PooledExecutor
from robot_identification.ros.lifecycle.services import Answer, LaterService
from ros_nodes import node

pytestmark = pytest.mark.ros
LOST = "failed to send response (timeout): client will not receive response"
BARE = {"enable_rosout": False, "start_parameter_services": False}


class Clock:
    """A node whose timers run when the test says so."""

    def __init__(self, services):
        self.services, self.timers, self.told = services, [], []

    def resolve_service_name(self, name):
        return name

    def create_timer(self, seconds, callback, *_):
        self.timers.append((seconds, callback))
        return SimpleNamespace(cancel=lambda: None)

    def destroy_timer(self, _):
        pass

    def get_logger(self):
        return SimpleNamespace(warning=self.told.append)

    def next(self):
        """Run the timer that is due next, and return after which time in s."""
        seconds, callback = self.timers.pop(0)
        callback()
        return seconds


class Unmatched:
    """A service whose client is found after some attempts to answer it."""

    srv_name = "/identify"

    def __init__(self, attempts, error=None):
        self.attempts, self.error, self.arrived = attempts, error, []

    def send_response(self, response, header):
        self.attempts -= 1
        if self.attempts >= 0:
            warnings.warn(LOST, RuntimeWarning, stacklevel=1)
        elif self.error:
            raise self.error
        else:
            self.arrived.append((response, header))


def kept(attempts, error=None):
    service = Unmatched(attempts, error)
    node = Clock([service])
    KeptAnswers(node)
    service.send_response("done", 7)
    return node, service


def test_an_answer_that_arrives_is_sent_once():
    node, service = kept(0)
    assert service.arrived == [("done", 7)]
    assert not node.timers


def test_an_answer_is_sent_until_its_client_is_found():
    node, service = kept(3)
    waited = [node.next() for _ in range(3)]
    assert service.arrived == [("done", 7)]
    assert waited == sorted(waited)
    assert not node.timers


def test_a_client_that_is_never_found_is_given_up_and_told():
    node, service = kept(100)
    waited = 0.0
    while node.timers:
        waited += node.next()
    assert 5.0 < waited < 60.0
    assert not service.arrived
    assert node.told == [
        "/identify: the client of a request cannot be reached; its response is lost"
    ]


@pytest.mark.parametrize("gone", answers._GONE)
def test_an_answer_of_a_service_that_is_no_more_is_let_be(gone):
    node, _ = kept(1, gone("destroyed"))
    node.next()
    assert not node.timers


def test_other_warnings_are_passed_on():
    service = SimpleNamespace(
        srv_name="/x", send_response=lambda *_: warnings.warn("slow", UserWarning, stacklevel=1)
    )
    node = Clock([service])
    KeptAnswers(node)
    with pytest.warns(UserWarning, match="slow"):
        service.send_response(None, None)
    assert not node.timers


def test_an_answer_that_is_given_later_is_kept_too():
    service = LaterService.__new__(LaterService)
    service.srv_name, sent = "/change_state", []
    node = Clock([service])
    KeptAnswers(node)
    answer = Answer("done")
    with pytest.MonkeyPatch.context() as patch:
        attempts = iter([True, False])

        def send(_, response, header):
            if next(attempts):
                warnings.warn(LOST, RuntimeWarning, stacklevel=1)
            else:
                sent.append((response, header))

        patch.setattr(rclpy.service.Service, "send_response", send)
        service.send_response(answer, 3)
        assert not node.timers
        answer.give()
        node.next()
    assert sent == [("done", 3)]


@pytest.mark.parametrize("make", [NodeExecutor, lambda **given: PooledExecutor(2, **given)])
def test_an_answer_that_was_lost_reaches_a_real_client(make, monkeypatch):
    """Whatever the time that the simulation says, which may stand still."""
    monkeypatch.setattr(answers, "_WAITS", (0.01, 0.01))
    with (
        node("-p", "use_sim_time:=true", name="asked", **BARE) as asked,
        node(name="asking", **BARE) as asking,
    ):
        service = asked.create_service(Trigger, "~/ask", lambda _, response: response)
        real, lost = service.send_response, [2]

        def send(response, header):
            if lost[0]:
                lost[0] -= 1
                warnings.warn(LOST, RuntimeWarning, stacklevel=1)
            else:
                real(response, header)

        service.send_response = send
        KeptAnswers(asked)
        client = asking.create_client(Trigger, "/asked/ask")
        with make(context=asked.context) as executor:
            executor.add_node(asked)
            executor.add_node(asking)
            while not client.service_is_ready():
                executor.spin_once(timeout_sec=0.05)
            future = client.call_async(Trigger.Request())
            while not future.done():
                executor.spin_once(timeout_sec=0.05)
    assert lost == [0]


def test_the_middleware_says_where_it_cannot_send(monkeypatch):
    """A client that wants what the service does not offer asks, and never matches its answers."""
    monkeypatch.setattr(answers, "_WAITS", (0.01,))
    once, surely = (
        QoSProfile(depth=10, reliability=reliability)
        for reliability in (ReliabilityPolicy.BEST_EFFORT, ReliabilityPolicy.RELIABLE)
    )
    told = []
    with node(name="asked", **BARE) as asked, node(name="asking", **BARE) as asking:
        asked.create_service(Trigger, "~/ask", lambda _, response: response, qos_profile=once)
        monkeypatch.setattr(asked, "get_logger", lambda: SimpleNamespace(warning=told.append))
        KeptAnswers(asked)
        client = asking.create_client(Trigger, "/asked/ask", qos_profile=surely)
        with NodeExecutor(context=asked.context) as executor:
            executor.add_node(asked)
            while not told:
                client.call_async(Trigger.Request())
                executor.spin_once(timeout_sec=0.05)
        monkeypatch.undo()
    assert told[0].startswith("/asked/ask: the client of a request cannot be reached")
