"""Compiling ahead, and what it leaves for the nodes."""

import os
import pickle
import subprocess
import sys
from concurrent.futures import Future
from contextlib import nullcontext

import pytest

from robot_identification.cli import compile_ahead
from robot_identification.excitation.search import dynamic
from robot_identification.parallel.orphans import end_with

WARM_UP = """
from robot_identification.dynamics.external_efforts.momentum_observer import MomentumObserver
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.ros.identification.warming import warm_up
from robot_identification.robot.files.loading import load_robot
robot = load_robot("puma560")
warm_up(base_parameters(robot))
MomentumObserver(robot, [0.0] * len(robot.all_parameter_names))
"""


class InThisProcess(nullcontext):
    """Does at once what a process started anew would do."""

    def __init__(self, _workers, context, begin, arguments):
        assert context.get_start_method() == "spawn"
        assert (begin, arguments) == (end_with, (os.getpid(),))
        super().__init__(self)

    def submit(self, work):
        future = Future()
        future.set_result(pickle.loads(pickle.dumps(work))())
        return future


@pytest.mark.slow
def test_after_compiling_ahead_nodes_that_identify_or_observe_only_load(run, monkeypatch):
    monkeypatch.setattr(compile_ahead, "ProcessPoolExecutor", InThisProcess)
    monkeypatch.setattr(dynamic, "STAGES", dynamic.STAGES[:1])  # any motion is good enough
    assert run("compile")["seconds"] > 0.0
    done = subprocess.run(
        [sys.executable, "-c", WARM_UP],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "NUMBA_DEBUG_CACHE": "1"},
    )
    assert "data loaded from" in done.stdout
    assert "data saved to" not in done.stdout
