"""A short recording of a robot whose parameters are known, and bags of it in every state."""

import shutil
from pathlib import Path

import pytest

from command_line import refusal, run
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.robot.files.loading import load_robot
from robot_identification.signals.raw_samples import RawSamples
from swinging_scara import swinging_scara
from unsaved_figures import unsaved

__all__ = ["refusal", "run", "unsaved"]


@pytest.fixture(scope="session")
def scara_samples() -> RawSamples:
    """Twenty seconds of a SCARA that swings both joints, with a little torque noise."""
    return swinging_scara()


@pytest.fixture(scope="session")
def written_scara_bag(scara_samples, tmp_path_factory) -> Path:
    """A bag of the swinging SCARA, to be copied."""
    path = tmp_path_factory.mktemp("written") / "scara_bag"
    write_joint_states(path, load_robot("scara").joint_names, scara_samples, storage="sqlite3")
    return path


@pytest.fixture
def scara_bag(written_scara_bag, tmp_path) -> Path:
    """A bag of the swinging SCARA."""
    return shutil.copytree(written_scara_bag, tmp_path / "scara_bag")
