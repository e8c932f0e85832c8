"""The study of mutants: what it changes is changed, and the tests that it names are there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STUDY = """
import sys
sys.path.insert(0, "benchmarks")
from mutation.runs import Nursery

def study(nursery):
    source = nursery.path.read_text(encoding="utf-8")
    line = next(i for i, text in enumerate(source.splitlines(), 1) if {old!r} in text)
    lines = {lines}
    print("outcomes:", nursery.outcome(source, lines),
          nursery.outcome(source.replace({old!r}, {new!r}), lines))

Nursery("robot_identification.{module}", ["{tests}"], study)
"""


@pytest.mark.parametrize(
    ("module", "tests", "old", "new", "lines"),
    [
        (
            "ros.supervision.clock",
            "test/ros/supervision/test_clock.py",
            "(self.steady - before.steady) / NANO",
            "(self.steady + before.steady) / NANO",
            "(line, line)",
        ),
        (
            "signals.positions.held_joints",
            "test/signals/positions/test_held_joints.py",
            "_TOLD = 0.01",
            "_TOLD = 1.01",
            "None",
        ),
    ],
)
def test_a_fault_is_found_in_nodes_and_elsewhere(module, tests, old, new, lines):
    text = STUDY.format(module=module, tests=tests, old=old, new=new, lines=lines)
    done = subprocess.run(
        [sys.executable, "-c", text],
        cwd=ROOT,
        env={**os.environ, "PYTEST_ADDOPTS": "--numprocesses=2"},  # as within `colcon test`
        capture_output=True,
        text=True,
        check=False,
    )
    assert "outcomes: survived killed" in done.stdout, done.stdout + done.stderr


def test_functions_stay_in_their_lines_where_a_number_begins_one(monkeypatch):
    """The break of the line before the number goes with it."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from mutation.runs import in_their_lines

    module = "def one():\n    return max(\n{number}, one\n    )\n\n\ndef two():\n    pass\n"
    source = module.replace("{number}", "        1.5")
    changed = in_their_lines(source, module.replace("\n{number}", " 2.5"))
    assert changed.splitlines()[1] == "    return max( 2.5, one"
    assert changed.splitlines()[6:] == ["def two():", "    pass"]
    as_long = source.replace("1.5", "2.5")
    assert in_their_lines(source, as_long) == as_long


def test_tests_of_every_module_are_there(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from mutation.targets import TARGETS

    for module, tests in TARGETS.items():
        assert (ROOT / "robot_identification" / f"{module.replace('.', '/')}.py").is_file(), module
        for test in tests:
            assert (ROOT / test.removeprefix("--deselect=").partition("::")[0]).exists(), test
