"""Pages run as they are printed, command by command, and show what these print.

What takes minutes, because it plans motions, is run by hand:

    SLOW_PAGES=1 .venv/bin/python -m pytest test/test_pages.py
"""

import os
from pathlib import Path

import pytest

from printed_pages import PROGRAM, blocks, run_page, shows

ROOT = Path(__file__).resolve().parents[1]
PAGES = (
    "README.md",
    "docs/quickstart.md",
    "docs/offline.md",
    "docs/calibration.md",
    "docs/choosing_filters.md",
    "docs/datasets.md",
    "docs/didim.md",
    "docs/payload.md",
    "docs/reading_a_report.md",
    "docs/simulation.md",
)
NOT_RUN = {
    "docs/cells.md": "plans motions",
    "docs/diagnosis.md": "names recordings that the reader has",
    "docs/exciting_trajectories.md": "plans motions",
    "docs/friction.md": "names a recording that the reader has",
    "docs/identification.md": "names results that the reader has",
    "docs/live.md": "live nodes",
    "docs/logs.md": "names a log of the reader; test_python_page.py runs its program",
    "docs/many_bags.md": "names bags that the reader has",
    "docs/one_joint.md": "names bags that the reader has",
    "docs/outputs.md": "names results that the reader has",
    "docs/own_robot.md": "plans motions; files and programs of the reader between the commands",
    "docs/periodic.md": "names bags that the reader has",
}
"""Pages whose commands are parsed only (test_docs.py), and why."""

SLOW = bool(os.environ.get("SLOW_PAGES"))

TABLE = """2 base parameters of scara (wls)
parameter     value     std
ZZ1R       3.451125  0.0018  ZZ1 + Ia1 + 0.25 M2
Fv1       0.0416109  0.0019  Fv1
condition number 3.97049, 2047 rows, 0.83 s
"""


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_a_page_runs_as_it_is_printed(page, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    pytest.importorskip("clarabel")
    monkeypatch.chdir(tmp_path)
    done = run_page(ROOT / page, tmp_path, slow=SLOW)
    if done.without_data:
        pytest.skip(f"without the recording that these need: {', '.join(done.without_data)}")
    assert done.ran


def test_every_page_with_commands_is_run_or_says_why_not():
    shown = {
        str(page.relative_to(ROOT))
        for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
        if any(b.is_commands and b.text.startswith(PROGRAM) for b in blocks(page))
    }
    assert shown == {*PAGES, *NOT_RUN}


@pytest.mark.parametrize(
    "shown",
    [
        "ZZ1R 3.451125 0.0018 ZZ1 + Ia1 + 0.25 M2",
        "ZZ1R 3.451126 0.0018 ZZ1 + Ia1 + ...",
        "ZZ1R 3.4511 0.0018 ...",
        "parameter value std\n...\nFv1 0.0416109 0.0019 Fv1",
        "condition number 3.97049, 2047 rows, 1.01 s",
    ],
)
def test_a_part_of_what_is_printed_may_be_shown(shown):
    assert shows(shown, TABLE)


@pytest.mark.parametrize(
    "shown",
    [
        "ZZ1R 3.451127 0.0018 ...",  # another digit than that of rounding
        "ZZ1R 3.45 0.003 ...",
        "Fv2 0.0416109 0.0019 Fv1",
        "parameter value std\nFv1 0.0416109 0.0019 Fv1",  # a line between them is not shown
        "Fv1 0.0416109 0.0019 Fv1\n...\nZZ1R 3.451125 ...",  # another order
        "condition number 3.97049, 2048 rows, 1.01 s",  # rows are counted, not rounded
    ],
)
def test_what_is_not_printed_is_found(shown):
    assert not shows(shown, TABLE)


def test_a_command_that_fails_and_one_that_nobody_runs_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("    robot-identification identify scara nothing\n")
    with pytest.raises(AssertionError, match=r"page.md:1: .* ends with 2\n.*does not exist"):
        run_page(page, tmp_path)
    page.write_text("Text.\n\n    make demo\n")
    with pytest.raises(AssertionError, match=r"page.md:3: make is not run by tests: mark"):
        run_page(page, tmp_path)
    page.write_text("<!-- not run: starts nodes -->\n\n    make demo\n\n    60 parameters\n")
    assert run_page(page, tmp_path).ran == ()


def test_blocks_of_a_page_are_found_with_their_markers(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "Text.\n\n    make demo\n\n<!-- not run: nodes -->\n\n    ros2 run\n\n    more\n\n"
        "    and more\n\n```python\nprint(1)\n```\n"
    )
    read = [(b.line, b.marker, b.language, b.text.strip()) for b in blocks(page)]
    assert read == [
        (3, "", "", "make demo"),
        (7, "not run: nodes", "", "ros2 run"),
        (9, "not run: nodes", "", "more\n\nand more"),
        (14, "", "python", "print(1)"),
    ]
