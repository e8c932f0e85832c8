"""Measured data of real robots: of ``datasets fetch``, or beside the repository.

Tests that need them skip where they are in neither place.
"""

from pathlib import Path

import pytest

from robot_identification.files.datasets.fetching import find_dataset

REPOSITORY = Path(__file__).resolve().parents[1]


def measured_data(robot: str) -> Path:
    """Return the folder of a robot's measured data, which is there where ``requires`` lets run."""
    fetched = find_dataset(robot)
    return REPOSITORY.parent / "shared" / "data" / robot if fetched is None else fetched.folder


def requires(robot: str) -> pytest.MarkDecorator:
    """Skip a test where the measured data of a robot are not there."""
    return pytest.mark.skipif(
        not measured_data(robot).is_dir(),
        reason=f"needs the recording of `robot-identification datasets fetch {robot}`",
    )
