"""Signals to a program that moves a robot: heard, and leaving it able to brake."""

import os
import signal
import uuid

import pytest
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup

from robot_identification.ros.clients.client import Client
from robot_identification.ros.clients.interruption import (
    INTERRUPTS,
    signals_held,
    signals_ignored,
    signals_interrupting,
)


def end_this_process(number=signal.SIGTERM):
    """Send this process a signal, as a shell or a supervisor does."""
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", INTERRUPTS)
def test_a_signal_waits_until_what_holds_it_has_ended(number):
    done = []

    def work():
        with signals_held():
            end_this_process(number)
            done.append(True)

    with signals_interrupting(), pytest.raises(KeyboardInterrupt):
        work()
    assert done
    with signals_interrupting(), pytest.raises(KeyboardInterrupt):
        end_this_process(number)


def test_a_signal_that_is_ignored_is_forgotten():
    with signals_interrupting():
        with signals_ignored():
            end_this_process()
        with signals_held():
            pass


class StruckGroup(MutuallyExclusiveCallbackGroup):
    """A group that a signal strikes once between the beginning of a callback and the callback."""

    struck = False

    def beginning_execution(self, entity):
        begun = super().beginning_execution(entity)
        if not self.struck:
            self.struck = True
            end_this_process()
        return begun


@pytest.mark.ros
def test_a_client_interrupted_in_the_middle_of_its_executor_still_hears_everything():
    with Client(f"/t{uuid.uuid4().hex[:12]}") as client:
        heard = []
        client.node.create_timer(
            0.01, lambda: heard.append(len(heard)), callback_group=StruckGroup()
        )
        with signals_interrupting(), pytest.raises(KeyboardInterrupt):
            client.spin(10.0)
        before = len(heard)
        client.wait_for(lambda: len(heard) > before + 1, 10.0, "calls after the interruption")
