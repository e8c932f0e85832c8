"""From an identification and a prior to parameters that certify themselves."""

from dataclasses import replace

import numpy as np
import pytest

from made_up_results import made_up_result
from random_calibrations import publish, random_case, survives_urdf
from random_robots import random_robot, random_values
from robot_identification.calibration.calibrate import calibrate
from robot_identification.calibration.consistency import program as consistency
from robot_identification.calibration.consistency.checks import check_consistency
from robot_identification.calibration.consistency.conditions import conditions
from robot_identification.calibration.consistency.program import Problem, Step
from robot_identification.calibration.consistency.scales import scales
from robot_identification.calibration.nearest import nearest
from robot_identification.calibration.prior import Prior
from robot_identification.calibration.verdicts import Verdict
from robot_identification.errors import (
    CalibrationError,
    CancelledError,
    NotExcitedError,
    ResultMismatchError,
    SettingError,
)
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.identification.estimators.huber import HuberSettings
from robot_identification.identification.estimators.weighting import Weighting
from robot_identification.identification.identify import identify
from robot_identification.identification.source import SPOILT
from robot_identification.identification.validate import validate
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from several_bags import NOISE, STATED, arm, with_efforts

DRIVE = ("Ia", "Fv", "Fc", "of")


@pytest.fixture(scope="module")
def robot():
    return replace(random_robot(np.random.default_rng(30), 3), digest="1" * 64)


@pytest.fixture(scope="module")
def truth(robot):
    return random_values(np.random.default_rng(31), robot)


@pytest.fixture(scope="module")
def result(robot, truth):
    return made_up_result(robot, truth, np.random.default_rng(32), noise=0.01)


def links_prior(robot, values):
    names = robot.standard_names
    known = np.array([name[:2] not in DRIVE for name in names])
    return Prior.given(names, values[robot.standard_indices], known, source="links.yaml")


def problem_of(robot, result, prior):
    """Return what the calibration of a result to a prior has to be consistent in."""
    found = nearest(robot, result, prior, space="base", essential=None)
    sizes = scales(robot, found.prior, result.regrouping, found.estimate)
    return Problem(robot, found.system, found.prior, sizes, conditions(robot))


def test_a_true_prior_comes_back(robot, truth, result):
    calibrated = calibrate(robot, result, links_prior(robot, truth), space="base")
    np.testing.assert_allclose(calibrated.values, truth, atol=0.1)
    assert calibrated.consistent
    assert calibrated.step is Step.NEAREST
    assert abs(calibrated.error_increase) < 1e-6
    assert calibrated.distance_to_prior < 0.02
    assert calibrated.error.total == pytest.approx(result.estimate.relative_error.total)


def test_the_essential_space_keeps_the_prior_of_what_is_not_essential(robot, truth, result):
    prior = links_prior(robot, truth * 1.05)
    calibrated = calibrate(robot, result, prior, consistent=False)
    leading = dict(zip(result.regrouping.names, result.regrouping.leading, strict=True))
    moved = {leading[name] for name in calibrated.essential}
    for i, name in enumerate(prior.names):
        if name not in moved:
            expected = calibrated.prior.values[i]
            assert calibrated.values[calibrated.model[i]] == pytest.approx(expected, rel=1e-9)
    assert 0 < len(moved) < len(result.regrouping.names)


def test_an_identification_of_essential_parameters_says_which(robot, truth):
    result = made_up_result(robot, truth, np.random.default_rng(33), noise=0.2)
    default = calibrate(robot, result)
    few = calibrate(robot, result, essential=EliminationRule("ratio", 3.0))
    many = calibrate(robot, result, essential=EliminationRule("ratio", 300.0))
    assert len(few.essential) < len(default.essential) < len(many.essential)
    by_test = calibrate(robot, result, essential=EliminationRule("f-test"))
    assert by_test.essential != few.essential


def test_without_a_prior_what_the_data_determine_is_not_removed(robot, truth):
    """Nothing is known of a parameter that is not essential: zero is no better value for it."""
    friction = truth.copy()
    small = robot.all_parameter_names.index("Fv2")
    friction[small] = 0.05
    result = made_up_result(robot, friction, np.random.default_rng(36), noise=0.02)
    few = EliminationRule("ratio", 3.0)
    place = result.regrouping.names.index("Fv2")
    std = result.estimate.std[place]
    assert std < 0.3 * result.estimate.values[place]
    calibrated = calibrate(robot, result, essential=few)
    assert "Fv2" not in calibrated.essential
    assert calibrated.values[small] == pytest.approx(0.05, abs=5.0 * std)
    assert calibrated.full_verdicts[small] is Verdict.IDENTIFIED
    known = calibrate(robot, result, links_prior(robot, friction), essential=few)
    assert known.prior.identified[known.prior.names.index("Fv2")]


def test_a_space_that_costs_a_tenth_of_the_error_is_warned_of(robot, truth):
    result = made_up_result(robot, truth, np.random.default_rng(37), noise=0.02)
    prior = links_prior(robot, truth * 1.5)
    harsh = calibrate(robot, result, prior, essential=EliminationRule("ratio", 1.5))
    assert harsh.space_cost > 0.1
    (told,) = [w for w in harsh.warnings if "the essential space makes the error" in w]
    assert f"{harsh.error_identified.total:.4g}" in told
    before, after = harsh.error_identified.total, harsh.error.total
    assert harsh.error_increase_identified == pytest.approx(after / before - 1.0)
    found = harsh.summary()
    assert found["error_increase_identified"] == harsh.error_increase_identified
    assert found["space_cost"] == harsh.space_cost
    base = calibrate(robot, result, prior, space="base")
    assert base.space_cost == pytest.approx(0.0, abs=1e-8)
    assert not any("space" in warning for warning in base.warnings)


def test_without_a_prior_the_distance_is_unknown(robot, result):
    calibrated = calibrate(robot, result)
    assert calibrated.consistent
    assert np.isnan(calibrated.distance_to_prior)
    assert calibrated.summary()["prior"] == {}
    assert not calibrated.warnings


def test_what_rests_on_a_spoilt_recording_says_so(robot, result):
    line = f"recording r: {SPOILT}: block 3 has come with two contents"
    calibrated = calibrate(robot, replace(result, warnings=("another", line)))
    assert calibrated.warnings == (line,)


def test_inconsistent_parameters_are_told_where_they_are_let_through(robot, result):
    calibrated = calibrate(robot, result, space="base", consistent=False)
    assert not calibrated.consistent
    assert calibrated.error_increase == pytest.approx(0.0, abs=1e-8)
    assert "not physically consistent: link" in calibrated.warnings[0]


def test_impossible_drives_end_at_the_margin_and_are_named(robot, truth):
    impossible = truth.copy()
    impossible[[10, 24, 38]] = -5.0
    result = made_up_result(robot, impossible, np.random.default_rng(34), noise=0.02)
    calibrated = calibrate(robot, result, links_prior(robot, truth), space="base")
    assert calibrated.step is Step.SEMIDEFINITE
    assert calibrated.consistent
    assert calibrated.active_drives
    assert calibrated.error_increase > 0.0
    assert calibrated.values[38] > 0.0
    assert calibrated.full_verdicts[38] is not Verdict.IDENTIFIED


def test_what_had_to_be_made_consistent_keeps_away_from_the_border(robot, truth):
    """Nothing is published that the next rounding, or the next program, takes for impossible.

    The least eigenvalue of every link and drive is a ten-thousandth of its size, where fit was
    lost for it, and a thousandth where none was.
    """
    silent, lossy = truth.copy(), truth.copy()
    silent[9] = -3.0  # a mass that no motion tells
    lossy[[10, 24, 38]] = -5.0
    for values, prior, step, margin in (
        (truth, silent, Step.REPAIRED, 1e-3),
        (lossy, truth, Step.SEMIDEFINITE, 1e-4),
    ):
        made = made_up_result(robot, values, np.random.default_rng(36), noise=0.02)
        problem = problem_of(robot, made, links_prior(robot, prior))
        found = calibrate(robot, made, links_prior(robot, prior), space="base")
        assert found.step is step
        least = problem.eigenvalues(found.values[robot.standard_indices]).min()
        assert least == pytest.approx(margin, rel=0.02)


@pytest.mark.parametrize("wrong", ["repair", "both"])
def test_what_a_solver_calls_consistent_is_tested_again(robot, truth, monkeypatch, wrong):
    """A solver that says "solved" may be wrong by more than any margin."""
    made = made_up_result(robot, truth, np.random.default_rng(37), noise=0.02)
    silent = truth.copy()
    silent[9] = -3.0
    prior = links_prior(robot, silent)
    assert calibrate(robot, made, prior, space="base").step is Step.REPAIRED
    monkeypatch.setattr(consistency, "without_loss", lambda _, values, margin: values)
    if wrong == "both":
        monkeypatch.setattr(consistency, "with_least_loss", lambda _, values, *rest: values)
        with pytest.raises(CalibrationError, match="no physically consistent parameters"):
            calibrate(robot, made, prior, space="base")
        return
    found = calibrate(robot, made, prior, space="base")
    assert found.step is Step.SEMIDEFINITE
    assert check_consistency(robot, found.values).consistent


def test_what_coloured_residuals_leave_unknown_is_not_identified(robot, truth, result):
    """Friction is known to a percent where residuals were white, and hardly as they are."""
    prior = links_prior(robot, truth)
    known = replace(result.estimate, std_robust=1.2 * result.estimate.std)
    unknown = replace(known, std_robust=np.abs(known.values))
    few = EliminationRule("ratio", 1.0)  # what is essential is trusted whatever its deviation
    for estimate, verdict in ((known, Verdict.IDENTIFIED), (unknown, Verdict.PRIOR_DOMINATED)):
        given = replace(result, estimate=estimate)
        found = calibrate(robot, given, prior, space="base", essential=few)
        verdicts = dict(zip(found.names, found.full_verdicts, strict=True))
        assert verdicts["Fv2"] is verdicts["Fc3"] is verdict


def test_verdicts_follow_the_base_parameters(robot, truth, result):
    calibrated = calibrate(robot, result, links_prior(robot, truth), space="base")
    verdicts = dict(zip(calibrated.names, calibrated.full_verdicts, strict=True))
    regrouping = result.regrouping
    grouped = {*regrouping.leading, *regrouping.regrouped}
    for name in regrouping.standard_names:
        assert (verdicts[name] is Verdict.NOT_IDENTIFIABLE) == (name not in grouped)
    assert verdicts["Fv2"] is verdicts["Fc3"] is Verdict.IDENTIFIED
    judged = zip(calibrated.names, calibrated.std, calibrated.full_verdicts, strict=True)
    for name, std, verdict in judged:
        rests_on_data = verdict in (Verdict.IDENTIFIED, Verdict.ESSENTIAL)
        assert rests_on_data or np.isnan(std), name
        assert verdict is not Verdict.IDENTIFIED or std > 0.0, name
        assert std != 0.0, name
    assert np.isnan(calibrated.std_robust).all()


def test_deviations_are_those_of_the_noise(robot, truth):
    """Monte Carlo: the spread over noise is what std says, of every parameter that has one."""
    prior = links_prior(robot, truth)
    found = []
    for seed in range(120):
        rng = np.random.default_rng([35, seed])
        made = made_up_result(robot, truth, rng, samples=150, noise=0.05)
        found.append(calibrate(robot, made, prior, space="base", consistent=False))
    spread = np.std([c.values for c in found], axis=0)
    std = np.array([c.std for c in found])
    told = np.isfinite(std).all(axis=0)
    assert told.sum() > 10
    ratio = spread[told] / np.median(std[:, told], axis=0)
    assert 0.8 < ratio.min() <= ratio.max() < 1.25


def test_robust_deviations_scale_with_those_of_the_base_parameters(robot, truth, result):
    estimate = replace(result.estimate, std_robust=2.0 * result.estimate.std)
    made = replace(result, estimate=estimate)
    calibrated = calibrate(robot, made, links_prior(robot, truth), space="base")
    told = np.isfinite(calibrated.std)
    np.testing.assert_allclose(calibrated.std_robust[told], 2.0 * calibrated.std[told], rtol=1e-6)


def test_a_box_holds_the_centre_of_mass(robot, truth, result):
    link = robot.joints[2].link
    box = {link: (np.full(3, -0.05), np.full(3, 0.05))}
    calibrated = calibrate(robot, result, links_prior(robot, truth), boxes=box)
    check = calibrated.checks.links[2]
    assert check.centre_in_box
    assert np.abs(check.centre).max() <= 0.05
    assert link in calibrated.active_links


def test_values_have_no_more_digits_than_are_published(robot, truth, result):
    calibrated = calibrate(robot, result, links_prior(robot, truth))
    assert all(float(f"{value:.10g}") == value for value in calibrated.values)


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"space": "standard"}, SettingError, "must be one of base, essential"),
        ({"cancelled": lambda: True}, CancelledError, "cancelled"),
        ({"prior": Prior.none(("ZZ1",))}, ResultMismatchError, "another robot's"),
    ],
)
def test_what_cannot_be_done_is_refused(robot, result, settings, error, words):
    with pytest.raises(error, match=words):
        calibrate(robot, result, settings.pop("prior", None), **settings)


def test_a_result_of_another_robot_is_refused(result):
    with pytest.raises(ResultMismatchError, match="belongs to random"):
        calibrate(load_robot("scara"), result)


def test_a_changed_robot_file_is_told(robot, result):
    changed = replace(result, robot_digest="0" * 64)
    assert "has changed since" in calibrate(robot, changed).warnings[0]


def test_the_scara_needs_no_prior_to_be_consistent():
    robot = load_robot("scara")
    truth = load_values("scara", robot)
    result = made_up_result(robot, truth, np.random.default_rng(36), noise=0.05)
    calibrated = calibrate(robot, result)
    assert calibrated.consistent
    assert calibrated.error_increase < 0.01


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_nothing_inconsistent_leaves_and_little_is_refused(first):
    """Random robots, priors and noise; benchmarks/consistency.py does the same 10 000 times."""
    published = 0
    for seed in range(first, first + 10):
        case = random_case(np.random.default_rng([99, seed]))
        try:
            calibrated = publish(case)
        except NotExcitedError:
            continue
        assert survives_urdf(case.robot, calibrated)
        published += 1
    assert published >= 8


def test_the_same_input_gives_the_same_numbers():
    values = [publish(random_case(np.random.default_rng(40))).values for _ in range(2)]
    np.testing.assert_array_equal(*values)


@pytest.mark.parametrize(
    "options",
    [
        {"weighting": Weighting((1.0, 100.0))},
        {"weighting": Weighting(bag_noise=True)},
        {"robust": HuberSettings()},
    ],
)
def test_errors_are_those_of_the_efforts_as_measured(options):
    """Weights of bags and limits of outliers are for the fit, not for what is told of it."""
    robot, (one, two), _ = arm(parts=2)
    rng = np.random.default_rng(1)
    loud = with_efforts(two, lambda effort: effort + 6.0 * NOISE * rng.normal(size=effort.shape))
    result = identify(robot, [one, loud], overrides=STATED, **options)
    calibrated = calibrate(robot, result, space="base", consistent=False)
    told = validate(robot, result.estimate.values, [one, loud], overrides=STATED).relative_error
    assert calibrated.error_identified.total == pytest.approx(told.total, rel=1e-6)
    np.testing.assert_allclose(calibrated.error_identified.joints, told.joints, rtol=1e-6)
    assert calibrated.error.total == pytest.approx(told.total, rel=1e-6)
    earlier = replace(result, measured_factors=None)
    (warning,) = [w for w in calibrate(robot, earlier, consistent=False).warnings if "rows" in w]
    assert "errors are those of weighted or limited rows of part 0" in warning
