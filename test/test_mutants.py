"""The study of mutants: what it changes is changed, and the tests that it names are there."""

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
        [sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "outcomes: survived killed" in done.stdout, done.stdout + done.stderr


def test_functions_stay_in_their_lines_where_a_number_begins_one(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from mutation.mutants import mutants_of, places_of

    path = tmp_path / "module.py"
    path.write_text(
        "def one():\n    return max(\n        1.5, one\n    )\n\n\ndef two():\n    pass\n"
    )
    found = list(mutants_of(path, places_of(path)))
    assert {mutant.line for mutant in found} == {3}
    for mutant in found:
        assert mutant.source.splitlines()[6:] == ["def two():", "    pass"]


def test_tests_of_every_module_are_there(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from mutation.targets import TARGETS

    for module, tests in TARGETS.items():
        assert (ROOT / "robot_identification" / f"{module.replace('.', '/')}.py").is_file(), module
        for test in tests:
            assert (ROOT / test.removeprefix("--deselect=").partition("::")[0]).exists(), test
