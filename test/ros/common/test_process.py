"""How nodes end: in order, however often they are told to, and without a traceback."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from live_nodes import complete_values, states
from lock_step import LockStepCell
from robot_identification.cli.main import EXIT_INTERRUPTED
from robot_identification.ros.clients.processes import executable
from robot_identification.ros.common.process import EndRequest
from simulated_cell import Status

AGAIN_AFTER = 0.02  # s; much sooner than a signal says something new, whatever stalls
QUICK = {"method": "one-joint"}
STARTING = """
import sys, time
from pathlib import Path
from robot_identification.ros.common.process import run

def make():
    Path(sys.argv[1]).write_text("being made")
    while True:  # a signal just before a sleep is heard when that is over
        time.sleep(0.05)

sys.exit(run(make, [], name="sleeper"))
"""

STUCK = """
import builtins, ctypes, os, signal, sys
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from robot_identification.errors import InputError
from robot_identification.ros.common import process

class Held:
    def __del__(self, pause=ctypes.PyDLL(None).pause):
        pause()  # with Python's lock, as the destruction of a participant

class Executor(SingleThreadedExecutor):
    def spin_once(self, timeout_sec):
        os.kill(os.getpid(), signal.SIGINT)

def make():
    if sys.argv[1] == "a node that is refused":
        half_made = Held()
        raise InputError("no such robot")
    if sys.argv[1] == "the interpreter":
        builtins.held = Held()  # destroyed when all else is
    return Node("stuck")

def make_executor():
    executor = Executor()
    if sys.argv[1] == "an executor":
        executor.held = Held()
    return executor

process._END_WITHIN = 0.5
sys.exit(process.run(make, [], name="stuck", make_executor=make_executor))
"""


STUCK_CLIENT = """
import ctypes
from robot_identification.ros.clients.client import Client
from robot_identification.ros.common import process

client = Client()
client.node.destroy_node = ctypes.PyDLL(None).pause
process._END_WITHIN = 0.5
client.close()
"""


def interrupt_twice(process):
    """Do what a terminal does when Ctrl-C is pressed twice: all processes of the group hear it."""
    os.killpg(process.pid, signal.SIGINT)
    time.sleep(AGAIN_AFTER)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)


def test_signals_soon_after_the_first_say_nothing_new():
    now = [50.0]
    end = EndRequest(lambda: now[0])
    assert not end.asked
    for seconds in (0.0, 0.1, 0.4, 2.5):
        now[0] = 50.0 + seconds
        assert not end.hear()
        assert end.asked
    now[0] = 53.5
    assert end.hear(), "who asks again later means at once"


@pytest.mark.ros
@pytest.mark.parametrize("holder", ["a node that is refused", "an executor", "the interpreter"])
def test_a_node_whose_destruction_never_ends_is_ended(holder):
    line = [sys.executable, "-c", STUCK, holder]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert ("no such robot" in done.stderr) == (holder == "a node that is refused")
    assert "in __del__" in done.stderr


@pytest.mark.ros
def test_a_client_whose_destruction_never_ends_is_ended():
    line = [sys.executable, "-c", STUCK_CLIENT]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "in close" in done.stderr


@pytest.mark.ros
def test_a_robot_in_motion_is_braked_when_ctrl_c_is_pressed_twice(tmp_path):
    with LockStepCell(tmp_path, "scara", str(complete_values(tmp_path))) as cell:
        cell.start_nodes()
        cell.first_plan(**QUICK)
        assert cell.answers.start().success
        cell.wait_for(Status.RUNNING)
        count = len(cell.sent)
        process = cell.nodes.process("excitation")
        interrupt_twice(process)
        cell.wait(lambda: len(cell.sent) > count, "braking trajectory")
        assert process.wait() == 0
        np.testing.assert_allclose(cell.sent[-1].trajectory.velocities[-1], 0.0, atol=1e-9)
        assert "Traceback" not in cell.nodes.output("excitation")
        cell.nodes.stop("excitation")


@pytest.mark.ros
def test_a_recording_ends_with_its_last_block_when_ctrl_c_is_pressed_twice(make_suite):
    suite = make_suite()
    process = suite.start("acquisition", autostart=True, block_period=0.05)
    suite.wait_for_acquisition()
    for message in states(200):
        suite.driver.publish(message)
    suite.wait(lambda: sum(len(b.position) for b in suite.blocks) >= 300, "samples")
    interrupt_twice(process)
    suite.wait(lambda: suite.blocks[-1].last, "last block")
    assert process.wait() == 0
    assert "Traceback" not in suite.processes.output("acquisition")
    suite.processes.stop("acquisition")


@pytest.mark.parametrize("name", ["excitation", "acquisition", "robot-identification"])
def test_a_program_that_is_being_loaded_is_interrupted_without_a_traceback(name):
    line = [*executable(name), "base-parameters", "tx40"]
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        while "_multiarray_umath" not in Path(f"/proc/{process.pid}/maps").read_text():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        said = process.stderr.read().decode()
        assert process.wait() in (-signal.SIGINT, EXIT_INTERRUPTED)  # the latter of a command
    assert said in ("", "robot-identification: interrupted\n")


def test_a_node_that_is_being_made_is_interrupted_without_a_traceback(tmp_path):
    told = tmp_path / "told"
    line = [sys.executable, "-c", STARTING, str(told)]
    with subprocess.Popen(line, stderr=subprocess.PIPE) as process:
        while not told.exists():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        said = process.stderr.read().decode()
        assert process.wait() == -signal.SIGINT
    assert said == ""
