import numpy as np
import pytest

from made_up_signals import chosen, processing, raw_samples
from random_robots import coupled_wrist, random_robot
from robot_identification.errors import RecordingError, SettingError
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.filtered import filter_recording
from robot_identification.signals.rows import LEAST_SHARE, kept_rows, measured_shares, rows_missed

NAMES = ("joint_1", "joint_2")


@pytest.fixture
def two_joints():
    return random_robot(np.random.default_rng(0), joints=2)


@pytest.fixture
def coupled_joints():
    return random_robot(np.random.default_rng(0), joints=2, couplings=coupled_wrist())


def filtered(settings, joints=NAMES):
    return filter_recording(build_recording(raw_samples(), joints), settings)[0]


def speeds_at_rows(segment, settings, motion):
    """Return the speed of a combination of joints at every row, and the smallest one nearby."""
    factor = settings.decimator(segment.period).factor
    speed = np.abs(np.asarray(motion) @ segment.velocity)
    places = settings.decimator(segment.period).kept(segment.samples)
    nearby = [speed[max(place - factor, 0) : place + factor + 1].min() for place in places]
    return speed[places], np.array(nearby)


def test_rows_of_a_slow_joint_are_left_out(two_joints):
    settings = processing(velocity_threshold=(1.0, 0.0))
    segment = filtered(settings)
    kept = kept_rows(two_joints, segment, settings)
    there, nearby = speeds_at_rows(segment, settings, [1.0, 0.0])
    assert kept.shape == (2, 200)
    assert not kept[0, there < 1.0].any()
    assert kept[0, nearby >= 1.0].all()
    assert kept[1].all()


def test_rows_of_all_joints_are_left_out_where_one_is_slow(two_joints):
    by_joint = processing(velocity_threshold=(1.0, 2.0))
    by_sample = processing(velocity_threshold=(1.0, 2.0), velocity_threshold_scope="sample")
    segment = filtered(by_joint)
    kept = kept_rows(two_joints, segment, by_sample)
    expected = kept_rows(two_joints, segment, by_joint).all(axis=0)
    assert 0 < np.count_nonzero(expected) < 200
    np.testing.assert_array_equal(kept[0], expected)
    np.testing.assert_array_equal(kept[1], expected)


def test_rows_are_left_out_where_a_motor_of_both_joints_is_slow(coupled_joints):
    settings = processing(velocity_threshold=(0.6, 0.8))
    segment = filtered(settings)
    kept = kept_rows(coupled_joints, segment, settings)
    there, _ = speeds_at_rows(segment, settings, [1.0, 1.0])
    _, first = speeds_at_rows(segment, settings, [1.0, 0.0])
    slow = there < 1.0  # root of the sum of squares of 0.6 and 0.8
    assert not kept[:, slow].any()
    assert (slow & (first >= 0.6)).any()


def test_no_threshold_leaves_no_row_out(coupled_joints):
    settings = processing()
    assert kept_rows(coupled_joints, filtered(settings), settings).all()


def test_rows_that_end_effects_reach_are_cut(two_joints):
    recording = build_recording(raw_samples(), NAMES)
    settings = processing(ends="cut")
    (segment,) = filter_recording(recording, settings)
    kept = kept_rows(two_joints, segment, settings)
    cut = settings.cut_outputs(0.001)
    assert cut == 15
    assert not kept[:, :cut].any()
    assert not kept[:, -cut:].any()
    assert kept[:, cut:-cut].all()


def test_shortest_segment_leaves_a_row(two_joints):
    settings = processing(ends="cut", drop_start=30, drop_end=20)
    shortest = settings.shortest_segment(0.001)
    (segment,) = filter_recording(build_recording(raw_samples(shortest), NAMES), settings)
    assert kept_rows(two_joints, segment, settings).any()
    with pytest.raises(RecordingError):
        filter_recording(build_recording(raw_samples(shortest - 1), NAMES), settings)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cutoff_hz", 0.0),
        ("cutoff_hz", float("nan")),
        ("rate_hz", -1.0),
        ("rate_hz", 1e-9),
        ("filter_order", 0),
        ("difference_order", 3),
        ("drop_start", -1),
        ("drop_end", -1),
        ("velocity_threshold", (-0.1, 0.0)),
        ("velocity_threshold", (float("nan"), 0.0)),
        ("velocity_threshold", (float("inf"), 0.0)),
    ],
)
def test_impossible_settings_are_refused(name, value):
    with pytest.raises(SettingError) as caught:
        processing(**{name: value})
    assert caught.value.name == name


def with_losses(kept):
    """Return filtered samples of a recording of which only those that are kept were measured."""
    recording = build_recording(chosen(raw_samples(4000), np.flatnonzero(kept)), NAMES)
    (segment,) = filter_recording(recording, processing(ends="keep"))
    return segment


def test_rows_that_lean_on_too_few_samples_are_left_out_and_counted(two_joints):
    kept = np.ones(4000, dtype=bool)
    kept[2000:2020] = False  # two rows of ten samples
    segment, settings = with_losses(kept), processing(ends="keep")
    shares = measured_shares(segment, settings.decimator(segment.period))
    assert shares.min() < 0.2
    few = np.flatnonzero(shares < LEAST_SHARE)
    assert set(few * 10) <= set(range(1990, 2030))
    counts = kept_rows(two_joints, segment, settings)
    np.testing.assert_array_equal(~counts.all(axis=0), shares < LEAST_SHARE)
    assert rows_missed(two_joints, [segment], settings) == 2 * len(few)
    assert measured_shares(segment.part(slice(0, 1500)), settings.decimator(0.001)) is None
