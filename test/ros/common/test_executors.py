"""The executor with threads: every callback once, none waits for a long one, errors come out."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import rclpy
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

from robot_identification.ros.common.executors import PooledExecutor

pytestmark = pytest.mark.ros


@pytest.fixture
def node():
    context = rclpy.Context()
    rclpy.init(context=context)
    made = Node("pooled", context=context, enable_rosout=False, start_parameter_services=False)
    yield made
    made.destroy_node()
    rclpy.try_shutdown(context=context)


@pytest.fixture
def executor(node):
    with PooledExecutor(2, context=node.context) as made:
        made.add_node(node)
        yield made


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
