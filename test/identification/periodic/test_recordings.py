"""Identification from averages over periods: weights, standard deviations, drift."""

from functools import cache

import numpy as np
import pytest

from periodic_motions import PERIOD, RATE, START, periodic_recording, periodic_trajectory
from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.errors import SettingError
from robot_identification.files.results import read_result, write_result
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.identification.estimators.huber import HuberSettings
from robot_identification.identification.estimators.weighting import Weighting
from robot_identification.identification.identify import identify
from robot_identification.identification.merging import merge_results
from robot_identification.identification.periodic.drift import LEVEL
from robot_identification.identification.result_settings import settings_of
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.periodic.periods import PeriodicMotion
from robot_identification.signals.raw_samples import RawSamples

pytestmark = pytest.mark.usefixtures("undiagnosed")

MOTION = PeriodicMotion(PERIOD)
ROBOT = load_robot("scara")
BASE = base_parameters(ROBOT)
TRUTH = BASE.values(load_values("scara", ROBOT)[BASE.columns])


def identified(*recordings, **choice):
    return identify(ROBOT, recordings, periodic=MOTION, **choice)


@cache
def drawn(seed, position_noise):
    """Return the result of a recording whose noise is drawn anew."""
    return identified(periodic_recording(seed=seed, position_noise=position_noise))


@pytest.fixture(scope="module")
def result():
    return identified(periodic_recording(noise=(0.05, 0.01)))


def test_parameters_are_found_within_their_deviations(result):
    away = (result.estimate.values - TRUTH) / result.estimate.std
    assert np.abs(away).max() < 4.0
    assert result.method == "wls"


def test_parameters_of_a_simulated_robot_are_found_within_their_deviations():
    robot = load_robot("tx40")
    values = load_values("tx40_simulated", robot)
    trajectory, _ = periodic_trajectory(robot, 3, period=5.0, harmonics=5, seed=1)
    samples = ClosedLoop(robot, values, sample_rate_hz=500.0).run(trajectory.reference, 18.0)
    rng, noise = np.random.default_rng(0), np.array([0.8, 0.8, 0.4, 0.2, 0.2, 0.12])
    raw = RawSamples(
        START + np.rint(samples.time * 1e9).astype(np.int64),
        samples.position + 2e-5 * rng.standard_normal(samples.position.shape),
        None,
        samples.effort + noise * rng.standard_normal(samples.effort.shape),
    )
    recording = build_recording(raw, robot.joint_names)
    found = identify(robot, [recording], periodic=PeriodicMotion(5.0))
    base = base_parameters(robot)
    # At reversals joints stick, which std, of the noise alone, knows nothing of.
    larger = np.maximum(found.estimate.std, found.estimate.std_robust)
    away = (found.estimate.values - base.values(values[base.columns])) / larger
    assert found.periodic[0].periods == 3
    assert not found.periodic[0].drifts
    assert np.sqrt(np.mean(away**2)) < 1.5
    assert np.abs(away).max() < 5.0


def test_rows_are_weighted_by_the_noise_between_periods(result):
    weights = result.estimate.weights
    assert weights[1] / weights[0] == pytest.approx(5.0, rel=0.1)
    np.testing.assert_allclose(result.periodic[0].effort_noise, [0.05, 0.01], rtol=0.05)


def test_deviations_fall_as_one_over_the_root_of_the_periods():
    two, eight = (
        identified(periodic_recording(periods=periods)).estimate.std for periods in (2, 8)
    )
    np.testing.assert_allclose(two / eight, 2.0, rtol=0.1)


@pytest.mark.parametrize("position_noise", [1e-6, 3e-4])
def test_deviations_are_the_spread_of_many_draws(position_noise):
    draws = [drawn(seed, position_noise).estimate for seed in range(24)]
    spread = np.std([draw.values for draw in draws], axis=0, ddof=1)
    ratio = np.mean([draw.std for draw in draws], axis=0) / spread
    # The spread of 24 draws is itself uncertain by a seventh.
    assert np.all((0.65 < ratio) & (ratio < 1.5)), ratio
    assert np.exp(np.mean(np.log(ratio))) == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize("periods", [2, 4])
def test_lost_samples_are_no_measurements_without_noise(periods):
    whole, misfits, noise, ratios = identified(periodic_recording(periods=periods)), [], [], []
    for seed in range(4):
        kept = np.random.default_rng(seed).random(round((3.0 + periods * PERIOD) * RATE)) > 0.3
        kept[[0, -1]] = True
        found = identified(periodic_recording(periods=periods, seed=seed, kept=kept))
        assert not any("repeats" in line for line in found.warnings)
        misfits.append(found.periodic[0].misfit)
        noise.append(found.periodic[0].effort_noise)
        ratios.append(found.estimate.std / whole.estimate.std)
    np.testing.assert_allclose(np.mean(misfits, axis=0), 1.0, atol=0.15)
    np.testing.assert_allclose(np.mean(noise, axis=0), 0.05, rtol=0.05)
    # Seven tenths of the noise is averaged, and what is lost in all periods has no part in rows.
    assert 1.15 < np.mean(ratios) < 1.4


def test_correlated_noise_of_two_recordings_is_weighted_apart():
    quiet, loud = periodic_recording(noise=0.01), periodic_recording(noise=0.5, seed=1)
    alone, both = identified(quiet).estimate, identified(quiet, loud).estimate
    assert np.abs((both.values - alone.values) / alone.std).max() < 0.5
    np.testing.assert_allclose(both.std, alone.std, rtol=0.05)


def test_ordinary_least_squares_has_the_deviations_of_the_same_noise():
    ordinary = identified(periodic_recording(noise=(0.05, 0.01)), method="ols").estimate
    weighted = identified(periodic_recording(noise=(0.05, 0.01))).estimate
    assert (ordinary.std > 0.98 * weighted.std).all()
    assert (ordinary.std > 1.5 * weighted.std).any()


@pytest.mark.parametrize("periods", [2, 5])
def test_drift_of_friction_is_told(periods):
    found = identified(periodic_recording(periods=periods, drift=0.1))
    assert found.periodic[0].drifts
    assert any("the periods drift: friction of" in line for line in found.warnings)
    joint = found.periodic[0].drift[0]
    fc = load_values("scara", ROBOT)[ROBOT.all_parameter_names.index("Fc1")]
    assert joint.change[1] == pytest.approx(0.1 * fc, abs=4 * joint.std[1])
    assert joint.probability < LEVEL


def test_without_drift_none_is_told(result):
    found = [result, *(drawn(seed, 1e-6) for seed in range(1, 12))]
    assert sum(one.periodic[0].drifts for one in found) <= 1
    assert not any("drift" in line for line in result.warnings)


def test_no_drift_means_that_probabilities_are_evenly_spread():
    found = [drawn(seed, 1e-6).periodic[0].drift for seed in range(48)]
    smallest = np.array([min(joint.probability for joint in one) for one in found])
    # Holm's smallest is at most u with about probability u.
    assert 0.25 < np.mean(smallest < 0.5) < 0.65


def test_what_the_model_does_not_explain_is_told_apart_from_noise():
    recording = periodic_recording(noise=0.002)
    segment = recording.segments[0]
    spring = np.zeros_like(segment.effort)
    spring[:, 0] = 0.05 * np.sin(5 * segment.position[:, 0])
    changed = type(segment)(segment.time, segment.position, None, segment.effort + spring)
    found = identified(type(recording)(recording.joint_names, recording.period, (changed,)))
    assert found.periodic[0].misfit[0] > 2.0
    assert identified(recording).periodic[0].misfit.max() < 1.5
    assert any("leaves unexplained repeats" in line for line in found.warnings)
    assert found.estimate.std_robust.mean() > 2.0 * found.estimate.std.mean()


def test_fewer_periods_than_planned_are_told():
    motion = PeriodicMotion(PERIOD, planned_harmonics=4, planned_periods=6)
    found = identify(ROBOT, [periodic_recording(periods=4)], periodic=motion)
    assert any("only 4 of 6 periods of the plan" in line for line in found.warnings)


def test_a_result_file_carries_what_the_periods_tell(result, tmp_path):
    write_result(tmp_path / "result.yaml", result)
    assert read_result(tmp_path / "result.yaml") == result


def test_other_recordings_are_processed_as_they_need(result):
    assert settings_of(result).stated().keys() == {"velocity_threshold"}
    assert result.settings["periods"]["value"] == [4]


def test_results_of_averages_do_not_merge(result):
    with pytest.raises(SettingError, match="identify together"):
        merge_results([result, identified(periodic_recording(seed=3))])


@pytest.mark.parametrize(
    "choice",
    [
        {"method": "energy"},
        {"method": "one-joint"},
        {"essential": EliminationRule()},
        {"robust": HuberSettings()},
        {"weighting": Weighting(bag_noise=True)},
        {"held_out_fraction": 0.2},
        {"overrides": ProcessingSettings(cutoff_hz=10.0)},
    ],
)
def test_what_does_not_go_with_an_average_is_refused(choice):
    with pytest.raises(SettingError):
        identified(periodic_recording(), **choice)
