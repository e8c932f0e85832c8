"""Compiling ahead, and what it leaves for the nodes."""

import os
import subprocess
import sys

import pytest

WARM_UP = """
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.ros.identification.warming import warm_up
from robot_identification.robot.files.loading import load_robot
warm_up(base_parameters(load_robot("puma560")))
"""


@pytest.mark.slow
def test_after_compiling_ahead_the_identification_node_only_loads(run):
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
