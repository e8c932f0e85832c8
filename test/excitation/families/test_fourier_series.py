"""Fourier series as motions: derivatives, gradients, whole periods, and what is beyond the band."""

from dataclasses import replace

import numpy as np
import pytest

from robot_identification.errors import NotCertifiedError, SettingError
from robot_identification.excitation.certification.checks import limits as limit_checks
from robot_identification.excitation.families.fourier import (
    FourierFamily,
    JerkPenalty,
    SeriesUnknowns,
)
from robot_identification.excitation.families.fourier_series import Series, SeriesMap, basis
from robot_identification.excitation.families.fourier_settings import FourierSettings, Periodic
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.timing import stops_outside
from robot_identification.excitation.objective.effort_rows import DynamicObservation
from robot_identification.excitation.objective.penalties import LimitPenalty, PenaltySum
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.robot.files.loading import load_robot

ROBOT = load_robot("tx40")
LIMITS = MotionLimits.of(ROBOT)
POSTURE = 0.2 * LIMITS.upper
SETTINGS = FourierSettings(base_frequency=0.25, harmonics=6, periods=2)


def family(settings=SETTINGS, limits=LIMITS, posture=POSTURE):
    return FourierFamily(settings, limits, posture, ROBOT.joint_names)


def random_series(seed=0, size=1.0, settings=SETTINGS):
    widths = SeriesUnknowns(settings, LIMITS, POSTURE).widths
    return Series(size * widths * np.random.default_rng(seed).normal(size=widths.shape))


def highest_only(settings, size=1.0):
    coefficients = np.zeros((1 + 2 * settings.harmonics, len(POSTURE)))
    coefficients[-2:] = size
    return Series(coefficients)


def beyond_the_band(values, settings, rate):
    """Return the power of samples (samples, joints) of the periods beyond the band, in dB."""
    spectrum = np.abs(np.fft.rfft(values, axis=0)[1:]) ** 2
    beyond = spectrum[settings.periods * settings.harmonics :]
    assert len(values) == round(settings.periods * settings.period * rate)
    return 10.0 * np.log10((beyond.sum(axis=0) / spectrum.sum(axis=0)).max())


def test_every_order_is_the_derivative_of_the_one_before_also_in_the_runs():
    h = 1e-5
    times = np.linspace(2 * h, SETTINGS.duration - 2 * h, 997)
    ahead, behind = basis(SETTINGS, times + h), basis(SETTINGS, times - h)
    exact = basis(SETTINGS, times)
    for order in range(3):
        slope = (ahead[order] - behind[order]) / (2.0 * h)
        scale = np.abs(exact[order + 1]).max()
        np.testing.assert_allclose(exact[order + 1], slope, atol=1e-3 * scale)
        away = np.abs(times - SETTINGS.blend) > 2 * h  # the jerk jumps where the blend ends
        away &= np.abs(times - (SETTINGS.duration - SETTINGS.blend)) > 2 * h
        np.testing.assert_allclose(exact[order + 1][:, away], slope[:, away], atol=1e-6 * scale)


def test_the_motion_begins_and_ends_at_rest_in_the_posture():
    trajectory = family().trajectory(random_series())
    np.testing.assert_array_equal(trajectory.positions[0], POSTURE)
    np.testing.assert_allclose(trajectory.positions[-1], POSTURE, atol=1e-12)
    for values in (trajectory.velocities, trajectory.accelerations):
        np.testing.assert_allclose(values[[0, -1]], 0.0, atol=1e-9)


def test_whole_periods_repeat_from_where_they_are_said_to_begin():
    settings = FourierSettings(base_frequency=0.3, harmonics=7, periods=3)
    trajectory = family(settings).trajectory(random_series(settings=settings))
    inside = np.linspace(0.0, settings.period, 500)
    first = trajectory.sample(settings.begins + inside)
    for number in (1, 2):
        other = trajectory.sample(settings.begins + number * settings.period + inside)
        for one, two in zip(first, other, strict=True):
            np.testing.assert_allclose(one, two, atol=1e-9 * np.abs(one).max())


@pytest.mark.parametrize("harmonics", [1, 3, 20])
def test_beyond_the_highest_harmonic_there_is_less_than_a_thousandth(harmonics):
    """In the worst case, where all of the motion is in the highest harmonic."""
    settings, rate = FourierSettings(0.1, harmonics, 2), 200
    times = settings.begins + np.arange(round(2 * settings.period * rate)) / rate
    for motion in (highest_only(settings), random_series(settings=settings)):
        trajectory = family(settings).trajectory(motion)
        for values in trajectory.sample(times):
            assert beyond_the_band(values, settings, rate) < -60.0


def test_quintics_between_the_points_follow_the_series():
    motion, times = random_series(), np.linspace(0.0, SETTINGS.duration, 3001)
    exact = SeriesMap(SETTINGS, POSTURE, times).rows(motion)
    for order, values in enumerate(family().trajectory(motion).sample(times)):
        largest = np.abs(exact[order] - exact[order].mean(axis=1, keepdims=True)).max(axis=1)
        error = np.abs(values - exact[order].T).max(axis=0) / largest
        assert error.max() < (1e-5, 1e-4, 1e-3)[order]


def test_gradients_of_the_system_over_the_coefficients_are_exact():
    times = SETTINGS.samples(10)
    curve = SeriesMap(SETTINGS, POSTURE, times, SETTINGS.period / len(times))
    observation = DynamicObservation(base_parameters(ROBOT), curve, smoothing=0.1)
    motion, rng = random_series(), np.random.default_rng(1)
    slope = rng.normal(size=observation.rows(motion).shape)
    gradient = observation.pull(motion, slope).coefficients
    step, h = random_series(2).coefficients, 1e-6
    ahead, behind = (
        observation.rows(Series(motion.coefficients + s * h * step)) for s in (1.0, -1.0)
    )
    wanted = float((slope * (ahead - behind)).sum()) / (2.0 * h)
    assert float((gradient * step).sum()) == pytest.approx(wanted, rel=1e-6)


def test_gradients_of_the_penalties_are_exact():
    limits = replace(LIMITS, jerk=2.0 * LIMITS.acceleration)
    times = SETTINGS.samples_with_runs(16)
    parts = (
        LimitPenalty(limits, SeriesMap(SETTINGS, POSTURE, times)),
        JerkPenalty(SETTINGS, limits.jerk, times),
    )
    motion, step, h = random_series(size=2.0), random_series(3).coefficients, 1e-6
    for penalty in (*parts, PenaltySum(parts)):
        value, gradient = penalty(motion, 3.0)
        assert value > 1.0
        assert value == pytest.approx(3.0 * penalty(motion, 1.0)[0])
        ahead, behind = (
            penalty(Series(motion.coefficients + s * h * step), 3.0)[0] for s in (1.0, -1.0)
        )
        wanted = (ahead - behind) / (2.0 * h)
        assert float((gradient.coefficients * step).sum()) == pytest.approx(wanted, rel=1e-5)


def test_unknowns_stand_for_coefficients_and_gradients_follow():
    space = SeriesUnknowns(SETTINGS, LIMITS, POSTURE)
    motion = random_series(size=0.3)
    x = space.vector(motion)
    np.testing.assert_allclose(space.motion(x).coefficients, motion.coefficients, atol=1e-12)
    step = np.random.default_rng(4).normal(size=x.shape)
    moved = space.motion(x + step).coefficients - motion.coefficients
    slope = random_series(5)
    got = float(space.gradient(motion, slope) @ step)
    assert got == pytest.approx(float((slope.coefficients * moved).sum()))
    low, high = np.array(space.bounds()).T
    assert ((low < x) & (x < high)).all()


@pytest.mark.parametrize("with_jerk", [False, True])
def test_a_motion_that_is_too_large_is_made_smaller_until_it_keeps_every_limit(with_jerk):
    limits = replace(LIMITS, jerk=4.0 * LIMITS.acceleration) if with_jerk else LIMITS
    found, smaller = family(limits=limits).fitted(random_series(size=3.0))
    assert smaller
    trajectory = family(limits=limits).trajectory(found)
    checks = limit_checks(trajectory, limits)
    assert len(checks) == 3 + with_jerk
    assert all(check.passed for check in checks)
    assert not stops_outside(trajectory, limits).any()


def test_a_motion_that_keeps_its_limits_stays_as_it_is():
    motion = random_series(size=0.05)
    found, smaller = family().fitted(motion)
    assert not smaller
    np.testing.assert_array_equal(found.coefficients, motion.coefficients)


def test_no_share_of_a_motion_fits_where_the_posture_is_outside():
    outside = LIMITS.upper + 0.1
    with pytest.raises(NotCertifiedError, match=ROBOT.joint_names[0]):
        family(posture=outside).fitted(random_series(size=0.05))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("base_frequency", 0.0),
        ("base_frequency", np.inf),
        ("harmonics", 0),
        ("periods", 0),
        ("periods", 1000),
    ],
)
def test_settings_that_no_motion_has_are_refused(name, value):
    with pytest.raises(SettingError, match=name):
        FourierSettings(**{name: value})


def test_samples_stand_for_every_moment_of_a_period_and_of_the_runs():
    times = SETTINGS.samples_with_runs(16)
    assert (np.diff(times) > 0.0).all()
    assert times[0] > 0.0
    assert times[-1] < SETTINGS.duration
    within = times[(times > SETTINGS.begins) & (times < SETTINGS.begins + SETTINGS.period)]
    assert len(within) == 16 * SETTINGS.harmonics
    assert times[0] == pytest.approx(SETTINGS.duration - times[-1])


def test_what_repeats_is_slower_at_a_share_of_the_speed():
    slow = Periodic.of(SETTINGS, 0.5)
    assert slow == Periodic(0.125, 6, 2, 2.0 * SETTINGS.begins)
