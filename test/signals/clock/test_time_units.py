"""Times of programs are in seconds: those of another unit are told, or refused."""

import numpy as np
import pytest

import robot_identification as ri
from robot_identification.errors import RecordingError
from robot_identification.signals.clock.time_units import probable_unit

TIME = 0.004 * np.arange(200)


def recorded(time):
    """Return the recording of a robot that moves, at times of any unit."""
    position = np.sin(TIME[:, None] + [0.0, 1.0])
    return ri.Recording.from_arrays(ri.load_robot("scara"), time, position, position, source="log")


@pytest.mark.parametrize("start", [0.0, 1.7e9])
@pytest.mark.parametrize(("unit", "factor"), [("us", 1e6), ("ns", 1e9)])
def test_times_that_cannot_be_seconds_are_refused_with_what_to_do(unit, factor, start):
    words = rf"if the times are in {unit}, multiply them by {1.0 / factor:g}"
    with pytest.raises(RecordingError, match=words):
        recorded(factor * (start + TIME))


def test_times_that_may_be_milliseconds_are_told():
    (told,) = recorded(1e3 * TIME).warnings
    assert told == (
        "log: its samples lie 4 s apart; if the times are in ms, multiply them by 0.001"
    )


def test_of_times_in_seconds_nothing_is_told():
    assert recorded(1.7e9 + TIME).warnings == ()
    assert recorded(TIME).warnings == ()


def test_the_unit_follows_from_how_far_samples_lie_apart():
    found = [probable_unit(apart) for apart in (0.0, 0.49, 0.5, 499.0, 500.0, 4.9e5, 5e5)]
    assert found == ["", "", "ms", "ms", "us", "us", "ns"]
