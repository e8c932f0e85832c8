"""Periods of a motion that repeats, in its plan file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from robot_identification.errors import TrajectoryError
from robot_identification.excitation.families.fourier_settings import Periodic
from robot_identification.excitation.plan_settings import FOURIER
from robot_identification.files.plans.trajectories import read_trajectory_document, trajectory_of
from robot_identification.robot.files.document import Document
from robot_identification.signals.periodic.periods import PeriodicMotion

PERIODIC = "periodic"
"""Key under which a plan states its periods."""

_ROUNDING = 1e-6  # s


def read_periodic(path: str | Path) -> Periodic | None:
    """Return the part of a plan that repeats, as it states it.

    Args:
        path: the plan, or what ``excite --json`` printed of it.

    Returns:
        None where nothing of it repeats.

    Raises:
        RobotDescriptionError: the file cannot be read.
        TrajectoryError: what it states is not the part of a trajectory that repeats.
    """
    document = read_trajectory_document(path)
    data = document.data
    if not isinstance(data, dict) or data.get("family") != FOURIER or PERIODIC not in data:
        return None
    found = _stated(document.path, data[PERIODIC])
    if "points" in data and isinstance(data["points"], list):
        _require_part(document, found)
    return found


def read_periodic_motion(path: str | Path, *, harmonics: int | None = None) -> PeriodicMotion:
    """Return what the plan of a motion that repeats says of its recordings.

    Args:
        path: the plan, or what ``excite --json`` printed of it.
        harmonics: of the series to be fitted; None: as many as repeat.

    Raises:
        RobotDescriptionError: the file cannot be read.
        TrajectoryError: it says of no motion that repeats.
        SettingError: the number of harmonics is not positive.
    """
    found = read_periodic(path)
    if found is None:
        raise TrajectoryError(
            f"{path}: is no plan of a motion that repeats (family: {FOURIER}); plan one with "
            f"excite --family {FOURIER}, or give --period"
        )
    return PeriodicMotion(
        1.0 / found.base_frequency,
        harmonics,
        planned_harmonics=found.harmonics,
        planned_periods=found.periods,
    )


def _stated(path: str, stated: object) -> Periodic:
    """Return the entry of a plan, checked by itself."""
    keys = [field.name for field in fields(Periodic)]
    if not isinstance(stated, Mapping) or not set(stated) <= set(keys):
        raise TrajectoryError(f"{path}: {PERIODIC} must have the keys {', '.join(keys)}")
    numbers = {key: _number(path, key, stated.get(key)) for key in keys}
    for key in ("harmonics", "periods"):
        if numbers[key] != int(numbers[key]):
            raise TrajectoryError(
                f"{path}: {PERIODIC}: {key} = {numbers[key]:g} must be a whole number"
            )
    return Periodic(
        numbers["base_frequency"],
        int(numbers["harmonics"]),
        int(numbers["periods"]),
        numbers["begins"],
    )


def _number(path: str, key: str, value: object) -> float:
    """Return a positive number; the first period may begin at once."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not (0.0 < value < 1e6 or (value == 0.0 and key == "begins"))
    ):
        raise TrajectoryError(
            f"{path}: {PERIODIC}: {key} = {value!r:.40} must be a positive number"
        )
    return float(value)


def _require_part(document: Document, found: Periodic) -> None:
    """Refuse periods that do not fit into the trajectory of a plan."""
    times = trajectory_of(document).times
    lasts = float(times[-1] - times[0])
    if found.begins + found.periods / found.base_frequency > lasts + _ROUNDING:
        raise TrajectoryError(
            f"{document.path}: {found.periods} periods at {found.base_frequency:g} Hz from "
            f"{found.begins:g} s on are not part of {lasts:g} s"
        )
