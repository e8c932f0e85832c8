"""Lines of a table of text, its header, and the numbers in its cells."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robot_identification.errors import BagError
from robot_identification.robot.arrays import Array

_OF_OTHER_NUMBERS = frozenset("0123456789+-eE., '\u00a0\u2009\u202f")
"""Numbers with a decimal comma, or with separators of thousands."""


@dataclass(frozen=True)
class TableText:
    """The lines of a table, and what separates its cells.

    Attributes:
        path: the file.
        header: names of the columns; empty where there are none.
        count: number of columns.
        lines: number of each line in the file, from 1 on, and the line.
        separator: between cells; None: spaces.
        unnamed: why a line of names is not that of the columns; empty where it is, or is none.
    """

    path: Path
    header: tuple[str, ...]
    count: int
    lines: Sequence[tuple[int, str]]
    separator: str | None
    unnamed: str = ""

    @classmethod
    def of(cls, path: Path, raw: bytes) -> TableText:
        """Return the lines of a file.

        Raises:
            BagError: there are none with numbers.
        """
        text = _decoded(raw)
        if "\0" in text:
            raise BagError(path, "is no table of text; is it a bag of another name?")
        lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
        names: list[str] = []
        while lines and lines[0][1].lstrip().startswith("#"):
            _, names = _split(lines.pop(0)[1].strip().lstrip("# "))
        named = 0
        if lines and _is_header(lines[0][1], commented=bool(names)):
            named, line = lines.pop(0)
            _, names = _split(line.strip())
        if not lines:
            raise BagError(path, "has no rows of numbers")
        separator = _separator(lines[0][1])
        # Numbers without a fraction have no decimal comma: the first ones may be of that kind.
        if separator is not None and separator != "," and any("," in line for _, line in lines):
            lines = [(n, line.replace(",", ".")) for n, line in lines]
        count = len(_cells(lines[0][1], separator))
        if len(names) != count and separator is not None:
            lines = _without_last_mark(lines, separator)
            count = len(_cells(lines[0][1], separator))
        unnamed = f"line {named} has {len(names)} names, line {lines[0][0]} {count} cells"
        if len(names) == count:
            return cls(path, tuple(names), count, lines, separator)
        return cls(path, (), count, lines, separator, unnamed if named else "")

    @property
    def listed(self) -> str:
        """The columns, for people."""
        shown = self.header[:60]
        more = f" and {len(self.header) - 60} more" if len(self.header) > 60 else ""
        if shown:
            return f"{', '.join(shown)}{more}"
        why = f" ({self.unnamed})" if self.unnamed else ""
        return f"{self.count} columns without names{why}"

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
            first = self.lines[0][0]
            problem = f"line {number} has {len(cells)} cells, line {first} has {self.count}"
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
            advice = self._advice(line, cell)
            raise BagError(self.path, f"line {line}, {name}: {told}{advice}") from None

    def _advice(self, line: int, cell: str) -> str:
        """Return what to do about a cell that is no number, where that can be told."""
        if not cell:
            return (
                "; write nan where a value is missing: rows without a time, position or effort are "
                "left out and counted"
            )
        if self.header and line == self.lines[0][0] and not any(mark.isdigit() for mark in cell):
            return (
                "; if this line has the units, remove it and state them, as in --columns "
                "position[deg]=q{n}"
            )
        if set(cell) <= _OF_OTHER_NUMBERS:
            return "; write numbers with a decimal point, and no separator of thousands"
        if ":" in cell:
            return "; write the time as a number, in s or with its unit, as in time[ms]"
        return ""


def _decoded(raw: bytes) -> str:
    """Return the text of a file: UTF-8, UTF-16 with its mark, or else one byte a character."""
    marked = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return raw.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _separator(line: str) -> str | None:
    """Return what separates the cells of a line; None: spaces."""
    return next((mark for mark in "\t;," if mark in line), None)


def _split(line: str) -> tuple[str | None, list[str]]:
    separator = _separator(line)
    return separator, _cells(line, separator)


def _is_header(line: str, *, commented: bool) -> bool:
    """Tell whether a line has the names of the columns, no numbers.

    Args:
        line: the first one that is no comment.
        commented: whether a comment stands above it: that may have the names, and the line have a
            text in one of its cells, so that one with any number is a row then.
    """
    separator, cells = _split(line.strip())
    if not commented:
        return not _all_numbers(cells, separator)
    return not any(_all_numbers([cell], separator) for cell in cells)


def _without_last_mark(lines: Sequence[tuple[int, str]], separator: str) -> list[tuple[int, str]]:
    """Return lines without the separator at their ends, if all of them have one there."""
    ended = [(n, line.rstrip(" ")) for n, line in lines]
    if all(line.endswith(separator) for _, line in ended):
        return [(n, line[: -len(separator)]) for n, line in ended]
    return list(lines)


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
