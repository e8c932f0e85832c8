"""Temperatures that repeat are left out without changing what they say at any time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_identification.signals.temperature import (
    LONGEST_GAP,
    STEADY_STEP,
    StampedTemperatures,
    joined,
    thinned,
)

MS = 1_000_000


def temperatures(celsius, step=2 * MS):
    stamps = 1_700_000_000_000_000_000 + step * np.arange(len(celsius), dtype=np.int64)
    return StampedTemperatures(stamps, np.array(celsius, dtype=float))


def at_all_times(measured, like):
    times = np.linspace(like.stamps[0], like.stamps[-1], 777)
    return np.interp(times, measured.stamps, measured.celsius)


@given(st.lists(st.sampled_from([20.0, 20.5, 21.0]), min_size=1, max_size=60))
def test_what_stays_says_the_same_at_every_time(celsius):
    whole = temperatures(celsius)
    np.testing.assert_array_equal(at_all_times(thinned(whole), whole), at_all_times(whole, whole))


def test_a_sensor_with_steps_needs_two_of_each_step():
    steps = np.repeat([20.0, 20.5, 21.0, 21.5], 1000)
    assert len(thinned(temperatures(steps)).stamps) == 8


def test_a_steady_temperature_is_told_from_one_that_is_not_measured():
    kept = thinned(temperatures(np.full(40_000, 20.0), 10 * MS))
    assert np.diff(kept.stamps).max() <= STEADY_STEP < LONGEST_GAP * 1e9
    assert len(kept.stamps) < 100


def test_what_is_no_number_is_left_out_and_what_is_infinite_is_not():
    kept = thinned(temperatures([np.nan, 20.0, np.nan, np.inf, np.nan]))
    assert kept.celsius.tolist() == [20.0, np.inf]


def test_nothing_stays_nothing():
    assert len(thinned(temperatures([])).stamps) == 0
    assert len(thinned(temperatures([np.nan])).stamps) == 0


def test_parts_are_joined_joint_by_joint():
    parts = [{"hip": temperatures([20.0])}, {}, {"knee": temperatures([30.0]),
             "hip": temperatures([21.0])}]  # fmt: skip
    found = joined(parts)
    assert {name: one.celsius.tolist() for name, one in found.items()} == {
        "hip": [20.0, 21.0],
        "knee": [30.0],
    }


def test_stamps_and_temperatures_belong_together():
    with pytest.raises(Exception, match="temperature has shape"):
        StampedTemperatures(np.array([1, 2]), np.array([20.0]))
