"""A short recording of a robot whose parameters are known, and bags of it in every state."""

import json
from pathlib import Path

import pytest

from robot_identification.cli.main import main
from robot_identification.robot.loading import load_robot
from robot_identification.signals.recording import RawSamples
from robot_identification.storage.bag_writing import write_joint_states
from swinging_scara import swinging_scara


@pytest.fixture(scope="session")
def scara_samples() -> RawSamples:
    """Twenty seconds of a SCARA that swings both joints, with a little torque noise."""
    return swinging_scara()


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
