"""Recordings in tables of text (CSV): a row for every sample, a column for every joint's signal."""

from __future__ import annotations

import csv
import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from robot_identification.errors import BagError, SettingError
from robot_identification.robot.arrays import by_value
from robot_identification.robot.model import Array

ENDINGS = (".csv", ".tsv", ".txt")
"""Ends of the names of files that are read as tables."""

TIME = "time"
NEEDED = (TIME, "position", "effort")
SIGNALS = ("position", "velocity", "effort", "reference")
TEMPERATURE = "temperature"
_DEGREE = math.pi / 180.0
_ANGLES = {"rad": 1.0, "deg": _DEGREE, "m": 1.0, "mm": 1e-3}
_UNITS: Mapping[str, Mapping[str, float]] = {
    TIME: {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9},
    "position": _ANGLES,
    "reference": _ANGLES,
    "velocity": {**{f"{unit}/s": factor for unit, factor in _ANGLES.items()}, "rpm": math.tau / 60},
    "effort": {"Nm": 1.0, "N": 1.0, "mNm": 1e-3, "A": 1.0, "mA": 1e-3},
    TEMPERATURE: {"C": 1.0},
}
_USUAL: Mapping[str, tuple[str, ...]] = {
    TIME: ("time", "t", "__time", "timestamp", "stamp"),
    "position": ("q{n}",),
    "velocity": ("qd{n}", "dq{n}"),
    "effort": ("tau{n}",),
    "reference": ("qr{n}",),
    TEMPERATURE: (),
}
# With the names of the joints; the first is how PlotJuggler calls the columns of joint states.
_NAMED = ("{topic}/{joint}/%s", "%s_{joint}", "{joint}_%s", "{joint}.%s", "{joint}/%s")
_SIGNAL = re.compile(r"(?P<signal>[a-z]+)(\[(?P<unit>[^\]]*)\])?")
_SLOW = 0.5  # s between samples, from which the time is probably not in seconds
_LONGEST = {"ms": 1e3 * _SLOW, "us": 1e6 * _SLOW}  # such a step, had the time this unit
_LATEST = 9.2e9  # s: stamps in ns have 64 bits


@dataclass(frozen=True)
class Columns:
    """Which columns of a table hold which signal.

    Attributes:
        names: signal -> names of its columns: separated by commas, in the order of the joints, or
            one with ``{joint}``, ``{n}`` or ``{i}`` in it, for the name of a joint or its number
            from 1 or from 0 on.  Columns without names have numbers, from 1 on.
        units: signal -> its unit where that is not s, rad, m, their derivatives, N m, N or A.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, stated: Mapping[str, str]) -> Columns:
        """Return the columns that somebody states.

        Args:
            stated: ``time``, ``position``, ``velocity``, ``effort``, ``reference`` or
                ``temperature``, with a unit
                in brackets where it is another (``time[ms]``, ``position[deg]``) -> columns.

        Raises:
            SettingError: there is no such signal or unit, or no column.
        """
        names, units = {}, {}
        for key, columns in stated.items():
            match = _SIGNAL.fullmatch(key)
            if match is None or match["signal"] not in _UNITS:
                raise SettingError("columns", key, f"name one of {', '.join(_UNITS)}")
            signal, unit = match["signal"], match["unit"]
            if unit is not None:
                if unit not in _UNITS[signal]:
                    known = ", ".join(_UNITS[signal])
                    raise SettingError("columns", key, f"units of {signal} are {known}")
                units[signal] = unit
            if not columns.strip():
                raise SettingError("columns", f"{key}=", "name a column")
            names[signal] = columns
        return cls(MappingProxyType(names), MappingProxyType(units))

    def factor(self, signal: str) -> float:
        """Return what the numbers of a signal are multiplied by."""
        unit = self.units.get(signal)
        return 1.0 if unit is None else _UNITS[signal][unit]


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
) -> Table:
    """Read a table of samples.

    Cells are separated by commas, semicolons, tabulators or spaces; beside semicolons and
    tabulators, numbers may have decimal commas.  The first line has the names of the columns, or
    numbers.  Rows without any number in the columns that are wanted are left out, and so are
    those whose time is NaN, infinite or beyond the year 2260.

    Args:
        path: the file.
        joint_names: joints of the robot, in the order wanted.
        columns: which columns are wanted; signals that it does not name are looked for by usual
            names, such as ``position_elbow`` or ``q2``.
        topic: of the joint states, for the names that PlotJuggler gives.
        temperatures: whether temperatures of the joints are wanted too.

    Raises:
        BagError: the file cannot be read, a column is not there, a cell is no number, or more than
            half of the times are none.
    """
    place, wanted = Path(path), columns or Columns()
    known = (*SIGNALS, TEMPERATURE) if temperatures else SIGNALS
    try:
        raw = place.read_bytes()
    except OSError as error:
        raise BagError(place, f"cannot be read: {error.strerror}") from error
    text = _Text.of(place, raw)
    places = {
        signal: found
        for signal in (TIME, *known)
        if (found := _places(text, signal, wanted, joint_names, topic))
    }
    for signal in NEEDED:
        if signal not in places:
            raise BagError(
                place,
                f"no column is known to be {signal}; it has {text.listed}: name them, as in "
                f"--columns time=t position=q{{n}} effort=tau{{n}}",
            )
    numbers = text.numbers([column for found in places.values() for column in found])
    timed = np.abs(numbers[:, 0] * wanted.factor(TIME)) <= _LATEST  # NaN is not
    untimed = _untimed(place, numbers[:, 0], timed)
    numbers, first = numbers[timed], len(places[TIME])
    stamps = _stamps(numbers[:, 0], wanted.factor(TIME))
    signals = {}
    for signal in known:
        if signal in places:
            last = first + len(joint_names)
            signals[signal] = np.ascontiguousarray(numbers[:, first:last]) * wanted.factor(signal)
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
    told = f"{count} of {len(timed)} times are no times in seconds, the first: {times[place]:g} at"
    if 2 * count > len(timed):
        problem = f"{told} row {place}; name their column and unit, as in --columns time[ns]=stamp"
        raise BagError(path, problem)
    return (f"{path}: {told} row {place}; these rows were left out",)


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
    if len(stamps) < 2 or TIME in columns.units:
        return ()
    apart = float(np.median(np.diff(stamps))) * 1e-9
    if apart < _SLOW:
        return ()
    unit = next((unit for unit, most in _LONGEST.items() if apart < most), "ns")
    advice = f"if the time is in {unit}, say --columns time[{unit}]=..."
    told = f"its samples lie {apart:g} s apart; {advice}"
    if unit != "ms":
        raise BagError(path, told)
    return (f"{path}: {told}",)


@dataclass(frozen=True)
class _Text:
    """The lines of a table, and what separates its cells.

    Attributes:
        path: the file.
        header: names of the columns; empty where there are none.
        count: number of columns.
        lines: number of each line in the file, from 1 on, and the line.
        separator: between cells; None: spaces.
    """

    path: Path
    header: tuple[str, ...]
    count: int
    lines: Sequence[tuple[int, str]]
    separator: str | None

    @classmethod
    def of(cls, path: Path, raw: bytes) -> _Text:
        """Return the lines of a file.

        Raises:
            BagError: there are none with numbers.
        """
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = raw.decode("latin-1")
        if "\0" in text:
            raise BagError(path, "is no table of text; is it a bag of another name?")
        lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
        names: list[str] = []
        while lines and (lines[0][1].lstrip().startswith("#") or not names):
            line = lines[0][1].strip()
            separator = next((mark for mark in "\t;," if mark in line), None)
            cells = _cells(line.lstrip("# "), separator)
            if not line.startswith("#") and _all_numbers(cells, separator):
                break
            names = cells
            lines = lines[1:]
        if not lines:
            raise BagError(path, "has no rows of numbers")
        separator = next((mark for mark in "\t;," if mark in lines[0][1]), None)
        if separator is not None and separator != "," and any("," in line for _, line in lines[:9]):
            lines = [(n, line.replace(",", ".")) for n, line in lines]
        count = len(_cells(lines[0][1], separator))
        return cls(path, tuple(names) if len(names) == count else (), count, lines, separator)

    @property
    def listed(self) -> str:
        """The columns, for people."""
        shown = self.header[:60]
        more = f" and {len(self.header) - 60} more" if len(self.header) > 60 else ""
        return f"{', '.join(shown)}{more}" if shown else f"{self.count} columns without names"

    def numbers(self, columns: Sequence[int]) -> Array:
        """Return (rows, columns) the numbers of some columns, without the rows that have none.

        Raises:
            BagError: a cell is no number, or a row has not as many cells as the others.
        """
        found = self._all(columns)
        if found is None:  # cells are empty, or something is wrong
            rows = (self._row(line, columns) for line in self.lines)
            found = np.array([row for row in rows if row])
        if not len(found):
            raise BagError(self.path, "has no rows of numbers")
        return found

    def _all(self, columns: Sequence[int]) -> Array | None:
        """Return the numbers of all rows at once; None where a row is not as the others are."""
        lines, mark = [line for _, line in self.lines], self.separator
        widths = {len(line.split()) if mark is None else line.count(mark) + 1 for line in lines}
        if widths != {self.count}:
            return None
        try:
            found: Array = np.loadtxt(
                lines,
                delimiter=mark,
                usecols=list(columns),
                quotechar='"',
                comments=None,
                ndmin=2,
            )
        except ValueError:
            return None
        return found

    def _row(self, numbered: tuple[int, str], columns: Sequence[int]) -> list[float]:
        number, line = numbered
        cells = _cells(line, self.separator)
        if len(cells) != self.count:
            problem = f"line {number} has {len(cells)} cells, the first one {self.count}"
            raise BagError(self.path, problem)
        wanted = [cells[column].strip() for column in columns]
        if not any(wanted[1:]):
            return []
        return [self._number(number, c, cell) for c, cell in zip(columns, wanted, strict=True)]

    def _number(self, line: int, column: int, cell: str) -> float:
        try:
            return float(cell)
        except ValueError:
            name = self.header[column] if self.header else f"column {column + 1}"
            told = f'"{cell:.40}" is no number' if cell else "is empty"
            raise BagError(self.path, f"line {line}, {name}: {told}") from None


def _cells(line: str, separator: str | None) -> list[str]:
    if separator is None:
        return line.split()
    return [cell.strip() for cell in next(csv.reader([line], delimiter=separator))]


def _all_numbers(cells: Sequence[str], separator: str | None) -> bool:
    decimal = [cell if separator in (",", None) else cell.replace(",", ".") for cell in cells]
    try:
        return bool([float(cell) for cell in decimal if cell])
    except ValueError:
        return False


def _places(
    text: _Text, signal: str, columns: Columns, joints: Sequence[str], topic: str
) -> list[int]:
    """Return the places of the columns of a signal, one for each joint; empty without any.

    Raises:
        BagError: columns that were named are not there, or are not one for each joint.
    """
    each: Sequence[str] = ("",) if signal == TIME else joints
    if signal not in columns.names:
        for pattern in (*_USUAL[signal], *(name % signal for name in _NAMED if signal != TIME)):
            names = [_filled(pattern, i, joint, topic) for i, joint in enumerate(each)]
            if set(names) <= set(text.header):
                return [text.header.index(name) for name in names]
        return []
    stated = columns.names[signal]
    names = [name.strip() for name in stated.split(",")]
    if len(names) == 1 and len(each) > 1 and "{" not in stated:
        names = _range(names[0])
    if len(names) == 1 and signal != TIME and "{" in stated:
        names = [_filled(stated, i, joint, topic) for i, joint in enumerate(each)]
    if len(names) != len(each):
        raise BagError(
            text.path,
            f"{signal} is to be in {len(names)} columns ({stated}), but the robot has "
            f"{len(each)} joints: {', '.join(joints)}"
            if signal != TIME
            else f"the time is in one column, not in {stated}",
        )
    return [_place(text, signal, name) for name in names]


def _range(name: str) -> list[str]:
    """Return the numbers of columns that ``2-7`` stands for."""
    ends = re.fullmatch(r"([0-9]{1,6})-([0-9]{1,6})", name)
    if ends is None:
        return [name]
    return [str(number) for number in range(int(ends[1]), int(ends[2]) + 1)]


def _filled(pattern: str, index: int, joint: str, topic: str) -> str:
    found = {"{n}": str(index + 1), "{i}": str(index), "{joint}": joint, "{topic}": topic}
    for mark, text in found.items():
        pattern = pattern.replace(mark, text)
    return pattern


def _place(text: _Text, signal: str, name: str) -> int:
    if name in text.header:
        if text.header.count(name) > 1:
            raise BagError(text.path, f"has several columns named {name}")
        return text.header.index(name)
    if name.isascii() and name.isdigit() and 1 <= int(name) <= text.count:
        return int(name) - 1
    raise BagError(text.path, f"has no column {name} for {signal}; it has {text.listed}")
