from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from live_nodes import BEGIN, ROBOT, SAMPLES, TRUTH, motion
from periodic_motions import PERIOD, periodic_recording
from robot_identification.calibration.calibrate import calibrate
from robot_identification.calibration.model.monitor import ModelMonitor, ResidualReference
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.estimators.least_squares import relative_error
from robot_identification.identification.identify import identify
from robot_identification.robot.couplings import Coupling, CouplingTerm
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.robot.terms.kinds import TermKind
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.filtered import filter_recording
from robot_identification.signals.periodic.periods import PeriodicMotion
from robot_identification.signals.processing.settings import resolve_processing
from robot_identification.signals.raw_samples import RawSamples

NOISE = np.array([0.5, 0.05])
LEVEL = ResidualReference(
    cutoff_hz=20.0,
    rate_hz=10.0,
    threshold=np.array([0.05, 0.05]),
    window=2,
    cut_rows=6,
    residual_std=NOISE / np.sqrt(10.0 / 0.8),
)
DRIFT_WARNING = 2.0  # the default of the node
STAMPS = BEGIN + np.rint(np.arange(SAMPLES) * 1e7).astype(np.int64)


def watched(factors=(1.0, 1.0), step=10, values=TRUTH, gap_after=None):
    q, tau = motion()
    noise = np.random.default_rng(5).normal(size=tau.shape) * NOISE
    stamps = STAMPS.copy()
    if gap_after is not None:
        stamps[gap_after:] += 5 * 10**9
    watch = ModelMonitor(ROBOT, values, LEVEL)
    blocks = []
    for i in range(0, SAMPLES, step):
        part = slice(i, i + step)
        blocks += watch.push(stamps[part], q[part], (tau * factors + noise)[part])
    return watch, blocks, stamps, tau


def test_noise_as_in_the_identification_is_no_drift():
    watch, *_ = watched()
    np.testing.assert_allclose(watch.drift, 1.0, atol=0.25)


def test_a_joint_whose_efforts_change_drifts_and_the_other_does_not():
    watch, *_ = watched(factors=(1.0, 1.5))
    assert watch.drift[1] > 2.0
    assert watch.drift[0] < 1.3


def test_efforts_are_predicted_at_every_stamp_but_those_still_waiting():
    _, blocks, stamps, tau = watched()
    got = np.concatenate([block.stamps for block in blocks])
    np.testing.assert_array_equal(got, stamps[: len(got)])
    assert len(got) > SAMPLES - 100
    predicted = np.concatenate([block.effort for block in blocks])
    middle = slice(100, len(got))
    error = np.linalg.norm((predicted - tau[: len(got)])[middle], axis=0)
    assert (error < 0.05 * np.linalg.norm(tau[: len(got)][middle], axis=0)).all()


def test_how_states_come_in_changes_nothing():
    one, other = watched(step=7)[0].drift, watched(step=100)[0].drift
    np.testing.assert_allclose(one, other, rtol=0.05)


def test_a_gap_begins_a_new_run_and_counts_no_end_effects():
    watch, *_ = watched(gap_after=700)
    np.testing.assert_allclose(watch.drift, 1.0, atol=0.3)


def largest_drifts(lost, noise=NOISE / 10.0):
    """Return the (joints,) largest drift that is told while samples from 700 on are lost."""
    q, tau = motion()
    efforts = tau + np.random.default_rng(7).normal(size=tau.shape) * noise
    kept = np.delete(np.arange(SAMPLES), slice(700, 700 + lost))
    watch = ModelMonitor(ROBOT, TRUTH, replace(LEVEL, residual_std=LEVEL.residual_std / 10.0))
    told = []
    for first in range(0, len(kept), 40):
        part = kept[first : first + 40]
        watch.push(STAMPS[part], q[part], efforts[part])
        told.append(watch.drift)
    return np.nanmax(told, axis=0)


@pytest.mark.parametrize("lost", [1, 5, 10, 15, 20, 40, 300])
def test_samples_that_are_lost_in_motion_are_no_drift(lost):
    """Neither what is bridged nor the ends of what is torn: the noise is a tenth of the above."""
    assert (largest_drifts(lost) < DRIFT_WARNING).all()


@pytest.mark.parametrize("shift", [-(10**11), 0])
def test_prediction_goes_on_after_the_clock_was_set_back_or_one_stamp_was_far_ahead(shift):
    q, tau = motion()
    noise = np.random.default_rng(5).normal(size=tau.shape) * NOISE
    watch = ModelMonitor(ROBOT, TRUTH, LEVEL)
    watch.push(STAMPS[:300], q[:300], tau[:300] + noise[:300])
    watch.push(STAMPS[300:301] + 3600 * 10**9, q[300:301], tau[300:301])
    stamps = STAMPS + shift
    blocks = [
        block
        for part in (slice(i, i + 10) for i in range(301, SAMPLES, 10))
        for block in watch.push(stamps[part], q[part], tau[part] * 1.5 + noise[part])
    ]
    predicted = np.concatenate([block.stamps for block in blocks])
    np.testing.assert_array_equal(predicted, stamps[301 : 301 + len(predicted)])
    assert len(predicted) > SAMPLES - 400
    assert (watch.drift > DRIFT_WARNING).any()


def test_nothing_is_said_before_enough_rows_have_come():
    watch = ModelMonitor(ROBOT, TRUTH, LEVEL)
    q, tau = motion()
    watch.push(STAMPS[:300], q[:300], tau[:300])
    assert np.isnan(watch.drift).all()


COUPLED = replace(
    ROBOT,
    couplings=(
        Coupling(
            "Fcm",
            TermKind.COULOMB,
            (CouplingTerm(on={"joint_2": 1.0}, of={"joint_1": 1.0, "joint_2": 1.0}),),
        ),
    ),
)


@pytest.mark.parametrize(("robot", "drifts"), [(ROBOT, True), (COUPLED, False)])
def test_rows_that_the_identification_leaves_out_are_no_drift(robot, drifts):
    """Friction of a shared motor changes its sign where the sum of two speeds does."""
    q, tau = motion()
    summed = np.abs(np.gradient(q, 0.01, axis=0).sum(axis=1))
    noise = np.random.default_rng(5).normal(size=tau.shape) * NOISE
    noise[summed < 0.2, 1] += 1.0
    values = np.append(TRUTH, np.zeros(len(robot.couplings)))
    level = replace(LEVEL, threshold=np.array([0.4, 0.4]), window=3)
    watch = ModelMonitor(robot, values, level)
    watch.push(STAMPS, q, tau + noise)
    np.testing.assert_array_equal(watch.drift > DRIFT_WARNING, [False, drifts])


@pytest.mark.parametrize(("scope", "drifts"), [("joint", True), ("sample", False)])
def test_with_scope_sample_a_slow_joint_costs_the_rows_of_all(scope, drifts):
    q, tau = motion()
    slow = np.abs(np.gradient(q[:, 1], 0.01)) < 0.2
    noise = np.random.default_rng(5).normal(size=tau.shape) * NOISE
    noise[slow, 0] += 4.0
    level = replace(LEVEL, threshold=np.array([0.0, 0.4]), window=3, scope=scope)
    watch = ModelMonitor(ROBOT, TRUTH, level)
    watch.push(STAMPS, q, tau + noise)
    assert (watch.drift[0] > DRIFT_WARNING) == drifts


def test_the_simulation_of_didim_leaves_no_level_for_measured_motion():
    """Its residuals are smaller by far: simulated accelerations have no noise."""
    recording = build_recording(RawSamples(STAMPS, *_measured()), ROBOT.joint_names)
    result = identify(ROBOT, [recording])
    calibrated = calibrate(ROBOT, result)
    assert ResidualReference.of(result, calibrated).residual_std.all()
    simulated = replace(result, method="didim")
    assert not ResidualReference.of(simulated, calibrated).residual_std.any()


def _measured():
    """Return positions, no velocities, and efforts with noise."""
    q, tau = motion()
    return q, None, tau + np.random.default_rng(5).normal(size=tau.shape) * NOISE


def test_averages_over_periods_leave_no_level_for_single_samples():
    """Their cut-off is the highest harmonic of a series: as a filter it would damp the motion."""
    recording = periodic_recording()
    result = identify(ROBOT, [recording], periodic=PeriodicMotion(PERIOD))
    calibrated = calibrate(ROBOT, result)
    watch = ModelMonitor(ROBOT, calibrated.values, ResidualReference.of(result, calibrated))
    (segment,) = recording.segments
    stamps = BEGIN + np.rint(1e9 * segment.time).astype(np.int64)
    blocks = watch.push(stamps, segment.position, segment.effort)
    assert np.isnan(watch.drift).all()
    assert not watch.compares
    predicted = np.concatenate([block.effort for block in blocks])
    measured = segment.effort[: len(predicted)]
    middle = slice(300, len(predicted) - 300)
    error = np.linalg.norm((predicted - measured)[middle], axis=0)
    assert (error < 0.06 * np.linalg.norm(measured[middle], axis=0)).all(), "the motion is damped"
    assert ModelMonitor(ROBOT, TRUTH, LEVEL).compares


def test_efforts_are_those_of_the_filter_of_the_identification():
    """Other orders than the usual ones: those that the result states count."""
    stated = ProcessingSettings(
        cutoff_hz=3.0, filter_order=2, difference_order=2, rate_hz=10.0, velocity_threshold=(0.05,)
    )
    q, tau = motion()
    recording = build_recording(RawSamples(STAMPS, q, None, tau), ROBOT.joint_names)
    result = identify(ROBOT, [recording], overrides=stated)
    settings = resolve_processing(ROBOT, [recording], stated)
    (segment,) = filter_recording(recording, replace(settings, drop_start=0, drop_end=0))
    base = base_parameters(ROBOT)
    error = relative_error(result.factors, base.values(TRUTH[base.columns]))
    level = ResidualReference.of(result, SimpleNamespace(error=error, error_identified=error))
    watch = ModelMonitor(ROBOT, TRUTH, level)
    blocks = [
        block
        for part in (slice(i, i + 10) for i in range(0, SAMPLES, 10))
        for block in watch.push(STAMPS[part], q[part], tau[part])
    ]
    middle = slice(200, SAMPLES - 300)
    for name in ("position", "velocity"):
        found = np.concatenate([getattr(block, name) for block in blocks])
        whole = getattr(segment, name).T
        np.testing.assert_allclose(found[middle], whole[middle], atol=1e-4 * np.abs(whole).max())
