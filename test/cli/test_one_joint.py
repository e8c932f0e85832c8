"""One joint at a time on the command line: plan, verify, identify."""

import json

import pytest

from robot_identification.cli.main import main
from robot_identification.files.plans.plans import read_plan
from robot_identification.robot.files.loading import load_robot

EXCITE = ["excite", "stanford", "--method", "one-joint", "--json"]


def test_a_plan_and_its_keys(tmp_path, capsys):
    path = tmp_path / "plan.yaml"
    assert main([*EXCITE, "-o", str(path)]) == 0
    document = json.loads(capsys.readouterr().out)
    for key in ("condition_number", "equilibrium", "rows", "points", "duration", "optimizer",
                "seconds", "certificate"):  # fmt: skip
        assert key in document
    assert document["method"] == "one-joint"
    assert document["missing_parameters"] == {}
    assert document["unknown_base_parameters"] == []
    assert set(document["certificate"].values()) == {True}
    assert sum(len(block["parameters"]) for block in document["blocks"]) == 33
    assert document["rows"] == len(document["experiments"])
    assert all(entry["creeps"] is None for entry in document["experiments"])
    trajectory, certificate = read_plan(path, load_robot("stanford"))
    assert certificate.digest == document["sha256"]
    assert trajectory.duration == document["experiments"][-1]["end"] or (
        trajectory.duration > document["experiments"][-1]["end"]
    )
    assert main(["excite", "stanford", "--verify", str(path)]) == 0


def test_people_read_what_is_missing_and_why(tmp_path, capsys):
    command = ["excite", "scara", "--method", "one-joint", "-o", str(tmp_path / "x.yaml")]
    assert main([*command, "--locked", "joint_2", "--profile", "damped"]) == 0
    shown = capsys.readouterr().out
    assert "joint_2 is locked" in shown
    assert "base parameters that stay unknown" in shown
    assert "58" in shown


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (["--locked", "elbow"], "no joint has this name"),
        (["--rows", "30"], "--rows"),
        (["--travel", "-1"], "travel"),
        (["--starts", "3"], "--starts"),
        (["--criterion", "svd"], "--criterion"),
        (["--optimizer", "all"], "--optimizer"),
    ],
)
def test_bad_options_are_refused(extra, words, tmp_path, capsys):
    assert main([*EXCITE, "-o", str(tmp_path / "x.yaml"), *extra]) == 2
    assert words in capsys.readouterr().err


def test_a_tree_is_refused(tmp_path, capsys):
    command = ["excite", "hitachi_hpr", "--method", "one-joint", "-o", str(tmp_path / "x.yaml")]
    assert main(command) == 2
    assert "one-joint" not in capsys.readouterr().out
