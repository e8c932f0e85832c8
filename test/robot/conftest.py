"""Descriptions of robots, written for one test."""

from pathlib import Path

import pytest

from shared_data import measured_data


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a description and returns its path."""

    def write(text: str, name: str = "robot.yaml") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.fixture(scope="session")
def ur10_urdf() -> Path:
    path = measured_data("ur10") / "ur10_robot.urdf"
    if not path.is_file():
        pytest.skip("needs the URDF of `robot-identification datasets fetch ur10`")
    return path
