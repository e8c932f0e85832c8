"""Measured velocities in place of those that follow from the positions."""

from dataclasses import replace

import numpy as np
import pytest

from made_up_signals import raw_samples
from robot_identification.errors import MeasuredVelocityError
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.filtered import filter_recording
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.velocities import VelocityWatch, velocity_slopes

NAMES = ("joint_1", "joint_2")
SETTINGS = Processing(
    cutoff_hz=20.0,
    filter_order=4,
    difference_order=8,
    rate_hz=100.0,
    velocity_threshold=(0.0, 0.0),
    velocity_threshold_window=0.0,
    velocity_threshold_scope="joint",
    drop_start=0,
    drop_end=0,
    ends="keep",
    residual_divisor="rows-parameters",
)
MEASURED = replace(SETTINGS, velocities="measured")
RATES = 2.0 * np.pi * np.array([1.0, 2.0])
STEP = 1e-3


def motion(samples=4000):
    """Return samples of sines, with the velocities that belong to them."""
    raw = raw_samples(samples)
    time = (raw.stamps - raw.stamps[0])[:, None] / 1e9
    return replace(raw, velocity=RATES * np.cos(RATES * time))


def recording(raw, source="run"):
    return build_recording(raw, NAMES, source=source)


def inner(segment):
    return slice(300, segment.samples - 300)


def error(values, segment, derivative):
    time = segment.time[inner(segment)]
    true = RATES[:, None] ** derivative * np.cos(
        RATES[:, None] * time + (derivative - 1) * np.pi / 2
    )
    return np.abs(values[:, inner(segment)] - true).max()


def test_good_tachometers_beside_coarse_encoders_give_better_rows():
    raw = motion()
    noise = 2e-3 * np.random.default_rng(0).normal(size=raw.position.shape)
    raw = replace(raw, position=np.round(raw.position / STEP) * STEP, velocity=raw.velocity + noise)
    (derived,) = filter_recording(recording(raw), SETTINGS)
    (measured,) = filter_recording(recording(raw), MEASURED)
    np.testing.assert_array_equal(measured.position, derived.position)
    for name, derivative in (("velocity", 1), ("acceleration", 2)):
        ours, theirs = (error(getattr(s, name), s, derivative) for s in (measured, derived))
        assert ours < 0.5 * theirs


def test_derived_velocities_do_not_look_at_measured_ones():
    raw = motion()
    (without,) = filter_recording(recording(replace(raw, velocity=None)), SETTINGS)
    (beside,) = filter_recording(recording(replace(raw, velocity=-raw.velocity)), SETTINGS)
    assert beside == without


def test_measured_velocities_pass_the_filter_of_the_positions():
    raw = motion()
    ripple = np.sin(2.0 * np.pi * 100.0 * (raw.stamps - raw.stamps[0])[:, None] / 1e9)
    (smooth,) = filter_recording(recording(replace(raw, velocity=raw.velocity + ripple)), MEASURED)
    assert error(smooth.velocity, smooth, 1) < 1e-3


def test_lost_samples_are_bridged_as_those_of_positions_are():
    raw = motion()
    kept = np.ones(len(raw.stamps), dtype=bool)
    kept[500:3500:50] = kept[501:3500:50] = kept[502:3500:50] = False
    (bridged,) = filter_recording(recording(raw.at(kept)), MEASURED)
    assert bridged.samples == len(raw.stamps)
    assert error(bridged.velocity, bridged, 1) < 1e-3
    assert error(bridged.acceleration, bridged, 2) < 0.05


def test_a_recording_without_velocities_is_refused():
    raw = replace(motion(), velocity=None)
    with pytest.raises(MeasuredVelocityError, match=r"run: it has no measured .*derived") as caught:
        filter_recording(recording(raw), MEASURED)
    assert caught.value.slope is None
    partly = replace(recording(raw), without_velocity=("joint_2",))
    with pytest.raises(MeasuredVelocityError, match="joint joint_2 has no measured velocities"):
        filter_recording(partly, MEASURED)


@pytest.mark.parametrize(
    ("factors", "joint", "slope"),
    [
        ((1.0, -1.0), "joint_2", -1.0),
        ((180.0 / np.pi, 180.0 / np.pi), "joint_1", 180.0 / np.pi),
        ((1.07, 1.0), "joint_1", 1.07),
    ],
)
def test_velocities_that_contradict_positions_are_refused(factors, joint, slope):
    raw = motion()
    with pytest.raises(MeasuredVelocityError, match="contradict its positions") as caught:
        filter_recording(recording(replace(raw, velocity=raw.velocity * factors)), MEASURED)
    assert caught.value.joint == joint
    assert caught.value.slope == pytest.approx(slope, rel=1e-3)


def test_velocities_of_exchanged_joints_are_refused():
    raw = motion()
    with pytest.raises(MeasuredVelocityError, match="order of the joints"):
        filter_recording(recording(replace(raw, velocity=raw.velocity[:, ::-1])), MEASURED)


def test_gains_within_the_calibration_of_tachometers_are_taken():
    raw = motion()
    own = recording(replace(raw, velocity=raw.velocity * (0.97, 1.03) + 0.02))
    filter_recording(own, MEASURED)
    slopes = velocity_slopes(own.segments, own.period, MEASURED)
    np.testing.assert_allclose(slopes.values, (0.97, 1.03), rtol=1e-3)


@pytest.mark.parametrize("creep", [0.0, 2e-3])
def test_a_joint_that_stands_contradicts_nothing(creep):
    raw = motion()
    rng = np.random.default_rng(1)
    position, velocity = raw.position.copy(), raw.velocity.copy()
    position[:, 1] = 0.7 + creep * position[:, 1]
    velocity[:, 1] = creep * velocity[:, 1] + 0.2 * rng.normal(size=len(velocity))
    noisy = replace(raw, position=position + 1e-5 * rng.normal(size=position.shape))
    filter_recording(recording(replace(noisy, velocity=velocity)), MEASURED)


def test_a_joint_that_does_not_move_at_all_is_not_judged():
    raw = motion()
    position = raw.position.copy()
    position[:, 1] = 0.7
    own = recording(replace(raw, position=position))
    slopes = velocity_slopes(own.segments, own.period, MEASURED)
    assert np.isnan(slopes.values[1])


def test_a_stream_finds_a_contradiction_that_comes_later():
    raw = motion(20_000)
    watch = VelocityWatch("run", NAMES, 1e-3, MEASURED)
    velocity = raw.velocity.copy()
    velocity[10_000:, 1] *= -1.0
    for first in range(0, 15_900, 100):
        watch.push(raw.position[first : first + 100], velocity[first : first + 100])
    with pytest.raises(MeasuredVelocityError) as caught:
        watch.push(raw.position[15_900:16_000], velocity[15_900:16_000])
    assert caught.value.joint == "joint_2"
