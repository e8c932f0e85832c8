"""Averages over periods: the series, the noise between periods, periods that had not settled."""

import numpy as np
import pytest

from periodic_motions import (
    HARMONICS,
    PERIOD,
    RATE,
    REST,
    START,
    exact_motion,
    periodic_recording,
    random_series,
)
from robot_identification.errors import NotPeriodicError
from robot_identification.robot.files.loading import load_robot
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.periodic.average import average_periods
from robot_identification.signals.periodic.fourier import (
    FourierSeries,
    derivative_basis,
    fit_series,
)
from robot_identification.signals.periodic.periods import PeriodicMotion
from robot_identification.signals.raw_samples import RawSamples


def exact_samples(periods):
    return len(exact_motion("scara", periods)[1])


def test_derivatives_of_a_series_are_exact():
    coefficients = random_series(load_robot("scara"))
    series = FourierSeries(PERIOD, (4, 4), coefficients, np.ones_like(coefficients))
    time, step = np.linspace(0.0, PERIOD, 50), 1e-4
    before, now, after = (series.sample(time + shift) for shift in (-step, 0.0, step))
    for order in (0, 1):
        slope = (after[order] - before[order]) / (2 * step)
        np.testing.assert_allclose(now[order + 1], slope, rtol=0, atol=1e-5)


def test_a_series_is_found_again_from_any_stamps():
    coefficients = random_series(load_robot("scara"))
    time = np.sort(np.random.default_rng(1).uniform(0.0, 3 * PERIOD, 3000))
    position = derivative_basis(time, PERIOD, HARMONICS)[0] @ coefficients.T
    found = fit_series(time, position, PERIOD, (HARMONICS, HARMONICS))
    np.testing.assert_allclose(found.coefficients, coefficients, rtol=0, atol=1e-12)


def test_the_spread_of_coefficients_is_that_of_many_draws():
    rng, time = np.random.default_rng(2), np.arange(400) / 100.0
    draws = rng.standard_normal((400, 300))
    found = fit_series(time, draws, 4.0, (3,) * 300)
    np.testing.assert_allclose(found.coefficients.std(axis=0), found.spread[0], rtol=0.15)


def test_efforts_that_were_lost_have_no_part_in_their_mean():
    recording, motion = periodic_recording(periods=5, noise=0.0), PeriodicMotion(PERIOD)
    whole = average_periods(recording, motion)
    kept = np.ones(recording.samples, dtype=bool)
    kept[np.random.default_rng(0).integers(60, len(kept) - 60, len(kept) // 10)] = False
    lossy = periodic_recording(periods=5, noise=0.0, kept=kept)
    assert lossy.statistics.bridged > 300
    found = average_periods(lossy, motion)
    assert found.periods == whole.periods
    there = (found.segment.time[:, None] - whole.segment.time[0]) % PERIOD
    at = np.rint(there[:, 0] * RATE).astype(int) % whole.segment.samples
    scale = np.abs(whole.segment.effort).max(axis=1, keepdims=True)
    assert (np.abs(found.segment.effort - whole.segment.effort[:, at]) < 1e-3 * scale).all()


@pytest.mark.parametrize("periods", [2, 4])
@pytest.mark.parametrize("lost", [0.0, 0.1, 0.3])
def test_noise_of_the_means_is_told_where_samples_were_lost(periods, lost):
    exact = average_periods(
        periodic_recording(periods=periods, noise=0.0, position_noise=0.0), PeriodicMotion(PERIOD)
    )
    told, real, positions = [], [], []
    for seed in range(4):
        kept = np.random.default_rng(100 + seed).random(exact_samples(periods)) >= lost
        kept[[0, -1]] = True
        recording = periodic_recording(
            periods=periods, noise=1.0, position_noise=1e-4, seed=seed, kept=kept
        )
        average = average_periods(recording, PeriodicMotion(PERIOD))
        measured = average.counts > 0
        there = average.segment.time - average.segment.time[0] + average.segment.period / 2
        shift = round((average.segment.time[0] - exact.segment.time[0]) * RATE)
        places = ((there * RATE).astype(int) + shift) % exact.segment.samples
        error = (average.segment.effort - exact.segment.effort[:, places])[:, measured]
        # Filtered efforts lean on the measured phases, of which there are fewer.
        told.append(np.mean(average.noise**2) * measured.mean())
        real.append(np.mean(error**2))
        positions.append(np.mean(average.position_noise))
    assert np.sqrt(np.mean(told) / np.mean(real)) == pytest.approx(1.0, abs=0.05)
    np.testing.assert_allclose(np.mean(positions), 1e-4, rtol=0.05)


def test_the_covariance_of_the_noise_is_what_was_put_in():
    recording = periodic_recording(periods=5, noise=0.0)
    segment, rng = recording.segments[0], np.random.default_rng(3)
    covariance = np.array([[0.04, 0.018], [0.018, 0.01]])
    noise = rng.multivariate_normal(np.zeros(2), covariance, len(segment.time))
    stamps = START + np.rint(segment.time * 1e9).astype(np.int64)
    raw = RawSamples(stamps, segment.position, None, segment.effort + noise)
    average = average_periods(build_recording(raw, recording.joint_names), PeriodicMotion(PERIOD))
    np.testing.assert_allclose(average.covariance, covariance, rtol=0.08)
    np.testing.assert_allclose(average.noise, np.sqrt(np.diag(covariance) / 5), rtol=0.04)


def test_harmonics_that_repeat_are_kept_and_noise_is_not():
    average = average_periods(periodic_recording(position_noise=1e-4), PeriodicMotion(PERIOD))
    assert all(HARMONICS <= own <= HARMONICS + 2 for own in average.series.harmonics)
    fixed = average_periods(periodic_recording(), PeriodicMotion(PERIOD, harmonics=3))
    assert fixed.series.harmonics == (3, 3)


def test_periods_that_are_no_whole_number_of_samples_are_averaged_by_phase():
    period = PERIOD * 0.99913
    whole = average_periods(
        periodic_recording(noise=0.0, position_noise=0.0), PeriodicMotion(PERIOD)
    )
    odd = average_periods(
        periodic_recording(noise=0.0, position_noise=0.0, period=period), PeriodicMotion(period)
    )
    assert odd.periods == whole.periods == 4
    assert odd.segment.period * odd.segment.samples == pytest.approx(period)
    assert np.sqrt(odd.covariance.max()) < 0.05 * np.abs(odd.segment.effort).max()
    noisy = average_periods(periodic_recording(noise=0.5, period=period), PeriodicMotion(period))
    np.testing.assert_allclose(np.sqrt(np.diag(noisy.covariance)), 0.5, rtol=0.05)


@pytest.mark.parametrize(("size", "dropped"), [(0.0, 0), (0.03, 1)])
def test_a_first_period_that_had_not_settled_is_left_out(size, dropped):
    recording = periodic_recording(periods=5)
    segment = recording.segments[0]
    since = segment.time - (REST + 1.0)
    settling = np.where(since > 0.0, size * np.exp(-np.maximum(since, 0.0) / 0.6), 0.0)
    stamps = START + np.rint(segment.time * 1e9).astype(np.int64)
    position = segment.position + settling[:, None]
    effort = segment.effort + 20 * settling[:, None]
    raw = RawSamples(stamps, position, None, effort)
    average = average_periods(build_recording(raw, recording.joint_names), PeriodicMotion(PERIOD))
    assert average.dropped == dropped
    assert average.periods == 5 - dropped
    assert average.segment.time[0] == pytest.approx(
        (REST + 1.0) + dropped * PERIOD, abs=0.05 * PERIOD
    )


@pytest.mark.parametrize("missing", [2, 15])
def test_a_second_period_that_is_cut_short_is_no_period(missing):
    samples = round((REST + 1.0 + 2 * PERIOD) * RATE) - missing
    recording = periodic_recording(periods=4, kept=slice(round((REST + 1.0) * RATE), samples))
    with pytest.raises(NotPeriodicError, match="two"):
        average_periods(recording, PeriodicMotion(PERIOD))


def test_steady_drift_is_not_taken_for_settling():
    average = average_periods(periodic_recording(periods=6, drift=0.5), PeriodicMotion(PERIOD))
    assert average.dropped == 0


def test_period_of_samples_is_that_of_the_recording():
    average = average_periods(periodic_recording(), PeriodicMotion(PERIOD))
    assert average.segment.period == pytest.approx(1.0 / RATE)
