"""Presentation of results: a line, a table, plain data, a data frame, a figure, a file."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from robot_identification.errors import MissingPackageError

Record = Mapping[str, object]
"""A row of a table: name of the column -> value."""

_MOST_ROWS = 60
"""Rows that a notebook shows."""


class Presented(ABC):
    """A result that people and programs look at."""

    @property
    @abstractmethod
    def headline(self) -> str:
        """Summary in one line."""

    @abstractmethod
    def records(self) -> Sequence[Record]:
        """Return the rows of its table, all with the same columns."""

    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """Return its plain data, as ``--json`` of the command prints them; the keys are stable."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.headline}>"

    def _repr_html_(self) -> str:
        """Return its table, as notebooks show it."""
        every = self.records()
        rows = every[:_MOST_ROWS]
        header = "".join(f"<th>{escape(name)}</th>" for name in rows[0]) if rows else ""
        more = f"<p>... {len(every)} rows</p>" if len(every) > len(rows) else ""
        cells = ("".join(f"<td>{escape(_shown(v))}</td>" for v in row.values()) for row in rows)
        body = "".join(f"<tr>{row}</tr>" for row in cells)
        warnings = "".join(f"<p>warning: {escape(line)}</p>" for line in _warnings(self))
        return (
            f"<p>{escape(self.headline)}</p><table><thead><tr>{header}</tr></thead>"
            f"<tbody>{body}</tbody></table>{more}{warnings}"
        )

    def to_dataframe(self) -> Any:
        """Return its table as a ``pandas.DataFrame``.

        Raises:
            MissingPackageError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingPackageError("pandas", "", "a data frame") from error
        return pd.DataFrame(self.records())


class Stored(Presented):
    """A result that can be written to a file."""

    def save(self, path: str | Path, **options: Any) -> None:
        """Write it to a file, as the command writes it with ``-o``; it appears whole or not at all.

        Args:
            path: the file, or the folder of a bag.
            options: of the kind of file; see :func:`robot_identification.api.files.save`.

        Raises:
            OutputError: it cannot be written.
        """
        _call("robot_identification.api.files", "save", self, path, **options)


class Drawn(Presented):
    """A result of which there is a figure."""

    def plot(self, path: str | Path | None = None, *, title: str = "") -> Any:
        """Draw it.

        Args:
            path: PNG file to be written; None: none.
            title: one line above the figure; empty: its own.

        Returns:
            The figure, a ``matplotlib.figure.Figure``, which notebooks show.

        Raises:
            MissingPackageError: Matplotlib is not installed.
            OutputError: the file cannot be written.
        """
        return drawn_by("plot", self, path, title)


def drawn_by(function: str, *arguments: Any, **options: Any) -> Any:
    """Call a function of :mod:`.api.figures`, which needs Matplotlib."""
    return _call("robot_identification.api.figures", function, *arguments, **options)


def sample_records(
    time: npt.ArrayLike,
    joint_names: Sequence[str],
    signals: Mapping[str, npt.NDArray[np.float64] | None],
) -> list[dict[str, object]]:
    """Return one row per sample: the time, and every signal of every joint.

    Args:
        time: (samples,) in s.
        joint_names: names of the joints, one per column.
        signals: name -> (samples, joints), None where it is not known; the column of the joint
            ``knee`` is named such as ``position_knee``.
    """
    known = {name: values for name, values in signals.items() if values is not None}
    columns = ["time", *(f"{name}_{joint}" for name in known for joint in joint_names)]
    table = np.column_stack([np.asarray(time), *known.values()])
    return [dict(zip(columns, row, strict=True)) for row in table.tolist()]


def _call(module: str, function: str, *arguments: Any, **options: Any) -> Any:
    """Call a function of a higher floor: writing and drawing need what results know nothing of."""
    return getattr(import_module(module), function)(*arguments, **options)


def _warnings(value: Presented) -> Sequence[str]:
    return getattr(value, "warnings", ())


def _shown(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def plain(value: object) -> object:
    """Return plain data with what is not finite as None, and keys that are text."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
