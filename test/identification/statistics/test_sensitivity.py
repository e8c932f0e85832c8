"""How much an estimate hangs on the cut-off: what is changed, and how the change is told."""

from dataclasses import replace

import numpy as np
import pytest

from made_up_results import made_up_result
from robot_identification.errors import NotExcitedError, NotPredictiveError, SettingError
from robot_identification.files.bags.recordings import read_recordings
from robot_identification.identification.estimators.least_squares import RelativeError
from robot_identification.identification.identify import identify
from robot_identification.identification.statistics import sensitivity
from robot_identification.identification.statistics.cross_validation import CrossValidation
from robot_identification.identification.statistics.sensitivity import (
    CutoffChange,
    cutoff_sensitivity,
    describe_change,
    sensitivity_entries,
)
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.processing import ProcessingSettings
from shared_data import measured_data, requires

NAMES = ("A", "B", "C", "D")


@pytest.fixture(scope="module")
def result():
    robot = load_robot("scara")
    return made_up_result(robot, load_values("scara", robot), np.random.default_rng(0), noise=0.1)


def changed(result, another):
    """Return the change from a result to another at 6 Hz."""
    return sensitivity._change(result, result.estimate.values, another, 6.0)


def other(result, values, *, error=0.25, validation=None):
    """Return the result of another cut-off."""
    told = RelativeError(error, np.full(2, error))
    estimate = replace(result.estimate, values=np.asarray(values), relative_error=told)
    return replace(result, estimate=estimate, cross_validation=validation)


def test_half_and_twice_the_cut_off_are_tried_with_all_else_as_it_was(result, monkeypatch):
    settings = ProcessingSettings(cutoff_hz=12.0, rate_hz=20.0, velocity_threshold=(0.1, 0.2))
    monkeypatch.setattr(sensitivity, "settings_of", lambda _: settings)
    asked = []

    def identify(robot, recordings, **options):
        asked.append((robot, recordings, options))
        if len(asked) == 1:
            raise NotExcitedError(("A",), 1e9)
        return other(result, result.estimate.values)

    monkeypatch.setattr(sensitivity, "identify", identify)
    given = {"essential": object(), "weighting": object(), "robust": object()}
    given["held_out_fraction"] = 0.25
    found = cutoff_sensitivity("robot", ["bag"], result, cancelled=bool, **given)
    for cutoff, (robot, recordings, options) in zip((6.0, 24.0), asked, strict=True):
        assert (robot, recordings) == ("robot", ["bag"])
        overrides = replace(settings, cutoff_hz=cutoff)
        expected = {"method": "wls", "overrides": overrides, "cancelled": bool, **given}
        assert options == expected
    assert [change.cutoff_hz for change in found] == [6.0, 24.0]
    assert "A" in found[0].problem
    assert np.isnan(found[0].relative_error)
    assert len(found[0].changes) == 0
    assert found[1].problem == ""
    np.testing.assert_array_equal(found[1].changes, 0.0)


@pytest.mark.parametrize("option", ["stated", "coulomb-viscous", "auto"])
@pytest.mark.parametrize("chosen", [False, True])
def test_friction_is_chosen_as_for_the_result_and_terms_that_were_chosen_stay(
    result, monkeypatch, option, chosen
):
    settings = ProcessingSettings(cutoff_hz=12.0)
    monkeypatch.setattr(sensitivity, "settings_of", lambda _: settings)
    asked = []

    def identify(_robot, _recordings, **options):
        asked.append(options.get("friction", "stated"))
        return other(result, result.estimate.values)

    monkeypatch.setattr(sensitivity, "identify", identify)
    monkeypatch.setattr(type(result), "model_of", lambda _, robot: robot)
    before = replace(result, friction=object() if chosen else None)
    cutoff_sensitivity("robot", ["bag"], before, friction=option)
    assert asked == 2 * ["stated" if chosen else option]


def asked_of(result, monkeypatch, reason):
    """Return what is asked for where ends were kept, for a reason, and what is found."""
    settings = ProcessingSettings(
        cutoff_hz=12.0, rate_hz=20.0, velocity_threshold_window=0.2, ends="keep", drop_start=7
    )
    kept = {
        "ends": {"value": "keep", "reason": reason},
        "drop_start": {"value": 7, "reason": "option"},
    }
    kept_result = replace(result, settings={**result.settings, **kept})
    monkeypatch.setattr(sensitivity, "settings_of", lambda _: settings)
    asked = []

    def identify(_robot, _recordings, *, overrides, **_options):
        asked.append(overrides)
        return other(result, result.estimate.values + len(asked))

    monkeypatch.setattr(sensitivity, "identify", identify)
    return settings, asked, cutoff_sensitivity("robot", ["bag"], kept_result)


@pytest.mark.parametrize("kept", [True, False])
def test_a_result_stands_where_nothing_is_identified_with_other_filters(result, monkeypatch, kept):
    """Blocks may be predicted worse than by zero with half the cut-off, or cut ends leave none."""
    settings = ProcessingSettings(cutoff_hz=12.0, ends="keep" if kept else "cut")
    monkeypatch.setattr(sensitivity, "settings_of", lambda _: settings)

    def identify(_robot, _recordings, **_options):
        raise NotPredictiveError(1.2, {"block 1": 1.2})

    monkeypatch.setattr(sensitivity, "identify", identify)
    found = cutoff_sensitivity("robot", ["bag"], result)
    assert [change.cutoff_hz for change in found] == [6.0, 24.0]
    assert all("zero" in change.problem for change in found)
    assert [change.kept_ends_cut for change in found] == [kept, kept]


@pytest.mark.parametrize("reason", ["robot file", "derived: nothing moves there", ""])
def test_ends_that_are_kept_for_the_cut_off_are_cut_with_another_and_in_what_is_compared(
    result, monkeypatch, reason
):
    settings, asked, found = asked_of(result, monkeypatch, reason)
    cut = replace(settings, ends="cut")  # the samples to drop are an option
    assert asked == [replace(cut, cutoff_hz=cutoff) for cutoff in (12.0, 6.0, 24.0)]
    # The first of three answers is the one that the others are compared with.
    for change, difference in zip(found, (1.0, 2.0), strict=True):
        moved = other(result, result.estimate.values + difference)
        np.testing.assert_allclose(change.changes, changed(result, moved).changes, rtol=1e-6)
    entries = sensitivity_entries(found, NAMES)
    assert [entry["kept_ends_cut"] for entry in entries] == [True, True]


def test_ends_that_an_option_keeps_are_kept_with_every_cut_off(result, monkeypatch):
    settings, asked, found = asked_of(result, monkeypatch, "option")
    assert asked == [replace(settings, cutoff_hz=cutoff) for cutoff in (6.0, 24.0)]
    assert not any(change.kept_ends_cut for change in found)


@requires("emps")
def test_half_the_cut_off_of_emps_is_not_blamed_for_the_ends_that_it_would_spoil():
    robot = load_robot("emps")
    recordings = read_recordings([measured_data("emps") / "bag"], robot)
    result = identify(robot, recordings)
    half, _ = cutoff_sensitivity(robot, recordings, result)
    # With ends that only 100 Hz spare it was 0.052.
    assert half.relative_error == pytest.approx(result.estimate.relative_error.total, rel=0.02)
    assert np.abs(half.changes).max() < 0.3


def test_without_a_cut_off_there_is_nothing_to_change(result, monkeypatch):
    monkeypatch.setattr(sensitivity, "settings_of", lambda _: ProcessingSettings())
    with pytest.raises(SettingError, match="filters no positions"):
        cutoff_sensitivity(None, [], result)


def test_changes_are_in_standard_deviations_the_robust_ones_where_there_are_some(result):
    std = result.estimate.std
    moved = other(result, result.estimate.values + 3.0 * std)
    found = changed(result, moved)
    np.testing.assert_allclose(found.changes, 3.0)
    assert (found.cutoff_hz, found.relative_error) == (6.0, 0.25)
    assert found.cross_validation_error is None
    robust = replace(result, estimate=replace(result.estimate, std_robust=2.0 * std))
    np.testing.assert_allclose(changed(robust, moved).changes, 1.5)
    exact = replace(result, estimate=replace(result.estimate, std=np.zeros(len(std))))
    assert np.isfinite(changed(exact, moved).changes).all()


def test_the_error_of_the_cross_validation_is_kept_where_there_is_one(result):
    values = result.estimate.values
    for error, expected in ((None, None), (RelativeError(0.5, np.zeros(2)), 0.5)):
        moved = other(result, values, validation=CrossValidation("bags", (), error))
        assert changed(result, moved).cross_validation_error == expected


def test_a_change_is_told_by_its_three_largest_parts_beyond_two_deviations():
    change = CutoffChange(6.0, 0.25, 0.5, np.array([2.1, -9.0, 2.0, 4.0]))
    told = describe_change(change, NAMES)
    assert told == ("0.250000", "0.500000", "3.05", "B -9.0, D +4.0, A +2.1")
    many = replace(change, changes=np.array([3.0, -9.0, 5.0, 4.0]))
    assert describe_change(many, NAMES)[3] == "B -9.0, C +5.0, D +4.0"
    few = replace(change, changes=np.array([1.9, -9.0, 0.5, 2.0]))
    assert describe_change(few, NAMES)[3] == "B -9.0"
    small = CutoffChange(6.0, 0.25, None, np.array([2.0, -2.0]))
    assert describe_change(small, NAMES) == ("0.250000", "-", "2.00", "all within 2")
    none = CutoffChange(6.0, np.nan, None, np.empty(0), "too short")
    assert describe_change(none, NAMES) == ("-", "-", "-", "too short")


def test_plain_data_hold_every_change():
    change = CutoffChange(6.0, 0.25, 0.5, np.array([1.0, -3.0, 2.0, 7.0]))
    none = CutoffChange(24.0, np.nan, None, np.empty(0), "too short")
    first, second = sensitivity_entries((change, none), NAMES)
    assert first == {
        "cutoff_hz": 6.0,
        "relative_error": 0.25,
        "cross_validation_error": 0.5,
        "median_change_in_std": 2.5,
        "change_in_std": {"A": 1.0, "B": -3.0, "C": 2.0, "D": 7.0},
        "problem": "",
        "kept_ends_cut": False,
    }
    assert second["median_change_in_std"] is None
    assert second["change_in_std"] == {}
    assert second["problem"] == "too short"


@pytest.mark.parametrize(("size", "floor"), [(0.25, 1.0), (1.0, 1.0), (4.0, 4.0)])
def test_what_is_known_exactly_is_known_to_rounding(result, size, floor):
    """Of the largest value, or of 1 where all are smaller: in steps of 2^-52 of it."""
    values = np.zeros(len(result.estimate.values))
    values[0] = -size
    estimate = replace(result.estimate, values=values, std=np.zeros(len(values)), std_robust=None)
    exact = replace(result, estimate=estimate)
    moved = values + 3.0 * 2.0**-50
    found = sensitivity._change(exact, values, other(result, moved), 6.0)
    np.testing.assert_allclose(found.changes[1:], 12.0 / floor)
