"""Columns of a table: the signal that each of them holds, and its unit."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from robot_identification.errors import BagError, SettingError
from robot_identification.files.tables.text import TableText
from robot_identification.robot.arrays import Array

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
_LINEAR = {"m", "mm", "m/s", "mm/s", "N"}  # of what moves along a line
CURRENTS = frozenset(("A", "mA"))
"""Units of efforts that are currents, whatever moves."""
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
_NUMBERED = ("%s_{n}", "%s{n}")
_SIGNAL = re.compile(r"(?P<signal>[a-z]+)(\[(?P<unit>[^\]]*)\])?")


@dataclass(frozen=True)
class Columns:
    """Which columns of a table hold which signal.

    Attributes:
        names: signal -> names of its columns: separated by commas, in the order of the joints, or
            one with ``{joint}``, ``{n}`` or ``{i}`` in it, for the name of a joint or its number
            from 1 or from 0 on.  Columns without names have numbers, from 1 on.
        units: signal -> its unit where that is not s, rad, m, their derivatives, N m, N or A; or
            two units, one for what turns and one for what moves along a line.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, stated: Mapping[str, str]) -> Columns:
        """Return the columns that somebody states.

        Args:
            stated: ``time``, ``position``, ``velocity``, ``effort``, ``reference`` or
                ``temperature``, with a unit in brackets where it is another (``time[ms]``,
                ``position[deg]``, ``position[deg,mm]`` of joints of both types) -> columns.

        Raises:
            SettingError: there is no such signal or unit, two units are of the same joints, or
                there is no column.
        """
        names: dict[str, str] = {}
        units: dict[str, tuple[str, ...]] = {}
        for key, columns in stated.items():
            match = _SIGNAL.fullmatch(key)
            if match is None or match["signal"] not in _UNITS:
                raise SettingError("columns", key, f"name one of {', '.join(_UNITS)}")
            signal = match["signal"]
            if match["unit"] is not None:
                units[signal] = _units(key, signal, match["unit"])
            if not columns.strip():
                raise SettingError("columns", f"{key}=", "name a column")
            names[signal] = columns
        return cls(MappingProxyType(names), MappingProxyType(units))

    def factors(self, signal: str, linear: Sequence[bool]) -> Array:
        """Return (columns,) what the numbers of a signal are multiplied by.

        Args:
            signal: the signal.
            linear: (columns,) which of its columns are of what moves along a line.

        Raises:
            SettingError: a unit is stated that none of them can have.
        """
        found = np.ones(len(linear))
        for unit in self.units.get(signal, ()):
            kind = _linear(signal, unit)
            own = np.array([kind in (None, one) for one in linear])
            if not own.any():
                what = "moves along a line" if kind else "turns"
                problem = f"nothing that is measured {what}; state the unit of what there is"
                raise SettingError("columns", f"{signal}[{unit}]", problem)
            found[own] = _UNITS[signal][unit]
        return found


def _units(key: str, signal: str, stated: str) -> tuple[str, ...]:
    """Return the unit of a signal, or those of what turns and of what moves along a line."""
    units = tuple(unit.strip() for unit in stated.split(","))
    if not set(units) <= set(_UNITS[signal]):
        raise SettingError("columns", key, f"units of {signal} are {', '.join(_UNITS[signal])}")
    one_each = len(units) == 2 and {_linear(signal, unit) for unit in units} == {False, True}
    if len(units) > 1 and not one_each:
        problem = "give one unit, or one of what turns and one of what moves along a line"
        raise SettingError("columns", key, problem)
    return units


def _linear(signal: str, unit: str) -> bool | None:
    """Tell whether a unit is of what moves along a line; None: of whatever is measured."""
    return None if unit in CURRENTS or signal in (TIME, TEMPERATURE) else unit in _LINEAR


def places_of(
    text: TableText, signal: str, columns: Columns, joints: Sequence[str], topic: str
) -> list[int]:
    """Return the places of the columns of a signal, one for each joint; empty without any.

    Raises:
        BagError: columns that were named are not there, or are not one for each joint.
    """
    each: Sequence[str] = ("",) if signal == TIME else joints
    if signal not in columns.names:
        return _usual_places(text, signal, each, topic)
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


def _usual_places(text: TableText, signal: str, joints: Sequence[str], topic: str) -> list[int]:
    """Return the places of columns with usual names; empty without any.

    Numbers of joints begin with 1: where there is a column 0 too, they are not taken for such.

    Raises:
        BagError: several columns have such a name.
    """
    more = () if signal == TIME else (*_NAMED, *_NUMBERED)
    for pattern in (*_USUAL[signal], *(name % signal for name in more)):
        names = [_filled(pattern, i, joint, topic) for i, joint in enumerate(joints)]
        from_0 = "{n}" in pattern and _filled(pattern, -1, "", topic) in text.header
        if set(names) <= set(text.header) and not from_0:
            return [_place(text, signal, name) for name in names]
    return []


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


def _place(text: TableText, signal: str, name: str) -> int:
    if name in text.header:
        if text.header.count(name) > 1:
            problem = f"has several columns named {name}: name them by their numbers"
            raise BagError(text.path, problem)
        return text.header.index(name)
    if name.isascii() and name.isdigit() and 1 <= int(name) <= text.count:
        return int(name) - 1
    raise BagError(text.path, f"has no column {name} for {signal}; it has {text.listed}")
