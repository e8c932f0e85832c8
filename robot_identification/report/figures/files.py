"""Figures as files."""

from __future__ import annotations

import io

from matplotlib.figure import Figure


def png(figure: Figure) -> bytes:
    """Return a figure as a PNG file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110)
    return buffer.getvalue()
