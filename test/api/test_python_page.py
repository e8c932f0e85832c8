"""docs/python.md runs as it is printed."""

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_page_runs_and_prints_what_it_says(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    names = {}
    for code, expected in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(PAGE), "exec"), names)
        assert printed.getvalue() == expected
    assert len(blocks) > 5
    assert "<inertial>" in (tmp_path / "scara.urdf").read_text()


def test_from_a_bag_to_a_urdf_in_ten_lines():
    code, _ = next(b for b in BLOCK.findall(PAGE.read_text(encoding="utf-8")) if "urdf=" in b[0])
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
