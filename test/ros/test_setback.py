import numpy as np
import pytest

from robot_identification.ros.acquisition.recorder import Recorder, continuation
from robot_identification.ros.common.joint_states import Sample
from robot_identification.ros.identification.recordings.live_recordings import LiveRecordings
from robot_identification.signals.clock.arrivals import SetbackWatch

START = 10**18


def passed(milliseconds):
    """Return the times in the order in which they are recorded, and the places of set-backs."""
    watch, out, places = SetbackWatch(), [], []
    for time in milliseconds:
        values = np.zeros(2)
        samples, set_back = watch.take(Sample(START + time * 1_000_000, values, None, values))
        if set_back:
            places.append(len(out))
        out += [(one.stamp - START) // 1_000_000 for one in samples]
    return out + [(one.stamp - START) // 1_000_000 for one in watch.release()], places


def test_a_clock_that_is_set_back_is_told_from_its_first_sample():
    times = [*range(0, 1000, 10), *range(500, 800, 10)]
    assert passed(times) == (times, [100])


@pytest.mark.parametrize("late", [20, 99, 150, 900])
def test_a_late_sample_is_no_clock(late):
    times = [*range(0, 1000, 10), 1000 - late, *range(1000, 1200, 10)]
    assert passed(times) == (times, [])


def test_late_samples_that_fill_a_gap_in_their_order_are_no_clock():
    """As a network delivers a block again that it had lost."""
    times = [*range(0, 500, 10), *range(560, 700, 10), *range(500, 560, 10), *range(700, 900, 10)]
    assert passed(times) == (times, [])


@pytest.mark.parametrize("to", [-300, 3, 505])
def test_a_clock_that_is_set_back_to_where_nothing_or_little_was_told_is_told(to):
    """Before the first sample, between two, and into a gap: there from the end of the gap on."""
    times = [*range(0, 500, 10), *range(600, 1000, 10), *range(to, to + 400, 10)]
    out, places = passed(times)
    assert out == times
    assert places == [90 if to < 500 else 99]


def test_a_sample_at_the_end_is_not_forgotten():
    times = [*range(0, 1000, 10), 500]
    assert passed(times) == (times, [])


def test_the_same_old_sample_over_and_over_is_no_clock():
    times = [*range(0, 1000, 10), 500, 500, 500, 1000]
    assert passed(times) == (times, [])


def test_recordings_know_their_continuation():
    assert continuation("scara-20260101T000000Z-12abcd") == "scara-20260101T000000Z-12abcd.2"
    assert continuation("arm.v2-20260101T000000Z-12abcd.9").endswith("12abcd.10")
    recordings = LiveRecordings(10**6, 10)
    for name in ("r", "r.2"):
        recorder = Recorder(name, 2)
        recorder.add(Sample(START, np.zeros(2), None, np.zeros(2)))
        recordings.add(recorder.take(last=True), "joint_torque")
    assert "r.2 goes on" in recordings.get("r").warnings()[0]
    assert "set back in r" in recordings.get("r.2").warnings()[0]
