"""Short runs of the studies in benchmarks/, as somebody would run them."""

import json
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import forked_processes

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


def study(name, *options):
    """Return what a benchmark prints as JSON."""
    line = [sys.executable, str(BENCHMARKS / name), "--json", *options]
    done = forked_processes.run(line, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_six_joints_without_coupling_converge_from_starts_near_the_truth():
    noise = ("--position-noise", "0.001", "--torque-noise", "0.05")
    (case,) = study("birdy_protocol.py", "--cold", "--runs", "1", "--seconds", "3", *noise)
    (beside,) = case["runs"]
    run = beside["DIDIM"]
    assert run["converged"]
    assert 1 <= run["iterations"] <= 10
    assert run["torque_error"] < 0.005
    assert run["torque_error"] <= beside["IDIM-OLS"]["torque_error"]
    assert run["parameter_error"] < 0.02


def test_seven_joints_converge_from_the_regular_start():
    try:
        metadata.distribution("example-robot-data")
    except metadata.PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    (run,) = study("didim_seven_joints.py", "--points", "5", "--seeds", "1")
    assert len(run["noise_floor"]) == 7
    assert run["start"].startswith("regular")
    assert run["verdict"] == "converged"
    assert run["iterations"] <= 10
    first, last = run["torque_error"][0][0], run["torque_error"][-1]
    assert first > 0.5
    np.testing.assert_allclose(last[1:], run["noise_floor"], rtol=0.3)
    assert run["trusted"] >= 30
    assert run["trusted_and_near"] >= 0.95 * run["trusted"]
