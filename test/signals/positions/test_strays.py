"""Readings of an encoder that failed: positions off the way of their joint for a sample or some."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from made_up_signals import MILLISECOND, START, raw_samples
from robot_identification.identification.identify import identify
from robot_identification.robot.files.loading import load_robot
from robot_identification.signals.clock.stamps import Clock
from robot_identification.signals.conditioning import build_recording, joint_side_recording
from robot_identification.signals.growing.grid import OnlineGrid
from robot_identification.signals.positions.strays import StrayWatch, stray_samples
from swinging_scara import swinging_scara

NAMES = ("hip", "knee")
PLACES = [100, 101, 102, 400, 700, 1203]


def failed(raw, places=PLACES, joint=0, value=3.0):
    """Return samples some positions of which are those of a joint elsewhere."""
    position = raw.position.copy()
    position[places, joint] += value
    return dataclasses.replace(raw, position=position)


def found(raw):
    return stray_samples(raw.stamps, raw.position)


@pytest.mark.parametrize("value", [0.03, -0.5, 1e9])
@pytest.mark.parametrize("noise", [0.0, 1e-4])
def test_positions_that_leave_the_way_and_come_back_are_found(value, noise):
    strays = found(failed(raw_samples(noise=noise), value=value))
    assert np.flatnonzero(strays[:, 0]).tolist() == PLACES
    assert not strays[:, 1].any()


def test_an_encoder_that_reads_zero_is_found_wherever_the_joint_is():
    raw = raw_samples()
    position = raw.position.copy()
    position[::50] = 0.0
    strays = stray_samples(raw.stamps, position)
    off = np.abs(raw.position[::50]) > 0.02
    assert strays[::50][1:-1][off[1:-1]].all()
    strays[::50] = False
    assert not strays.any()


@pytest.mark.parametrize("noise", [1e-5, 1e-2, 3.0])
@pytest.mark.parametrize("period", [1, 4, 20, 100])
def test_motion_and_noise_are_no_strays(noise, period):
    raw = raw_samples(3000, noise=noise, period_ns=period * MILLISECOND, seed=period)
    assert found(raw).mean() < 1e-3


def test_a_joint_that_shakes_as_fast_as_a_robot_can_does_not_stray():
    """There and back by 0.05 rad within 40 ms: 500 rad/s^2."""
    raw = raw_samples(1000, period_ns=4 * MILLISECOND)
    time = np.arange(1000) * 0.004
    shaken = 0.025 * (1.0 - np.cos(2.0 * np.pi * time / 0.04)) * (np.arange(1000) % 100 < 10)
    assert not found(dataclasses.replace(raw, position=raw.position + shaken[:, None])).any()


def test_a_position_that_stays_elsewhere_does_not_stray():
    """A zero that is set anew, a pause in which the robot was moved by hand."""
    raw = raw_samples()
    position = raw.position + np.where(np.arange(2000) < 1000, 0.0, 0.7)[:, None]
    assert not stray_samples(raw.stamps, position).any()
    stamps = raw.stamps + np.where(np.arange(2000) < 1000, 0, 10**10)
    assert not stray_samples(stamps, position).any()


@pytest.mark.parametrize(("off", "strays"), [(0.0245, False), (0.0255, True)])
def test_what_a_robot_can_do_between_rare_samples_does_not_stray(off, strays):
    """1000 rad/s^2 take a joint 0.025 rad away and back within 20 ms."""
    position = np.full((100, 1), 0.5)
    position[50] += off
    stamps = START + 10 * MILLISECOND * np.arange(100)
    assert stray_samples(stamps, position).any() == strays


@pytest.mark.parametrize(("off", "strays"), [(0.009, False), (0.015, True)])
def test_the_least_that_strays_is_a_hundredth_of_a_radian(off, strays):
    position = np.full((100, 1), 0.5)
    position[50] += off
    stamps = START + MILLISECOND * np.arange(100)
    assert stray_samples(stamps, position).any() == strays


@pytest.mark.parametrize(("off", "strays"), [(-0.02, False), (-0.03, True), (0.03, True)])
def test_the_way_of_a_fast_joint_goes_on_while_a_reading_strays(off, strays):
    """At 3 rad/s and 100 Hz a reading that is 0.03 rad behind is that of the state before."""
    position = 0.03 * np.arange(100)[:, None]
    position[50] += off
    found = stray_samples(START + 10 * MILLISECOND * np.arange(100), position)
    assert np.flatnonzero(found).tolist() == [50] * strays


@pytest.mark.parametrize(("off", "strays"), [(0.02, False), (0.05, True)])
def test_what_noise_explains_does_not_stray(off, strays):
    """Steps are off by 0.001 rad in the middle; twenty times that is 0.02 rad more."""
    raw = raw_samples(noise=1e-3)
    found = stray_samples(raw.stamps, failed(raw, [400, 800, 1200], value=off).position)
    assert np.flatnonzero(found[:, 0]).tolist() == [400, 800, 1200] * strays


@pytest.mark.parametrize(("count", "strays"), [(3, True), (4, False)])
def test_three_samples_may_stray_together(count, strays):
    places = list(range(100, 100 + count))
    assert np.flatnonzero(found(failed(raw_samples(), places))[:, 0]).tolist() == places * strays


@pytest.mark.parametrize("second", [0.8, 2.0])
def test_jumps_in_the_same_direction_do_not_stray(second):
    position = np.full((100, 1), 0.0)
    position[50], position[51:] = 0.2, second
    assert not stray_samples(START + MILLISECOND * np.arange(100), position).any()


def test_a_sound_sample_between_a_stray_one_and_a_jump_is_kept():
    """What comes after the jump stays elsewhere, as where a zero is set anew."""
    position = np.full((100, 1), 0.0)
    position[50], position[52:] = 5.0, -5.0
    strays = stray_samples(START + MILLISECOND * np.arange(100), position)
    assert np.flatnonzero(strays).tolist() == [50]


@pytest.mark.parametrize(("count", "strays"), [(3, True), (4, False)])
def test_of_few_samples_three_may_stray(count, strays):
    position = np.full((40, 1), 0.5)
    position[5 : 5 + 6 * count : 6] = 0.0
    stamps = START + MILLISECOND * np.arange(40)
    assert stray_samples(stamps, position).sum() == (count if strays else 0)


def test_a_second_driver_that_says_every_fifth_state_is_not_told_apart():
    raw = raw_samples()
    position = raw.position.copy()
    position[::5] = 5.0
    assert not stray_samples(raw.stamps, position).any()


def test_two_drivers_in_turn_are_not_told_apart():
    raw = raw_samples()
    position = np.where(np.arange(2000)[:, None] % 2, raw.position, 5.0)
    assert not stray_samples(raw.stamps, position).any()


@pytest.mark.parametrize("size", [1, 2, 5, 13, 500])
def test_a_stream_leaves_out_the_same_samples_however_many_come_at_once(size):
    raw = failed(raw_samples(noise=1e-4))
    watch, given = StrayWatch(), []
    signals = np.stack([raw.position, raw.effort], axis=1)
    for first in range(0, len(raw.stamps), size):
        part = slice(first, first + size)
        given.append(watch.push(raw.stamps[part], signals[part]))
    given.append(watch.rest())
    sound = ~found(raw).any(axis=1)
    assert_array_equal(np.concatenate([stamps for stamps, _ in given]), raw.stamps[sound])
    assert_array_equal(np.concatenate([values for _, values in given]), signals[sound])
    assert_array_equal(watch.left_out, [len(PLACES), 0])


def one_by_one(position):
    """Return the numbers of the samples of a joint that a stream at 1 kHz leaves out."""
    watch, given = StrayWatch(), []
    for place, value in enumerate(position):
        stamps, _ = watch.push(np.array([place * MILLISECOND]), np.full((1, 1, 1), value))
        given.append(stamps)
    given.append(watch.rest()[0])
    kept = np.concatenate(given) // MILLISECOND
    return sorted(set(range(len(position))) - set(kept.tolist()))


def test_a_small_step_against_the_motion_is_held_back_too():
    """4 rad/s backwards: from 0.0115 rad ahead the joint seems to go 0.0075 rad forwards."""
    position = -0.004 * np.arange(100)
    position[50] += 0.0115
    assert one_by_one(position) == [50]


def test_jumps_that_are_over_do_not_hide_what_strays_in_a_stream():
    """Nine times the joint jumps and stays; together that is too often for single readings."""
    position = 0.5 * np.minimum(np.arange(60) // 5, 9)
    position[50] += 3.0
    assert one_by_one(position) == [50]
    stamps = MILLISECOND * np.arange(60)
    assert not stray_samples(stamps, position[:, None]).any()


def test_a_stream_knows_what_was_usual_before_a_jump():
    """Some steps of a motion, by 0.001 rad, at the end of twelve samples before it."""
    position = 1e-3 * np.cumsum([*[0] * 15, 1, 2, 2, 2, 0, 1, *[0] * 16])
    position[21] += 0.05
    assert one_by_one(position) == [21]


def test_before_the_first_sample_nothing_is_known_of_a_stream():
    watch = StrayWatch()
    assert watch.left_out.size == 0
    assert watch.rest() is None


def test_a_sound_stream_is_handed_on_at_once():
    raw = raw_samples(noise=1e-4)
    watch = StrayWatch()
    for place in range(200):
        stamps, _ = watch.push(raw.stamps[[place]], raw.position[place][None, None])
        assert_array_equal(stamps, raw.stamps[[place]])


def test_no_more_is_held_back_than_what_may_stray():
    """From the jump on, until three samples have followed the way back."""
    raw = failed(raw_samples(), places=[100])
    watch = StrayWatch()
    for first, last, handed_on in ((0, 101, 100), (101, 104, 0), (104, 105, 4), (105, 106, 1)):
        stamps, _ = watch.push(raw.stamps[first:last], raw.position[first:last, None])
        assert len(stamps) == handed_on


def test_what_has_jumped_at_the_end_of_a_stream_is_handed_on():
    raw = raw_samples(200)
    position = raw.position + np.where(np.arange(200) < 198, 0.0, 0.7)[:, None]
    watch = StrayWatch()
    stamps, _ = watch.push(raw.stamps, position[:, None])
    assert_array_equal(stamps, raw.stamps[:198])
    stamps, signals = watch.rest()
    assert_array_equal(stamps, raw.stamps[198:])
    assert_array_equal(signals[:, 0], position[198:])
    assert not watch.left_out.any()


def test_their_samples_are_bridged_like_lost_ones_and_counted():
    raw = raw_samples(noise=1e-6)
    recording = build_recording(failed(raw), NAMES)
    (segment,) = recording.segments
    assert recording.statistics.strays == (len(PLACES), 0)
    assert np.flatnonzero(~segment.measured).tolist() == PLACES
    assert_allclose(segment.position, raw.position, atol=1e-3)
    assert build_recording(raw, NAMES).statistics.strays == ()


def test_a_grid_bridges_them_too():
    raw = raw_samples(noise=1e-6)
    grid = OnlineGrid(Clock(float(MILLISECOND), period_ns=float(MILLISECOND), band_hz=5.0))
    pieces = []
    for first in range(0, 2000, 37):
        part = slice(first, first + 37)
        told = failed(raw)
        pieces += grid.push(told.stamps[part], told.position[part], told.effort[part])
    pieces += grid.end()
    assert grid.strays == (len(PLACES), 0)
    assert_allclose(np.concatenate([p.position for p in pieces]), raw.position, atol=1e-3)


def test_failed_readings_cost_no_parameter():
    robot, raw = load_robot("scara"), swinging_scara()
    rng = np.random.default_rng(2)
    zero = raw.position.copy()
    zero[rng.choice(len(zero) - 20, 20, replace=False) + 10] = 0.0
    recordings = [
        joint_side_recording(dataclasses.replace(raw, velocity=None, position=position), robot)
        for position in (raw.position, zero)
    ]
    sound, spoilt = (identify(robot, [one]).estimate for one in recordings)
    assert_allclose(spoilt.values, sound.values, atol=0.5 * sound.std.max(), rtol=2e-3)
    assert any("count as lost" in line for line in identify(robot, recordings[1:]).warnings)
