"""Measured data of real robots, kept beside the repository; tests that need them skip without."""

from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
DATA = REPOSITORY.parent / "shared" / "data"


def requires(robot: str) -> pytest.MarkDecorator:
    """Skip a test where the measured data of a robot are not there."""
    return pytest.mark.skipif(
        not (DATA / robot).is_dir(), reason=f"needs ../shared/data/{robot}, which is not there"
    )
