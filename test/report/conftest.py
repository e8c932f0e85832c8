"""A result of a short recording, and the recording."""

from pathlib import Path

import pytest

from command_line import refusal, run
from robot_identification.cli.main import main
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.robot.files.loading import load_robot
from swinging_scara import swinging_scara as samples
from unsaved_figures import unsaved

__all__ = ["refusal", "run", "unsaved"]


@pytest.fixture(scope="session")
def scara_bag(tmp_path_factory) -> Path:
    """A bag of a SCARA that swings both joints."""
    path = tmp_path_factory.mktemp("swinging") / "bag"
    write_joint_states(path, load_robot("scara").joint_names, samples())
    return path


@pytest.fixture(scope="session")
def swinging_scara(scara_bag) -> Path:
    """Its result file, with a fifth of the recording held out."""
    target = scara_bag.parent / "result.yaml"
    arguments = ("identify", "scara", str(scara_bag), "--held-out", "0.2", "-o", str(target))
    assert main(arguments) == 0
    return target
