"""The record of a run: what is of this run, and what another one has left in the folder."""

import json
from pathlib import Path

import pytest

from robot_identification.cli.run import STEPS
from robot_identification.cli.walk.record import FILE, RESULT, NoResultError, RunRecord

RUN = {"recording": "scara-1"}


def of_another_run(folder):
    """Have a folder hold the files of a run that came to its end."""
    record = RunRecord.begin(folder, resumed=False)
    identified(record)
    return record


def identified(record):
    """Have a record say that its run has a result."""
    record.keep("run", RUN)
    path = record.path(RESULT)
    Path(path).write_text("a result")
    record.keep("identify", {"file": path})
    record.keep("validate", {"relative_error": {"total": 0.01}})
    record.keep("calibrate", {"files": []})


def test_a_run_that_begins_moves_the_files_of_another_aside(tmp_path):
    of_another_run(tmp_path)
    for number in (1, 2):
        record = RunRecord.begin(tmp_path, resumed=False)
        assert record.aside is None
        before = (tmp_path / FILE).read_text()
        record.keep("plan", {"hash": f"of {number}"})
        assert record.aside == tmp_path / f"earlier_{number}"
        assert (record.aside / FILE).read_text() == before
        record.keep("run", RUN)
    assert (tmp_path / "earlier_1" / RESULT).read_text() == "a result"
    assert not (tmp_path / RESULT).exists()
    assert json.loads((tmp_path / FILE).read_text())["plan"] == {"hash": "of 2"}
    moved = RunRecord.begin(tmp_path / "earlier_1", resumed=True)
    assert moved.result() == str(tmp_path / "earlier_1" / RESULT)


def test_a_run_that_has_done_nothing_yet_moves_nothing(tmp_path):
    of_another_run(tmp_path)
    RunRecord.begin(tmp_path, resumed=False)
    assert RunRecord.begin(tmp_path, resumed=True).text("run", "recording") == RUN["recording"]


def test_a_result_that_this_run_has_not_made_is_refused(tmp_path):
    (tmp_path / RESULT).write_text("of another motion")
    with pytest.raises(NoResultError, match="not a result of this run"):
        RunRecord.begin(tmp_path, resumed=True).result()


def test_a_run_whose_identification_was_refused_has_no_result(tmp_path):
    RunRecord.begin(tmp_path, resumed=False).keep("run", RUN)
    with pytest.raises(NoResultError, match="take the step identify"):
        RunRecord.begin(tmp_path, resumed=True).result()


def test_a_result_that_was_deleted_is_said_to_be_gone(tmp_path):
    of_another_run(tmp_path)
    (tmp_path / RESULT).unlink()
    with pytest.raises(NoResultError, match="no longer there"):
        RunRecord.begin(tmp_path, resumed=True).result()


def test_where_no_run_has_begun_the_last_result_of_the_node_is_meant(tmp_path):
    assert RunRecord.begin(tmp_path, resumed=True).result() == ""
    assert RunRecord.begin(None, resumed=True).result() == ""


@pytest.mark.parametrize(
    ("step", "left"),
    [
        ("rehearse", ["calibrate", "identify", "rehearse", "run", "validate"]),
        ("run", ["run"]),
        ("identify", ["identify", "run"]),
        ("validate", ["calibrate", "identify", "run", "validate"]),
    ],
)
def test_what_is_about_an_earlier_recording_or_result_goes(tmp_path, step, left):
    record = of_another_run(tmp_path)
    record.keep(step, {})
    assert sorted(record.document) == sorted(json.loads((tmp_path / FILE).read_text())) == left


@pytest.mark.parametrize(
    "steps", [("plan", "run", "calibrate"), ("run", "validate"), ("plan", "validate")]
)
def test_steps_after_which_there_is_no_result_are_refused_before_anything_moves(tmp_path, steps):
    with pytest.raises(NoResultError, match="add the step identify"):
        RunRecord.begin(tmp_path, resumed=False).check(steps)


def test_steps_with_a_result_or_that_need_none_are_taken(tmp_path):
    for steps in (STEPS, ("plan", "run"), ("identify", "calibrate")):
        RunRecord.begin(tmp_path, resumed=False).check(steps)
    of_another_run(tmp_path)
    RunRecord.begin(tmp_path, resumed=True).check(("validate", "calibrate"))
    RunRecord.begin(None, resumed=True).check(("run", "calibrate"))
