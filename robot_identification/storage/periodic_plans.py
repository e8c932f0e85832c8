"""What the plan of a periodic motion says of its periods."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from robot_identification.errors import TrajectoryError
from robot_identification.signals.periods import PeriodicMotion
from robot_identification.storage.trajectories import read_trajectory_document

FAMILY = "fourier"


def read_periodic_motion(path: str | Path, *, harmonics: int | None = None) -> PeriodicMotion:
    """Return period, harmonics and number of periods of a plan of the family ``fourier``.

    Args:
        path: the plan, or what ``excite --json`` printed of it.
        harmonics: of the series to be fitted; None: as many as repeat.

    Raises:
        RobotDescriptionError: the file cannot be read.
        TrajectoryError: it says of no motion that repeats.
        SettingError: the number of harmonics is not positive.
    """
    data = read_trajectory_document(path).data
    entries = data.get("periodic") if isinstance(data, dict) else None
    if not isinstance(data, dict) or data.get("family") != FAMILY or not isinstance(entries, dict):
        raise TrajectoryError(
            f"{path}: is no plan of a motion that repeats (family: {FAMILY}); plan one with "
            f"excite --family {FAMILY}, or give --period"
        )
    frequency = _positive(path, entries, "base_frequency")
    return PeriodicMotion(
        1.0 / frequency,
        harmonics,
        planned_harmonics=_whole(path, entries, "harmonics"),
        planned_periods=_whole(path, entries, "periods"),
    )


def _positive(path: str | Path, entries: dict[str, Any], name: str) -> float:
    value = entries.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e6:
        raise TrajectoryError(f"{path}: periodic: {name} = {value!r:.40} must be a positive number")
    return float(value)


def _whole(path: str | Path, entries: dict[str, Any], name: str) -> int:
    value = _positive(path, entries, name)
    if value != int(value):
        raise TrajectoryError(f"{path}: periodic: {name} = {value:g} must be a whole number")
    return int(value)
