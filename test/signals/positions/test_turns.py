"""Joints that turn without end, whose driver wraps positions into one turn."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from made_up_signals import MILLISECOND, START, chosen, raw_samples
from robot_identification.identification.prepared_recording import prepared_recording
from robot_identification.robot.files.loading import load_robot
from robot_identification.signals.clock import Clock
from robot_identification.signals.conditioning import build_recording
from robot_identification.signals.growing.grid import OnlineGrid
from robot_identification.signals.positions.turns import TURN, Turns
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


@pytest.mark.parametrize("lowest", [-np.pi, 0.0])
def test_drivers_wrap_at_half_a_turn_or_at_none(lowest):
    raw = swinging()
    told = (raw.position - lowest) % TURN + lowest
    moved = Turns().continued(raw.stamps, told) - raw.position
    assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-9)


def test_a_joint_that_went_round_while_nothing_came_has_not_been_wrapped():
    position = np.array([[0.0], [0.0], [TURN], [TURN]])
    stamps = START + MILLISECOND * np.array([0, 1, 300, 301])
    assert_array_equal(Turns().continued(stamps, position), position)
    assert_array_equal(Turns().continued(stamps // 2, position), np.zeros((4, 1)))


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
