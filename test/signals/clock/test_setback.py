"""Clocks that were set back, and messages that are merely late."""

import numpy as np
import pytest

from made_up_signals import MILLISECOND, START
from robot_identification.errors import RecordingError
from robot_identification.signals.clock import setback
from robot_identification.signals.clock.setback import SetbackSearch


def told(milliseconds, every=None):
    """Return what is said of times in their order of arrival, all at once or some at a time."""
    stamps = START + np.round(np.asarray(milliseconds) * MILLISECOND).astype(np.int64)
    search = SetbackSearch("bag")
    try:
        for first in range(0, len(stamps), every or len(stamps)):
            search.push(stamps[first : first + (every or len(stamps))])
        search.end()
    except RecordingError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("every", [None, 1, 7, 100])
@pytest.mark.parametrize("period", [1, 4, 10])
@pytest.mark.parametrize("by", [1500.0, 500.3, 55.0, 35.0])
def test_a_clock_that_goes_on_from_before_is_told_however_the_samples_come(
    monkeypatch, by, period, every
):
    monkeypatch.setattr(setback, "_REMEMBERED", 10_000 // period)
    times = np.arange(0.0, 5000.0, period)
    first = 3000 // period
    times[first:] -= by
    said = told(times, every)
    assert (
        f"bag: the clock was set back by {(by - period) / 1e3:.3f} s before sample {first};" in said
    )


def test_a_clock_that_is_set_back_shortly_before_the_end_is_told():
    assert "before sample 1000" in told([*range(1000), *range(700, 720)])


@pytest.mark.parametrize("every", [None, 1, 7])
@pytest.mark.parametrize(
    "late",
    [
        [900], [500], [100], [980],
        [910, 920], [500, 100], [100, 500], [500, 500, 500],
        [970, 960, 950, 940],
    ],
)  # fmt: skip
def test_samples_of_before_that_come_again_are_no_clock(late, every):
    assert told([*range(1000), *late, *range(1000, 1300)], every) == ""


@pytest.mark.parametrize("every", [None, 1, 7])
@pytest.mark.parametrize(("first", "last"), [(940, 970), (960, 999), (300, 950)])
def test_samples_that_fill_a_gap_are_no_clock(first, last, every):
    """A connection holds up some messages, and others overtake them."""
    times = [*range(first), *range(last, 1000), *range(first, last), *range(1000, 1300)]
    assert told(times, every) == ""
    assert told(times[:1000], every) == ""


@pytest.mark.parametrize("period", [1, 4, 10])
def test_samples_in_any_order_within_some_tens_of_milliseconds_are_no_clock(period):
    rng, count = np.random.default_rng(0), 60 // period
    times = np.concatenate([rng.permutation(count) * period + 60.0 * block for block in range(500)])
    assert told(times) == ""
