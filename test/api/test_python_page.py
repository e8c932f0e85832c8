"""Pages of Python run as they are printed."""

import contextlib
import io
import re
from pathlib import Path

import numpy as np
import pytest

import robot_identification as ri

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE, LOGS = DOCS / "python.md", DOCS / "logs.md"
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def run(page, folder, monkeypatch):
    """Run the blocks of a page one after the other; return their number and their names."""
    monkeypatch.chdir(folder)
    blocks, names = BLOCK.findall(page.read_text(encoding="utf-8")), {}
    for code, expected in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(page), "exec"), names)
        assert printed.getvalue() == expected
    return len(blocks), names


@pytest.mark.slow
def test_the_page_runs_and_prints_what_it_says(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    count, _ = run(PAGE, tmp_path, monkeypatch)
    assert count > 5
    assert "<inertial>" in (tmp_path / "scara.urdf").read_text()


@pytest.mark.slow
def test_tables_and_bags_made_of_a_log_are_the_same_recording(tmp_path, monkeypatch):
    count, names = run(LOGS, tmp_path, monkeypatch)
    assert count == 3
    (bag,) = ri.read_bags("scara", "log_bag")
    (table,) = names["recordings"]
    for recording in (bag, table):
        assert recording.samples == names["recording"].samples
        found = ri.identify("scara", [recording]).estimate.values
        np.testing.assert_allclose(found, names["result"].estimate.values, rtol=1e-6, atol=1e-9)


def test_from_a_bag_to_a_urdf_in_ten_lines():
    code, _ = next(b for b in BLOCK.findall(PAGE.read_text(encoding="utf-8")) if "urdf=" in b[0])
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
