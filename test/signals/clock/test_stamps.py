"""The order of stamps, duplicates, and which steps between stamps are gaps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_up_signals import MILLISECOND, chosen, raw_samples
from robot_identification.errors import SettingError
from robot_identification.signals.clock.arrivals import Arrival, Arrivals
from robot_identification.signals.clock.stamps import Clock, StampOrder, in_order
from robot_identification.signals.raw_samples import joined_samples


def test_stamps_are_put_in_order_and_the_first_of_doubles_stays():
    places, late, duplicates = in_order(np.array([10, 30, 20, 30, 10, 40]))
    assert places.tolist() == [0, 2, 1, 5]
    assert (late, duplicates) == (1, 2)


@given(st.lists(st.integers(0, 30), min_size=1))
def test_what_arrives_one_by_one_is_ordered_as_all_at_once(stamps):
    arrivals = Arrivals()
    became = [arrivals.add(stamp, place) for place, stamp in enumerate(stamps)]
    order = in_order(np.array(stamps))
    assert arrivals.values == order.places.tolist()
    assert arrivals.stamps == np.array(stamps)[order.places].tolist()
    assert became.count(Arrival.LATE) == order.late
    assert became.count(Arrival.DUPLICATE) == order.duplicates


@given(st.lists(st.integers(0, 30)), st.integers(1, 9), st.integers(0, 4))
def test_what_is_handed_on_meanwhile_rises_and_nothing_is_handed_on_twice(stamps, every, hold):
    arrivals, taken, passed = Arrivals(remembered=100), [], 0
    for count, stamp in enumerate(stamps, 1):
        passed += arrivals.add(stamp, stamp) is Arrival.PASSED
        if count % every == 0:
            taken += arrivals.take(max(len(arrivals.stamps) - hold, 0))
    taken += arrivals.take(len(arrivals.stamps))
    assert taken == sorted(set(taken)) == arrivals.passed
    assert len(set(stamps) - set(taken)) <= passed


def test_jitter_moves_the_limit_beyond_which_a_step_is_a_gap():
    regular = Clock.of(MILLISECOND * np.arange(100))
    assert regular.largest_step_ns == 1.5 * MILLISECOND
    assert Clock(100.0, 0.2).largest_step_ns == pytest.approx(210.0)
    assert Clock(100.0, 3.0).largest_step_ns == pytest.approx(250.0)
    assert regular.gaps(MILLISECOND * np.array([0, 1, 3, 4])).tolist() == [2]
    assert regular.missing([MILLISECOND, 2 * MILLISECOND, 6 * MILLISECOND]) == 6


@pytest.mark.parametrize("size", [1, 7, 400])
def test_late_samples_find_their_place_in_a_stream(size):
    raw = raw_samples(400)
    disorder = chosen(raw, np.r_[0:100, 103, 100:103, 104:400, 390])
    order = StampOrder(20)
    blocks = [order.push(disorder.at(slice(i, i + size))) for i in range(0, 401, size)]
    assert len(order.end().stamps) == 20
    joined = joined_samples([*blocks])
    np.testing.assert_array_equal(joined.stamps, raw.stamps[:380])
    assert (order.late, order.duplicates) == (0, 1)
    assert len(order.push(raw.at(slice(3))).stamps) == 0
    assert order.late == 3


def test_nothing_can_be_held_back_in_the_negative():
    with pytest.raises(SettingError, match="hold"):
        StampOrder(-1)
