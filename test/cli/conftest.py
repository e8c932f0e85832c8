"""A short recording of a robot whose parameters are known, and bags of it in every state."""

import json
from pathlib import Path

import numpy as np
import pytest

from robot_identification.cli.main import main
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.robot.loading import load_robot
from robot_identification.robot.values import load_values
from robot_identification.signals.recording import RawSamples
from robot_identification.storage.bag_writing import write_joint_states

RATE = 200


@pytest.fixture(scope="session")
def scara_samples() -> RawSamples:
    """Twenty seconds of a SCARA that swings both joints, with a little torque noise."""
    robot = load_robot("scara")
    t = np.arange(0.0, 20.0, 1.0 / RATE)[:, None]
    waves = [
        (np.array([[0.8, 1.0]]), np.array([[2.1, 3.7]])),
        (np.array([[0.5, 0.4]]), np.array([[5.3, 6.9]])),
    ]
    q = sum(a * np.sin(w * t) for a, w in waves)
    qd = sum(a * w * np.cos(w * t) for a, w in waves)
    qdd = sum(-a * w * w * np.sin(w * t) for a, w in waves)
    effort = inverse_dynamics(robot, load_values("scara", robot), q, qd, qdd)
    effort = effort + np.random.default_rng(0).normal(scale=[0.05, 0.01], size=effort.shape)
    stamps = 1_700_000_000_000_000_000 + np.arange(len(t), dtype=np.int64) * (10**9 // RATE)
    return RawSamples(stamps, q, qd, effort)


@pytest.fixture
def scara_bag(scara_samples, tmp_path) -> Path:
    """A bag of the swinging SCARA."""
    path = tmp_path / "scara_bag"
    write_joint_states(path, load_robot("scara").joint_names, scara_samples, storage="sqlite3")
    return path


@pytest.fixture
def run(capsys):
    """Run a command that must succeed and return its JSON."""

    def command(*arguments) -> dict:
        assert main([*map(str, arguments), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return command


@pytest.fixture
def refusal(capsys):
    """Run a command that must fail and return its exit code and its one line of error."""

    def command(*arguments) -> tuple[int, str]:
        code = main([*map(str, arguments)])
        captured = capsys.readouterr()
        assert captured.out == ""
        lines = captured.err.splitlines()
        assert len(lines) == 1, captured.err
        return code, lines[0]

    return command
