"""Results of a recording that still runs, asked for again and again."""

from dataclasses import replace

import numpy as np
import pytest

from long_recordings import BASE, RATE, ROBOT, TRUTH, blocks_of, samples
from robot_identification.errors import CancelledError, NotExcitedError, RecordingError
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.identification.estimators.estimator import Choice
from robot_identification.identification.identify import identify
from robot_identification.identification.rows.growing import is_streamed
from robot_identification.identification.rows.growing_identification import (
    SETTLE,
    GrowingIdentification,
)
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.conditioning import joint_side_recording
from robot_identification.signals.raw_samples import RawSamples, joined_samples

WLS = Choice("wls")


def growing(blocks, *, portions=1, overrides=None):
    found = GrowingIdentification(ROBOT, BASE, "run", overrides or ProcessingSettings())
    for part in np.array_split(np.arange(len(blocks)), portions):
        found.push([blocks[i] for i in part])
    return found


def whole(raw, **options):
    return identify(ROBOT, [joint_side_recording(raw, ROBOT, source="run")], **options)


@pytest.fixture(scope="module")
def blocks():
    return blocks_of(samples(150.0))


@pytest.mark.parametrize(
    ("choice", "options"),
    [
        (WLS, {}),
        (Choice("ols"), {"method": "ols"}),
        (Choice("wls", EliminationRule()), {"essential": EliminationRule()}),
    ],
)
def test_the_result_is_that_of_the_whole_recording(blocks, choice, options):
    result = growing(blocks).result(choice)
    same = ProcessingSettings(
        **{
            name: tuple(value) if isinstance(value, list) else value
            for name in vars(ProcessingSettings())
            for value in [result.settings[name]["value"]]
        }
    )
    other = whole(joined_samples(blocks), overrides=same, **options)
    assert result.method == other.method
    difference = np.abs(result.estimate.values - other.estimate.values)
    assert (difference < 2.0 * other.estimate.std_robust + 1e-12).all()
    np.testing.assert_allclose(result.estimate.std, other.estimate.std, rtol=0.1)
    np.testing.assert_allclose(result.estimate.std_robust, other.estimate.std_robust, rtol=0.2)
    assert result.cross_validation.scheme == "blocks"
    ours, theirs = (r.cross_validation.error.total for r in (result, other))
    assert ours == pytest.approx(theirs, rel=0.1)
    assert [sum(fold.rows) for fold in result.cross_validation.folds] == pytest.approx(
        [sum(fold.rows) for fold in other.cross_validation.folds], rel=0.35
    )
    times = [fold.name for fold in result.cross_validation.folds]
    assert len(times) == 5
    assert float(times[1].split()[0]) == pytest.approx(30.0, abs=5.0)
    assert (result.elimination is None) == (other.elimination is None)


def test_the_result_is_near_the_truth_and_tells_from_what_its_settings_are(blocks):
    known = joint_side_recording(joined_samples(blocks[:60]), ROBOT, source="run")
    result = growing(blocks).result(WLS, replace(known, warnings=("run: lost its way",)))
    assert (np.abs(result.estimate.values - TRUTH) < 5.0 * result.estimate.std_robust + 1e-3).all()
    reason = result.settings["cutoff_hz"]["reason"]
    seconds = float(reason.split("from the first ")[1].split()[0])
    assert SETTLE <= seconds < 1.3 * SETTLE
    assert result.warnings[0] == "run: lost its way"
    assert result.sources[0].samples == 150 * RATE
    assert not is_streamed(result)


def test_it_does_not_matter_how_often_somebody_has_asked(blocks):
    at_once, often = growing(blocks).result(WLS), growing(blocks, portions=71).result(WLS)
    assert at_once.estimate.rows == often.estimate.rows
    assert at_once.settings == often.settings
    np.testing.assert_allclose(at_once.estimate.values, often.estimate.values, rtol=1e-8)
    np.testing.assert_allclose(at_once.estimate.std_robust, often.estimate.std_robust, rtol=1e-6)


def test_a_recording_without_enough_motion_has_no_settings_yet(blocks):
    short = growing(blocks_of(samples(30.0, rest=90.0)))
    assert short.settled_at is None
    with pytest.raises(RecordingError, match="no row is left of 24000 samples yet"):
        short.result(WLS)
    long = growing(blocks_of(samples(90.0, rest=90.0)))
    assert long.settled_at > blocks[0].stamps[0] + 140_000_000_000
    assert (np.abs(long.result(WLS).estimate.values - TRUTH) < 0.05 * np.abs(TRUTH) + 0.05).all()


def test_settings_that_are_stated_hold_from_the_first_second(blocks):
    stated = ProcessingSettings(cutoff_hz=20.0, rate_hz=20.0, velocity_threshold=(0.05, 0.05))
    early = growing(blocks[:200], overrides=stated)
    assert early.settled_at < blocks[0].stamps[0] + 2_000_000_000
    reasons = [entry["reason"] for entry in early.result(WLS).settings.values()]
    assert reasons.count("option") == 3


SPLIT = "the recording was split there"


def test_gaps_are_counted_as_in_a_whole_recording(blocks):
    cut = [*blocks[:300], *blocks[310:420], *blocks[422:500], *blocks[501:]]
    found = growing(cut).result(WLS)
    told = [line for line in found.warnings if line.startswith("run: ")]
    assert found.sources[0].bridged == 50
    assert told[0].startswith("run: 50 lost samples bridged, in gaps of at most 0.3")
    assert told[1:] == [
        f"run: 100 samples lost in 1 gaps; {SPLIT}",
        f"run: a pause of 2.5 s in all, in which the robot stood or nothing was recorded; {SPLIT}",
    ]
    assert set(told[1:]) <= set(whole(joined_samples(cut)).warnings)


def test_a_motion_that_tells_too_little_is_refused_and_goes_on(blocks):
    raw = joined_samples(blocks)
    still = np.column_stack([raw.position[:, 0], np.zeros(len(raw.stamps))])
    stated = ProcessingSettings(cutoff_hz=20.0, rate_hz=20.0, velocity_threshold=())
    found = growing(blocks_of(RawSamples(raw.stamps, still, None, raw.effort)), overrides=stated)
    with pytest.raises(NotExcitedError):
        found.result(WLS)


def test_work_that_is_cancelled_stops(blocks):
    with pytest.raises(CancelledError):
        GrowingIdentification(ROBOT, BASE, "run", ProcessingSettings()).push(
            blocks, cancelled=lambda: True
        )


def test_parts_that_are_kept_apart_do_not_grow_in_number():
    stated = ProcessingSettings(cutoff_hz=20.0, rate_hz=100.0, velocity_threshold=(0.05, 0.05))
    found = growing(blocks_of(samples(300.0)), overrides=stated)
    parts = found._stream._rows._parts
    assert 20 <= len(parts) < 40
    assert len({part.instants for part in parts}) == 1
