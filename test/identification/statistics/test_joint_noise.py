"""Weights that joints have earned, and efforts that nobody measured."""

from dataclasses import replace

import numpy as np
import pytest

from long_recordings import BASE, ROBOT, TRUTH, samples
from robot_identification.errors import AbsurdSamplesError, NoEffortError, NotExcitedError
from robot_identification.files.bags.recordings import read_recordings
from robot_identification.identification.didim.run import identify_didim
from robot_identification.identification.estimators.estimator import Choice
from robot_identification.identification.estimators.least_squares import ordinary, weighted
from robot_identification.identification.identify import identify
from robot_identification.identification.merging import merge_results
from robot_identification.identification.rows.factor import JointFactor, triangle_of
from robot_identification.identification.rows.growing_identification import GrowingIdentification
from robot_identification.identification.statistics.joint_noise import (
    joint_noise,
    refuse_silent_joints,
    weight_warnings,
)
from robot_identification.identification.validate import validate
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.conditioning import joint_side_recording
from robot_identification.signals.raw_samples import RawSamples
from shared_data import measured_data, requires

pytestmark = pytest.mark.usefixtures("undiagnosed")

NAMES = ("A", "B", "C", "D")
VALUES = np.array([2.0, -1.0, 0.5, 3.0])
STATED = ProcessingSettings(cutoff_hz=20.0, rate_hz=20.0, velocity_threshold=(0.05, 0.05))


def factor(joint, columns, rows, noise, seed, effort=1.0):
    rng = np.random.default_rng(seed)
    w = rng.normal(size=(rows, len(columns)))
    y = effort * (w @ VALUES[list(columns)]) + noise * rng.normal(size=rows)
    return JointFactor(joint, np.array(columns), triangle_of(np.column_stack([w, y])), rows)


def noisy(rows, noise=0.1, seed=0):
    """Return a joint that sees everything, and one that sees half of it, in so many rows."""
    return [
        factor("hip", range(4), 400, noise, seed),
        factor("knee", (2, 3), rows, noise, seed + 1),
    ]


@pytest.mark.parametrize("rows", [1, 2, 3, 9])
def test_a_joint_with_hardly_more_rows_than_columns_gets_no_weight_that_it_has_not_earned(rows):
    factors = noisy(rows)
    assert factors[1].own_fit[0] < 0.5  # it is hardly anything, or nothing at all
    estimate = weighted(factors, NAMES)
    assert estimate.weights[1] <= 1.01 * estimate.weights[0] * _effort_ratio(factors)
    errors = [
        np.abs((weighted if way else ordinary)(noisy(rows, seed=seed), NAMES).values - VALUES).max()
        for way in (0, 1)
        for seed in range(0, 200, 2)
    ]
    by_ordinary, by_weighted = np.split(np.array(errors), 2)
    assert np.median(by_weighted) < 1.1 * np.median(by_ordinary)


def _effort_ratio(factors):
    """Return the effort of the first joint over that of the second, root mean squares."""
    first, second = (f.effort_norm / np.sqrt(f.rows) for f in factors)
    return first / second


def test_a_joint_with_enough_rows_is_weighted_by_its_own_noise():
    noise = joint_noise([factor("hip", range(4), 400, 0.1, 0), factor("knee", (2, 3), 40, 0.02, 1)])
    assert noise.told.all()
    np.testing.assert_allclose(noise.deviations, [0.1, 0.02], rtol=0.3)


def test_where_no_joint_has_enough_rows_all_count_alike():
    factors = [factor("hip", range(4), 7, 0.1, 0), factor("knee", (2, 3), 4, 0.1, 1)]
    estimate = weighted(factors, NAMES)
    np.testing.assert_array_equal(estimate.weights, 1.0)
    np.testing.assert_array_equal(estimate.values, ordinary(factors, NAMES).values)


def test_efforts_that_are_explained_to_rounding_count_alike():
    factors = [factor("hip", range(4), 400, 0.0, 0), factor("knee", (2, 3), 40, 0.0, 1)]
    np.testing.assert_array_equal(weighted(factors, NAMES).weights, 1.0)
    assert weight_warnings(factors) == ()


def test_a_joint_that_is_explained_to_rounding_gets_no_weight_that_it_has_not_earned():
    """As the offset of a joint explains the efforts of a sensor that is stuck."""
    factors = [factor("hip", range(4), 400, 0.1, 0), factor("knee", (2, 3), 40, 0.0, 1)]
    estimate = weighted(factors, NAMES)
    assert estimate.weights[1] <= 1.01 * estimate.weights[0] * _effort_ratio(factors)
    (told,) = weight_warnings(factors)
    assert told.startswith("the efforts of knee are explained to rounding, as no measured ones are")


def test_columns_of_rounding_are_no_rank_and_take_no_degree_of_freedom():
    rng = np.random.default_rng(0)
    w = rng.normal(size=(1000, 4)) * np.array([1.0, 1e-3, 3e-17, 1e-18])
    y = w @ np.ones(4) + 0.1 * rng.normal(size=1000)
    found = JointFactor("hip", np.arange(4), triangle_of(np.column_stack([w, y])), 1000)
    norm, rank = found.own_fit
    assert rank == 2
    rest = y - w[:, :2] @ np.linalg.lstsq(w[:, :2], y, rcond=None)[0]
    assert norm == pytest.approx(np.linalg.norm(rest), rel=1e-12)
    with pytest.raises(NotExcitedError) as refusal:
        ordinary([found], NAMES)
    assert refusal.value.parameters == ("C", "D")


@requires("ur10")
def test_the_first_joint_of_a_ur10_has_thirty_four_parameters():
    robot = load_robot("ur10")
    recordings = read_recordings([measured_data("ur10") / "ur10_exciting_trajectory.db3"], robot)
    factors = identify(robot, recordings).factors
    assert factors[0].own_fit[1] == 34
    assert [f.own_fit[1] for f in factors[1:]] == [len(f.columns) for f in factors[1:]]


def made(joint, rows, rest, effort, columns=2):
    """Return the factor of rows of which a fit leaves a residual of this norm."""
    explained = np.sqrt(effort**2 - rest**2)
    triangle = np.diag([1.0] * columns + [rest])
    triangle[0, -1] = explained
    return JointFactor(joint, np.arange(columns), triangle, rows)


def test_the_noise_is_the_residual_per_degree_of_freedom():
    """Eight degrees of freedom are enough, seven are not."""
    for rows, told in ((10, True), (9, False)):
        found = joint_noise([made("hip", 38, 6.0, 60.0), made("knee", rows, 2.0, 30.0)])
        assert found.told.tolist() == [True, told]
        # else: a tenth of its effort, as of the joint whose noise is told
        expected = 2.0 / np.sqrt(8) if told else 0.1 * 30.0 / np.sqrt(9)
        np.testing.assert_allclose(found.deviations, [6.0 / np.sqrt(36), expected])


@pytest.mark.parametrize("effort", [10.0, 0.01])
def test_a_joint_with_few_rows_is_as_noisy_as_the_noisiest_of_the_others(effort):
    few = made("c", 4, 0.1 * effort, effort)
    three = [made("a", 38, 6.0, 60.0), made("b", 38, 6.0, 20.0), few]
    assert joint_noise(three).deviations[2] == pytest.approx(0.3 * effort / 2.0)


def test_a_joint_without_effort_has_the_largest_noise():
    three = [made("a", 38, 6.0, 60.0), made("b", 27, 10.0, 30.0), made("c", 0, 0.0, 0.0)]
    found = joint_noise(three)
    assert found.told.tolist() == [True, True, False]
    np.testing.assert_allclose(found.deviations, [1.0, 2.0, 2.0])


def test_efforts_of_zero_are_none_that_a_model_explains():
    found = joint_noise([made("a", 38, 6.0, 60.0), made("b", 38, 0.0, 0.0)])
    assert (found.told.tolist(), found.exact.tolist()) == ([True, False], [False, False])
    np.testing.assert_allclose(found.deviations, [1.0, 1.0])


def test_no_joint_is_quieter_than_a_billionth_of_the_noisiest():
    for noisiest in (1.0, 5.0):
        found = joint_noise([made("a", 38, 6.0 * noisiest, 60.0), made("b", 38, 6e-12, 1.0)])
        np.testing.assert_allclose(found.deviations, [noisiest, 1e-9 * noisiest], rtol=1e-12)


@pytest.mark.parametrize(("rest", "alike"), [(0.9e-12, True), (1e-12, True), (1.1e-12, False)])
def test_what_is_left_by_rounding_tells_no_noise(rest, alike):
    found = joint_noise([made("a", 38, rest, 1.0), made("b", 38, 0.5 * rest, 1.0)])
    assert (found.deviations[0] == found.deviations[1] == 1.0) == alike


def test_warnings_name_joints_with_too_few_rows():
    hip, knee = made("hip", 38, 6.0, 60.0), made("knee", 9, 2.0, 30.0)
    assert weight_warnings([hip, made("knee", 10, 2.0, 30.0), made("c", 0, 0.0, 0.0)]) == ()
    (line,) = weight_warnings([hip, knee])
    assert line == (
        "too few rows to tell the noise of knee (9 rows, 2 columns); taken for as noisy, beside "
        "its effort, as the noisiest of the others: record longer"
    )
    (line,) = weight_warnings([knee])
    assert "all joints are weighted alike" in line


def test_the_first_recording_with_a_silent_joint_is_named():
    sound, silent = made("hip", 9, 2.0, 30.0), made("knee", 9, 0.0, 0.0)
    absent = made("knee", 0, 0.0, 0.0)
    refuse_silent_joints([[sound, absent], [sound, sound]], ("one", "two"))
    with pytest.raises(ValueError, match="zip"):
        refuse_silent_joints([[sound]], ("one", "two"))
    with pytest.raises(NoEffortError, match="two") as refusal:
        refuse_silent_joints([[sound, absent], [sound, silent], [silent]], ("one", "two", "three"))
    assert refusal.value.joints == ("knee",)
    assert not refusal.value.every
    with pytest.raises(NoEffortError) as refusal:
        refuse_silent_joints([[silent, absent]])
    assert refusal.value.every


def recorded(raw, source="run"):
    return joint_side_recording(raw, ROBOT, source=source)


def with_efforts(raw, scale):
    return RawSamples(raw.stamps, raw.position, None, raw.effort * np.asarray(scale))


@pytest.fixture(scope="module")
def raw():
    return samples(40.0)


def test_too_few_rows_of_a_joint_are_told(raw):
    slow = raw.position.copy()
    hardly = slice(0, 3400)
    slow[hardly, 1] *= 1e-4  # moves for the last instants only
    stated = replace(STATED, velocity_threshold=(0.05, 0.3), rate_hz=5.0)
    moving = RawSamples(raw.stamps[:4400], slow[:4400], None, raw.effort[:4400])
    twice = [recorded(moving, name) for name in ("first", "second")]
    result = identify(ROBOT, twice, overrides=stated)
    assert 0 < result.estimate.rows[1] < 16
    assert result.estimate.weights.max() < 1e3 * result.estimate.weights.min()
    (told,) = [line for line in result.warnings if line.startswith("too few rows to tell")]
    assert f"joint_2 ({result.estimate.rows[1]} rows" in told
    assert not any(
        line.startswith("too few rows to tell")
        for line in identify(ROBOT, twice, method="ols", overrides=stated).warnings
    )


@pytest.mark.parametrize("method", ["ols", "wls", "energy", "one-joint"])
def test_efforts_of_mock_hardware_are_refused(raw, method):
    mock, real = recorded(with_efforts(raw, 0.0), "mock"), recorded(raw, "real")
    with pytest.raises(NoEffortError, match="mock: the efforts of every joint are zero") as refusal:
        identify(ROBOT, [mock], method=method, overrides=STATED)
    assert refusal.value.joints == ("joint_1", "joint_2")
    assert refusal.value.every
    with pytest.raises(NoEffortError, match="mock: the efforts of every joint are zero"):
        identify(ROBOT, [real, mock], method=method, overrides=STATED)


@pytest.mark.parametrize("joint", [0, 1])
@pytest.mark.parametrize("method", ["ols", "wls", "energy", "one-joint"])
def test_a_joint_without_efforts_is_named_itself(raw, method, joint):
    scale = np.where(np.arange(2) == joint, 0.0, 1.0)
    with pytest.raises(
        NoEffortError, match=f"the efforts of joint_{joint + 1} are zero"
    ) as refusal:
        identify(ROBOT, [recorded(with_efforts(raw, scale))], method=method, overrides=STATED)
    assert refusal.value.joints == (f"joint_{joint + 1}",)
    assert not refusal.value.every


def test_the_recording_in_which_a_joint_was_unplugged_is_named(raw):
    parts = [recorded(raw, "sound"), recorded(with_efforts(raw, (1.0, 0.0)), "unplugged")]
    with pytest.raises(NoEffortError, match="unplugged: the efforts of joint_2 are zero"):
        identify(ROBOT, parts, overrides=STATED)


def test_a_joint_that_holds_may_be_without_effort(raw):
    """Rows of a joint that does not move fast enough say nothing, and are not looked at."""
    still = np.array(raw.position)
    still[:, 1] = 0.0
    parts = [
        recorded(RawSamples(raw.stamps, still, None, raw.effort * np.array([1.0, 0.0])), "held"),
        recorded(raw, "sound"),
    ]
    assert identify(ROBOT, parts, overrides=STATED).estimate.rows[1] > 0


def test_nothing_is_validated_against_efforts_that_nobody_measured(raw):
    zero = recorded(with_efforts(raw, 0.0), "mock")
    with pytest.raises(NoEffortError, match="mock: "):
        validate(ROBOT, TRUTH, [zero], overrides=STATED)
    with pytest.raises(NoEffortError, match="the efforts of joint_2"):
        validate(ROBOT, TRUTH, [recorded(with_efforts(raw, (1.0, 0.0)))], overrides=STATED)
    with pytest.raises(NoEffortError, match="mock: "):
        identify(ROBOT, [recorded(raw)], held_out=[zero], overrides=STATED)


def test_live_estimates_and_didim_refuse_them_too(raw):
    growing = GrowingIdentification(ROBOT, BASE, "mock", STATED)
    growing.push([with_efforts(raw, 0.0)])
    with pytest.raises(NoEffortError, match="mock: "):
        growing.result(Choice("wls"))
    recording = recorded(with_efforts(raw, 0.0), "mock")
    with pytest.raises(NoEffortError, match="mock: "):
        identify_didim(ROBOT, [recording], [object()])


def test_merged_results_of_few_rows_are_weighted_as_one(raw):
    """What each of them has too few of, all of them together may have enough of."""
    parts = [recorded(raw, name).between(0.5 * i, 0.5 * i + 0.5) for i, name in enumerate("ab")]
    merged = merge_results([identify(ROBOT, [part], overrides=STATED) for part in parts])
    whole = identify(ROBOT, parts, overrides=STATED)
    np.testing.assert_allclose(merged.estimate.weights, whole.estimate.weights, rtol=1e-9)


@pytest.mark.parametrize("several", [False, True])
def test_efforts_that_a_driver_marks_by_the_largest_number_are_named(several):
    made = samples(20.0)
    effort = np.array(made.effort)
    effort[700, 1] = np.finfo(float).max
    marked = replace(made, effort=effort)
    recordings = [
        joint_side_recording(one, ROBOT, source=name)
        for name, one in (("sound", samples(30.0)), ("marked", marked))
    ]
    with (
        pytest.raises(AbsurdSamplesError, match=r"^marked: .* of .*joint_2.* so large"),
        np.errstate(over="ignore", invalid="ignore"),
    ):
        identify(ROBOT, recordings if several else recordings[1:], overrides=STATED)
