"""Recordings in tables of text (CSV): a row for every sample, a column for every joint's signal."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from robot_identification.errors import BagError
from robot_identification.files.tables.columns import (
    NEEDED,
    SIGNALS,
    TEMPERATURE,
    TIME,
    Columns,
    places_of,
)
from robot_identification.files.tables.text import TableText
from robot_identification.robot.arrays import Array, by_value
from robot_identification.signals.clock.time_units import probable_unit, step_of

ENDINGS = (".csv", ".tsv", ".txt")
"""Ends of the names of files that are read as tables."""

_LATEST = 9.2e9  # s: stamps in ns have 64 bits


@by_value
@dataclass(frozen=True)
class Table:
    """Samples of a table, on the side where they were measured.

    Attributes:
        stamps: (samples,) in ns.
        signals: signal -> (samples, joints), for those that the table has.
        digest: SHA-256 of the file.
        warnings: what is odd about it.
        refused: rows that were left out, for their time is no number.
    """

    stamps: npt.NDArray[np.int64]
    signals: Mapping[str, Array]
    digest: str
    warnings: tuple[str, ...] = ()
    refused: int = 0


def is_table(path: str | Path) -> bool:
    """Tell whether a file is read as a table, by its name."""
    return Path(path).suffix.lower() in ENDINGS and Path(path).is_file()


def read_table(
    path: str | Path,
    joint_names: Sequence[str],
    columns: Columns | None = None,
    *,
    topic: str = "/joint_states",
    temperatures: bool = False,
    linear: Mapping[str, Sequence[bool]] | None = None,
) -> Table:
    """Read a table of samples.

    Cells are separated by commas, semicolons, tabulators or spaces; beside semicolons and
    tabulators, numbers may have decimal commas.  The first line below comments has the names of the
    columns, or numbers; without names there, the last comment may have them.  Rows without any
    number in the columns that are wanted are left out, and so are
    those whose time is NaN, infinite or beyond the year 2260.

    Args:
        path: the file.
        joint_names: joints of the robot, in the order wanted.
        columns: which columns are wanted; signals that it does not name are looked for by usual
            names, such as ``position_elbow`` or ``q2``.
        topic: of the joint states, for the names that PlotJuggler gives.
        temperatures: whether temperatures of the joints are wanted too.
        linear: signal -> (joints,) which of its columns are of what moves along a line, whose units
            are lengths and forces; by default everything turns.

    Raises:
        BagError: the file cannot be read, a column is not there, a cell is no number, or more than
            half of the times are none.
        SettingError: a unit is stated that no joint can have.
    """
    place, wanted = Path(path), columns or Columns()
    known = (*SIGNALS, TEMPERATURE) if temperatures else SIGNALS
    try:
        raw = place.read_bytes()
    except OSError as error:
        raise BagError(place, f"cannot be read: {error.strerror}") from error
    text = TableText.of(place, raw)
    places = {
        signal: found
        for signal in (TIME, *known)
        if (found := places_of(text, signal, wanted, joint_names, topic))
    }
    for signal in NEEDED:
        if signal not in places:
            raise BagError(
                place,
                f"no column is known to be {signal}; it has {text.listed}: name them, as in "
                f"--columns time=t position=q{{n}} effort=tau{{n}}",
            )
    numbers = text.numbers([column for found in places.values() for column in found])
    (scale,) = wanted.factors(TIME, (False,)).tolist()
    timed = np.abs(numbers[:, 0] * scale) <= _LATEST  # NaN is not
    untimed = _untimed(place, numbers[:, 0], timed)
    numbers, first = numbers[timed], len(places[TIME])
    stamps = _stamps(numbers[:, 0], scale)
    signals, turning = {}, (False,) * len(joint_names)
    for signal in known:
        if signal in places:
            last = first + len(joint_names)
            factors = wanted.factors(signal, (linear or {}).get(signal, turning))
            signals[signal] = np.ascontiguousarray(numbers[:, first:last]) * factors
            first = last
    warnings = (*untimed, *_remarks(place, stamps, wanted))
    digest = hashlib.sha256(raw).hexdigest()
    return Table(stamps, signals, digest, warnings, len(timed) - len(stamps))


def _untimed(path: Path, times: Array, timed: npt.NDArray[np.bool_]) -> tuple[str, ...]:
    """Return what there is to be told of rows without a time, in lines.

    Raises:
        BagError: more than half of them have none.
    """
    count = len(timed) - int(np.count_nonzero(timed))
    if not count:
        return ()
    place = int(np.argmin(timed))
    told = (
        f"{count} of {len(timed)} times are no times in seconds, the first: {times[place]:g} at "
        f"row {place}"
    )
    if 2 * count > len(timed):
        advice = "name their column and unit, as in --columns time[ns]=stamp"
        raise BagError(path, f"{told}; {advice}")
    return (f"{path}: {told}; these rows were left out",)


def _stamps(times: Array, factor: float) -> npt.NDArray[np.int64]:
    """Return times as stamps in ns, of which differences count."""
    since = np.rint((times - times[0]) * factor * 1e9)
    start = max(float(times[0]), 0.0) * factor * 1e9
    return np.asarray(since, dtype=np.int64) + round(start)


def _remarks(path: Path, stamps: npt.NDArray[np.int64], columns: Columns) -> tuple[str, ...]:
    """Return what there is to be told of the steps between samples, in lines.

    Raises:
        BagError: the time is not in seconds, and no other unit is stated.
    """
    apart = 1e-9 * step_of(stamps)
    unit = probable_unit(apart)
    if not unit or TIME in columns.units:
        return ()
    advice = f"if the time is in {unit}, say --columns time[{unit}]=..."
    told = f"its samples lie {apart:g} s apart; {advice}"
    if unit != "ms":
        raise BagError(path, told)
    return (f"{path}: {told}",)
