"""Lines of a table of text, its header, and the numbers in its cells."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robot_identification.errors import BagError
from robot_identification.robot.model import Array


@dataclass(frozen=True)
class TableText:
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
        # Numbers without a fraction have no decimal comma: the first ones may be of that kind.
        if separator is not None and separator != "," and any("," in line for _, line in lines):
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


def _decoded(raw: bytes) -> str:
    """Return the text of a file: UTF-8, UTF-16 with its mark, or else one byte a character."""
    marked = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return raw.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


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
