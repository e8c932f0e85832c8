"""Descriptions of robots, written for one test."""

from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


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
    path = SHARED_DATA / "ur10" / "ur10_robot.urdf"
    if not path.is_file():
        pytest.skip("the data set of the UR10 is not beside the checkout")
    return path
