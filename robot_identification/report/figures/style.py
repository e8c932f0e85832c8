"""Style of the figures of a report, and how they become parts of a page."""

from __future__ import annotations

import base64
import io
import re
import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter


def png(figure: Figure) -> bytes:
    """Return a figure as a PNG file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110)
    return buffer.getvalue()


MEASURED, PREDICTED, RESIDUAL = "#3b6ea5", "#e0812b", "#7d8894"
INK, MUTED, FAINT, LINES = "#1f2933", "#5f6b76", "#b9c2cb", "#d9dee3"
JOINTS = ("#3b6ea5", "#e0812b", "#3f8f5f", "#a8527d", "#7a6bb0", "#8a7a3c", "#4f9da6", "#b5523b")
WIDE, NARROW, HALF = 9.6, 4.3, 4.6  # widths in inches
_LEFT, _RIGHT = 0.68, 0.12  # margins in inches
_LONGEST_NAME = 32
_PNG_DPI = 150
_FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
_STYLE = {
    "font.family": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.labelsize": 8.5,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "text.color": INK,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": "#aab3bc",
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": False,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "grid.color": LINES,
    "grid.linewidth": 0.6,
    "text.parse_math": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "report",
    "path.simplify_threshold": 0.4,
}


@contextmanager
def drawing() -> Iterator[None]:
    """Draw and save in the style of the report; glyphs that the font lacks are no matter."""
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


@contextmanager
def names_as_text() -> Iterator[None]:
    """Draw names as they stand, in which ``$`` begins no formula."""
    with mpl.rc_context({"text.parse_math": _STYLE["text.parse_math"]}):
        yield


def plain(name: str, longest: int = _LONGEST_NAME) -> str:
    """Return a name of a file as it can stand in a figure: one short line of printable text."""
    text = "".join(
        c if unicodedata.category(c)[0] != "C" else "\N{REPLACEMENT CHARACTER}" for c in name
    )
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def svg_data(figure: Figure) -> str:
    """Return a figure as the address of an image that holds all of itself."""
    buffer = io.BytesIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(buffer, format="svg", metadata=nothing)
    text = buffer.getvalue().decode("utf-8")
    text = re.sub(r'\bd="[^"]*"', lambda path: _short_numbers(path.group()), text)
    text = text.replace("'DejaVu Sans'", _FONTS)
    return f"data:image/svg+xml;base64,{base64.b64encode(text.encode('utf-8')).decode('ascii')}"


def _short_numbers(path: str) -> str:
    return re.sub(r"(\.\d\d)\d+", r"\1", path).replace(" \n", " ")


def png_file(figure: Figure) -> bytes:
    """Return a figure as a PNG file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_PNG_DPI, metadata={"Software": None})
    return buffer.getvalue()


def sheet(width: float, height: float, *, top: float = 0.3, bottom: float = 0.45) -> Figure:
    """Return an empty figure whose margins leave room for labels and titles.

    Fixed margins take a third of the time of those that are measured.

    Args:
        width: in inches.
        height: in inches.
        top: margin above the panels, in inches.
        bottom: margin below them, in inches.
    """
    figure = Figure(figsize=(width, height))
    figure.subplots_adjust(
        left=_LEFT / width,
        right=1.0 - _RIGHT / width,
        top=1.0 - top / height,
        bottom=bottom / height,
    )
    return figure


def titled(panel: Axes, title: str, remark: str = "", *, longest: int = _LONGEST_NAME) -> None:
    """Write a name at the upper left of a panel, and a remark at the upper right."""
    panel.set_title(plain(title, longest), loc="left", fontweight="bold", color=INK)
    if remark:
        panel.set_title(remark, loc="right", fontsize=8.0, color=MUTED)


def decades(panel: Axes) -> None:
    """Make the vertical axis logarithmic, with plain numbers."""
    panel.set_yscale("log")
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _place: f"{value:g}"))
    panel.yaxis.set_minor_formatter(FuncFormatter(lambda _value, _place: ""))
