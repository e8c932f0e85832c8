"""Executors: events of the middleware are told but seldom looked at; callbacks among threads."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.event_handler import EventHandler, SubscriptionEventCallbacks
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

import ros_nodes
from robot_identification.ros.common.executors import NodeExecutor, PooledExecutor

pytestmark = pytest.mark.ros


@pytest.fixture
def node():
    with ros_nodes.node(name="pooled", enable_rosout=False, start_parameter_services=False) as made:
        yield made


@pytest.fixture
def executor(node):
    with PooledExecutor(2, context=node.context) as made:
        made.add_node(node)
        yield made


@pytest.mark.parametrize("make", [NodeExecutor, lambda **given: PooledExecutor(2, **given)])
def test_a_publisher_whose_settings_do_not_fit_is_told(node, make):
    told = []
    node.create_subscription(
        String, "words", print, QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE),
        event_callbacks=SubscriptionEventCallbacks(incompatible_qos=told.append),
    )  # fmt: skip
    with make(context=node.context) as executor:
        executor.add_node(node)
        for _ in range(3):
            executor.spin_once(timeout_sec=0.01)
        best_effort = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        node.create_publisher(String, "words", best_effort)
        while not told:
            executor.spin_once(timeout_sec=0.1)


def test_events_are_looked_at_twice_a_second_however_often_the_executor_wakes(node, monkeypatch):
    looked, time_is = [], SimpleNamespace(now=0.0)
    add = EventHandler.add_to_wait_set

    def counted(handler, wait_set):
        looked.append(time_is.now)
        return add(handler, wait_set)

    monkeypatch.setattr(EventHandler, "add_to_wait_set", counted)
    node.create_subscription(String, "words", print, 1)
    node.create_timer(1e-9, lambda: None)  # every look finds something to do
    with NodeExecutor(context=node.context, clock=lambda: time_is.now) as executor:
        executor.add_node(node)
        for time_is.now in (0.0, 0.1, 0.2, 0.49, 0.59, 0.6, 0.7, 1.1, 1.19, 1.2, 1.3):
            executor.spin_once(timeout_sec=None)
    assert set(looked) == {0.0, 0.6, 1.2}


def test_a_callback_is_handed_over_once(node, executor, monkeypatch):
    handed, called = [], []
    submit = ThreadPoolExecutor.submit

    def counted(pool, *work):
        handed.append(work)
        return submit(pool, *work)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", counted)
    node.create_timer(0.02, lambda: called.append(time.sleep(0.005)))
    while len(called) < 40:
        executor.spin_once(timeout_sec=0.1)
    assert len(called) <= len(handed) <= 1.2 * len(called)


def test_a_long_callback_lets_others_run(node, executor):
    release, ticks = threading.Event(), []
    group = ReentrantCallbackGroup()
    long = node.create_timer(0.01, lambda: (long.cancel(), release.wait()), group)
    node.create_timer(0.01, lambda: ticks.append(release.is_set()), ReentrantCallbackGroup())
    while not (long.is_canceled() and len(ticks) > 20):
        executor.spin_once(timeout_sec=0.1)
    release.set()
    assert not any(ticks)


def test_an_error_of_a_callback_comes_out(node, executor):
    def fail():
        raise ArithmeticError("out of bounds")

    def spin():
        while True:
            executor.spin_once(timeout_sec=0.1)

    node.create_timer(0.01, fail)
    with pytest.raises(ArithmeticError, match="out of bounds"):
        spin()
