"""A bag that is replayed through the nodes, in processes of their own, as a benchmark does."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import forked_processes
from live_nodes import BEGIN, ROBOT, motion
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.signals.raw_samples import RawSamples

pytestmark = [pytest.mark.ros, pytest.mark.slow]

REPLAY = Path(__file__).resolve().parents[2] / "benchmarks" / "bag_replay.py"
SAMPLES = 600
BURSTS = (1, 37, 100)


@pytest.fixture
def bag(tmp_path):
    """Write joint states of the SCARA with noise in the efforts; return the bag."""
    q, tau = (signal[:SAMPLES] for signal in motion())
    noise = 0.02 * tau.std(axis=0) * np.random.default_rng(3).standard_normal(tau.shape)
    stamps = BEGIN + 10_000_000 * np.arange(SAMPLES, dtype=np.int64)
    path = tmp_path / "bag"
    write_joint_states(path, ROBOT.joint_names, RawSamples(stamps, q, None, tau + noise))
    return path


def test_nodes_identify_from_a_bag_what_the_command_does_however_its_states_come(
    bag, monkeypatch, capsys
):
    line = [str(REPLAY), "scara", str(bag), "--bursts", *map(str, BURSTS)]
    monkeypatch.setattr(sys, "argv", line)
    monkeypatch.syspath_prepend(REPLAY.parent)
    replay = import_module(REPLAY.stem)
    forking = SimpleNamespace(run=forked_processes.run, DEVNULL=subprocess.DEVNULL)
    monkeypatch.setattr(replay, "subprocess", forking)
    assert replay.main() == 0
    found = json.loads(capsys.readouterr().out)
    for burst in BURSTS:
        told = found[f"bursts of {burst}"]
        assert told["samples"] == {"command": SAMPLES, "streamed": SAMPLES, "asked": SAMPLES}
        assert told["blocks"] * told["largest_block"] >= SAMPLES
        assert told["largest_block"] <= burst
        assert told["streamed"] < 1e-3
        assert told["asked"] < 1e-3
