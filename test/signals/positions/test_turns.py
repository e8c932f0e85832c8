"""Joints that turn without end, whose driver wraps positions into one turn."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from made_up_signals import MILLISECOND, START, chosen, raw_samples
from robot_identification.identification.prepared_recording import prepared_recording
from robot_identification.robot.files.loading import load_robot
from robot_identification.signals.clock.stamps import Clock
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.growing.grid import OnlineGrid
from robot_identification.signals.positions.turns import (
    TURN,
    Turns,
    added_turns,
    largest_step,
    way_apart,
)
from swinging_scara import swinging_scara

NAMES = ("hip", "knee")


def wrapped(position):
    """Return positions from -pi to pi."""
    return (position + np.pi) % TURN - np.pi


def swinging(samples=2000, *, noise=0.0):
    """Return samples in which one joint swings by three turns and the other stands at pi."""
    raw = raw_samples(samples)
    rng = np.random.default_rng(0)
    position = raw.position * [3.0 * TURN / 2.0, 0.0] + [0.0, np.pi]
    return dataclasses.replace(raw, position=position + noise * rng.standard_normal((samples, 2)))


def times_of_turn(position):
    """Return how often positions go from one turn to the next."""
    return np.count_nonzero(np.abs(np.diff(wrapped(position), axis=0)) > np.pi, axis=0)


@pytest.mark.parametrize("size", [1, 7, 400, 2000])
def test_positions_go_on_over_every_turn_however_many_samples_come_at_once(size):
    raw = swinging(noise=1e-4)
    turns, found = Turns(), []
    assert turns.wraps.size == 0
    for first in range(0, len(raw.stamps), size):
        part = slice(first, first + size)
        found.append(turns.continued(raw.stamps[part], wrapped(raw.position[part])))
    moved = np.concatenate(found) - raw.position
    assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-12)
    assert_array_equal(turns.wraps, times_of_turn(raw.position))
    assert (turns.wraps > [10, 100]).all(), "a joint that stands at half a turn changes its sign"


def test_what_is_not_wrapped_stays_as_it_is():
    raw = swinging()
    turns = Turns()
    assert turns.continued(raw.stamps, raw.position) is not None
    assert_array_equal(turns.continued(raw.stamps, raw.position), raw.position)
    assert not turns.wraps.any()


@pytest.mark.parametrize("step", [np.pi, 5.7, 6.9, 2.0 * TURN])
def test_other_jumps_are_no_turns(step):
    position = np.where(np.arange(20) < 10, -step / 2.0, step / 2.0)[:, None]
    stamps = START + MILLISECOND * np.arange(20)
    assert_array_equal(Turns().continued(stamps, position), position)


def test_a_joint_that_goes_beyond_a_turn_is_not_wrapped():
    raw = swinging()
    rng = np.random.default_rng(0)
    noisy = raw.position + rng.normal(scale=3.0, size=raw.position.shape)
    assert_array_equal(Turns().continued(raw.stamps, noisy), noisy)


@pytest.mark.parametrize("beyond", [-3.5, 3.5])
def test_a_joint_that_is_half_a_turn_from_where_drivers_wrap_is_not_wrapped(beyond):
    """Neither from -pi to pi nor from 0 to one turn: 3.5 and, a jump of a turn later, -2.78."""
    position = np.full((20, 1), beyond)
    position[10:] -= np.sign(beyond) * TURN
    stamps = START + MILLISECOND * np.arange(20)
    assert_array_equal(Turns().continued(stamps, position), position)


@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize(
    "told", [(-4.0, 0.0, -3.1, 3.1), (4.0, 0.0, -3.1, 3.1), (-3.1, 4.0, 0.0, 6.2)]
)
def test_a_joint_that_was_once_beyond_a_turn_is_not_wrapped_later_either(told, size):
    position = np.array(told)[:, None]
    stamps = START + MILLISECOND * np.arange(4)
    turns = Turns()
    parts = [slice(first, first + size) for first in range(0, 4, size)]
    found = [turns.continued(stamps[part], position[part]) for part in parts]
    assert_array_equal(np.concatenate(found), position)


def test_single_samples_around_zero_go_on():
    turns = Turns()
    for i, (told, there) in enumerate([(0.01, 0.01), (TURN - 0.01, -0.01), (0.02, 0.02)]):
        stamps = np.array([START + i * MILLISECOND])
        assert_allclose(turns.continued(stamps, np.array([[told]])), [[there]], atol=1e-12)


def test_a_turn_between_two_pieces_of_a_stream_is_one():
    """In the second of them the joint goes on for half a turn."""
    turns = Turns()
    position = np.concatenate([[3.1], np.linspace(-3.1, 0.0, 500)])[:, None]
    stamps = START + MILLISECOND * np.arange(501)
    turns.continued(stamps[:1], position[:1])
    assert_allclose(turns.continued(stamps[1:], position[1:]), position[1:] + TURN)


def test_no_driver_wraps_into_both_turns_at_once():
    before = np.array([[-0.5], [0.0], [3.14]])
    after = np.array([[TURN - 0.5], [TURN], [3.14 - TURN]])
    added = added_turns(before, after, [MILLISECOND] * 3)
    assert_allclose(added, [[0.0], [-TURN], [TURN]])


@pytest.mark.parametrize("size", [1, 2000])
@pytest.mark.parametrize("lowest", [-np.pi, 0.0])
def test_drivers_wrap_at_half_a_turn_or_at_none(lowest, size):
    raw, turns = swinging(), Turns()
    told = (raw.position - lowest) % TURN + lowest
    parts = [slice(first, first + size) for first in range(0, 2000, size)]
    found = [turns.continued(raw.stamps[part], told[part]) for part in parts]
    moved = np.concatenate(found) - raw.position
    assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-9)


def test_a_joint_that_went_round_while_nothing_came_has_not_been_wrapped():
    position = np.array([[0.0], [0.0], [TURN], [TURN]])
    stamps = START + MILLISECOND * np.array([0, 1, 500, 501])
    assert_array_equal(Turns().continued(stamps, position), position)
    assert_array_equal(Turns().continued(stamps // 2, position), np.zeros((4, 1)))


@pytest.mark.parametrize(
    ("milliseconds", "way", "turns"),
    [
        (1, 0.49, True), (1, 0.51, False), (390, 0.95, True), (390, 1.0, False),
        (400, 0.0, True), (401, 0.0, False),
    ],
)  # fmt: skip
def test_a_step_that_is_off_a_turn_by_the_way_of_a_joint_is_one(milliseconds, way, turns):
    """Half a radian, or what it goes at 2.5 rad/s, as long as a gap is bridged: 0.4 s."""
    before = np.array([[np.pi - way / 2.0]])
    after = before - (TURN - way)
    added = added_turns(before, after, [milliseconds * MILLISECOND])
    assert_allclose(added, [[TURN * turns]])
    assert_allclose(added_turns(after, before, [milliseconds * MILLISECOND]), -added)


@pytest.mark.parametrize("gap", [0.02, 0.1, 0.3, 0.39])
@pytest.mark.parametrize("size", [1, 1000])
def test_a_turn_within_a_gap_that_is_bridged_is_one(gap, size):
    """The joint turns at 2 rad/s, and is in the middle of the gap where its driver wraps it."""
    times = np.arange(1000) * 1e-3
    times = times[np.abs(times - 0.5) > gap / 2.0]
    position = np.pi + 2.0 * (times[:, None] - 0.5)
    stamps = START + np.rint(1e9 * times).astype(np.int64)
    turns = Turns()
    parts = [slice(first, first + size) for first in range(0, len(stamps), size)]
    found = [turns.continued(stamps[part], wrapped(position[part])) for part in parts]
    assert_allclose(np.concatenate(found), position, atol=1e-12)


@pytest.mark.parametrize("size", [1, 1000])
def test_a_fast_way_from_one_limit_to_the_other_within_a_gap_is_none(size):
    """At 12 rad/s for 0.39 s, as the fastest wrists can."""
    times = np.arange(1000) * 1e-3
    times = times[np.abs(times - 0.5) > 0.195]
    position = np.clip(12.0 * (times[:, None] - 0.5), -3.0, 3.0)
    stamps = START + np.rint(1e9 * times).astype(np.int64)
    turns = Turns()
    parts = [slice(first, first + size) for first in range(0, len(stamps), size)]
    found = [turns.continued(stamps[part], position[part]) for part in parts]
    assert_array_equal(np.concatenate(found), position)


def test_a_recording_is_that_of_positions_that_were_not_wrapped_and_says_so():
    raw = dataclasses.replace(swinging(), reference=swinging().position + 1e-3)
    told = dataclasses.replace(raw, position=wrapped(raw.position))
    mixed = chosen(told, np.arange(len(raw.stamps)).reshape(-1, 2)[:, ::-1].ravel())
    found = build_recording(mixed, NAMES, source="bag")
    plain = build_recording(raw, NAMES, source="bag")
    (segment,), (expected,) = found.segments, plain.segments
    offset = segment.position[0] - expected.position[0]
    assert_allclose(offset / TURN, np.rint(offset / TURN), atol=1e-12)
    assert_allclose(segment.position, expected.position + offset, atol=1e-9)
    assert_allclose(segment.reference - segment.position, 1e-3, atol=1e-9)
    assert plain.warnings == ()
    assert "bag: the driver wraps the positions of hip into one turn" in found.warnings[0]


def test_a_lost_sample_in_the_turn_is_bridged():
    raw = swinging()
    place = int(np.flatnonzero(np.abs(np.diff(wrapped(raw.position[:, 0]))) > np.pi)[3])
    kept = np.delete(np.arange(len(raw.stamps)), [place, place + 1])
    told = chosen(dataclasses.replace(raw, position=wrapped(raw.position)), kept)
    (segment,) = build_recording(told, NAMES).segments
    assert segment.missing == 2
    moved = segment.position - raw.position
    assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-2)


def test_a_stream_is_continuous_too():
    raw = swinging()
    grid, found = OnlineGrid(Clock(float(MILLISECOND))), []
    for first in range(0, len(raw.stamps), 100):
        part = slice(first, first + 100)
        pieces = grid.push(raw.stamps[part], wrapped(raw.position[part]), raw.effort[part])
        found += [piece.position for piece in pieces]
    found += [piece.position for piece in grid.end()]
    moved = np.concatenate(found) - raw.position
    assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-9)


def test_what_is_known_of_a_bag_and_of_its_turns_is_told():
    raw = swinging_scara()
    far = dataclasses.replace(raw, position=wrapped(raw.position + np.array([np.pi, 0.0])))
    told = prepared_recording(far, load_robot("scara"), source="bag", warnings=["bag: old"])
    assert told.warnings[0] == "bag: old"
    assert "joint_1 into one turn" in told.warnings[1]


@pytest.mark.parametrize("samples", [2, 3, 4096, 4097, 4098, 8193])
def test_the_largest_step_is_found_wherever_it_is(samples):
    for place in (1, samples - 1):
        position = np.zeros((samples, 2))
        position[place:, 1] = -1e-3
        assert largest_step(position) == 1e-3
    assert largest_step(position[:1]) == 0.0


def test_positions_a_turn_apart_are_the_same_place():
    assert way_apart(3.0, 3.5) == way_apart(3.5, 3.0) == 0.5
    assert way_apart(3.1, 3.1 - TURN) == pytest.approx(0.0, abs=1e-12)
    assert way_apart(-3.1, 3.1) == pytest.approx(TURN - 6.2)
    assert way_apart(0.0, 3.0 * np.pi) == pytest.approx(np.pi)
