"""``identify`` of motions that repeat, as a user calls it."""

import numpy as np
import pytest

from periodic_motions import PERIOD, START, periodic_recording
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.robot.files.loading import load_robot
from robot_identification.signals.raw_samples import RawSamples

PLAN = """family: fourier
periodic: {base_frequency: 0.25, harmonics: 4, periods: 4, begins: 1.5}
"""


def _written(path, recording):
    segment = recording.segments[0]
    stamps = START + np.rint(segment.time * 1e9).astype(np.int64)
    samples = RawSamples(stamps, segment.position, None, segment.effort)
    write_joint_states(path, load_robot("scara").joint_names, samples, storage="sqlite3")
    return path


@pytest.fixture
def bag(tmp_path):
    return _written(tmp_path / "bag", periodic_recording())


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN)
    return path


def test_a_plan_and_its_period_give_the_same(run, bag, plan):
    by_plan = run("identify", "scara", bag, "--plan", plan)
    by_period = run("identify", "scara", bag, "--period", PERIOD)
    assert by_plan["parameters"] == by_period["parameters"]
    told = by_plan["periodic"]["recordings"][0]
    assert told["periods"] == told["planned_periods"] == 4
    assert told["stated_period"] == PERIOD
    assert told["harmonics"] == {"joint_1": 4, "joint_2": 4}
    assert told["drifts"] is False
    assert {joint["joint"] for joint in told["drift"]} == {"joint_1", "joint_2"}
    assert by_plan["settings"]["rate_hz"]["reason"].startswith("derived: decimation passes 2 x")


def test_drift_is_printed_and_warned_of(capsys, tmp_path):
    from robot_identification.cli.main import main

    drifting = _written(tmp_path / "drifting", periodic_recording(drift=0.1))
    assert main(["identify", "scara", str(drifting), "--period", str(PERIOD)]) == 0
    printed = capsys.readouterr()
    assert "4 periods of 4 s" in printed.out
    assert "drifts" in printed.out
    assert "the periods drift: friction of joint_1" in printed.out + printed.err


def test_harmonics_can_be_stated(run, bag, plan):
    found = run("identify", "scara", bag, "--plan", plan, "--harmonics", 6)
    assert found["periodic"]["recordings"][0]["harmonics"] == {"joint_1": 6, "joint_2": 6}


def test_the_result_validates_and_calibrates_as_any_other(run, bag, tmp_path):
    result = tmp_path / "result.yaml"
    run("identify", "scara", bag, "--period", PERIOD, "-o", result)
    error = run("validate", "scara", result, bag)["relative_error"]["total"]
    assert error < 0.05


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--period", "5.1"], "the motion repeats every 4 s"),
        (["--period", "-1"], "must be positive"),
        (["--period", "30"], "less than two periods"),
        (["--harmonics", "3"], "needs --plan or --period"),
        (["--period", "4", "--cutoff", "10"], "averaged over its periods has no use for it"),
        (["--period", "4", "--essential"], "does not go with an average over periods"),
        (["--period", "4", "--robust", "huber"], "does not go with an average over periods"),
        (["--period", "4", "--sensitivity"], "has no cut-off"),
        (["--period", "4", "--method", "energy"], "need ols or wls"),
        (["--period", "4", "--method", "didim"], "works with the methods ols and wls"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_reason(refusal, bag, arguments, said):
    code, line = refusal("identify", "scara", bag, *arguments)
    assert code == 2
    assert said in line


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("joint_names: [joint_1]\n", "no plan of a motion that repeats"),
        ("family: quintic\nperiodic: {base_frequency: 0.25}\n", "no plan of a motion that"),
        ("family: fourier\nperiodic: {base_frequency: 0, harmonics: 4}\n", "positive number"),
        (PLAN.replace("harmonics: 4", "harmonics: 4.5"), "whole number"),
        (PLAN.replace("periods: 4, ", ""), "periods = None"),
        (PLAN.replace("0.25", "fast"), "base_frequency = 'fast'"),
    ],
)
def test_a_plan_that_says_of_no_period_is_refused(refusal, bag, tmp_path, text, said):
    path = tmp_path / "other.yaml"
    path.write_text(text)
    code, line = refusal("identify", "scara", bag, "--plan", path)
    assert code == 2
    assert said in line


def test_a_plan_and_a_period_are_one_too_many(refusal, bag, plan):
    code, line = refusal("identify", "scara", bag, "--plan", plan, "--period", "4")
    assert code == 2
    assert "give one of them" in line
