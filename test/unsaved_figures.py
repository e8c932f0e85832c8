"""Figures of reports that are made and thrown away: most of their time goes into saving them."""

import pytest


@pytest.fixture
def unsaved(monkeypatch):
    """Have figures of pages made and not saved: for tests of what else a page tells."""
    monkeypatch.setattr(
        "robot_identification.report.figures.style.svg_data",
        lambda _figure: "data:image/svg+xml;base64,",
    )
