"""Parts of recordings, by shares of their samples and by seconds."""

import numpy as np
import pytest

from robot_identification.errors import RecordingError, SettingError
from robot_identification.signals.recording import Recording, Seconds, Segment

PERIOD = 0.01


def recording(*runs):
    """Return a recording whose segments reach from one time to another, in s."""
    segments = []
    for first, last in runs:
        time = np.arange(round(first / PERIOD), round(last / PERIOD)) * PERIOD
        values = time[:, None]
        segments.append(Segment(time, values, None, values))
    return Recording(("joint",), PERIOD, tuple(segments))


def times(part):
    return np.concatenate([segment.time for segment in part.segments])


@pytest.mark.parametrize(
    ("begin", "end", "first", "last"),
    [
        (Seconds(2.5), 1.0, 2.5, 9.99),
        (0.0, Seconds(2.5), 0.0, 2.49),
        (Seconds(1.0), Seconds(-2.0), 1.0, 7.99),
        (Seconds(-3.0), 1.0, 7.0, 9.99),
        (0.1, Seconds(4.0), 1.0, 3.99),
        (Seconds(0.004), Seconds(100.0), 0.0, 9.99),
    ],
)
def test_ends_are_shares_or_seconds(begin, end, first, last):
    part = recording((0.0, 10.0)).between(begin, end)
    assert times(part)[[0, -1]] == pytest.approx([first, last])


def test_seconds_pass_in_gaps_too_and_count_from_the_first_sample():
    whole = recording((5.0, 7.0), (9.0, 12.0))
    part = whole.between(Seconds(1.0), Seconds(4.5))
    assert [segment.time[[0, -1]].round(2).tolist() for segment in part.segments] == [
        [6.0, 6.99],
        [9.0, 9.49],
    ]
    assert times(whole.between(Seconds(2.5), Seconds(4.5)))[0] == pytest.approx(9.0)


def test_a_time_behind_the_end_is_told_with_the_length_of_the_recording():
    with pytest.raises(
        RecordingError, match=r"between 12 s and the fraction 1;.*within the 9.99 s"
    ):
        recording((0.0, 10.0)).between(Seconds(12.0), 1.0)


@pytest.mark.parametrize(
    ("begin", "end", "problem"),
    [
        (0.0, 5, r"end = 5: is no fraction from 0 to 1; a time in s is Seconds\(5\)"),
        (-2.0, 1.0, r"begin = -2.0: .*Seconds\(-2\)"),
        (0.0, float("nan"), "end = nan: must be a finite number"),
        (Seconds(float("nan")), 1.0, "begin = nan"),
    ],
)
def test_a_time_that_is_not_told_as_one_is_no_place(begin, end, problem):
    with pytest.raises(SettingError, match=problem):
        recording((0.0, 10.0)).between(begin, end)
