"""Blocks are alike however samples come, and nothing waits for long."""

import math

import pytest

from robot_identification.ros.acquisition.recorder import BlockPace

PERIOD = 0.1


def blocks_of(arrivals, rate=1000.0):
    """Return times and sizes of the blocks of samples that arrive at times in ms."""
    pace, blocks, waiting, arrivals = BlockPace(PERIOD), [], 0, sorted(arrivals)
    for now in range(int(arrivals[-1]) + 1000):
        while arrivals and arrivals[0] <= now:
            arrivals.pop(0)
            waiting += 1
            if pace.add(1):
                blocks.append((now, waiting))
                waiting = 0
                pace.sent(rate)
        if now % (1e3 * PERIOD) == 50 and pace.period_ends():
            if waiting:
                blocks.append((now, waiting))
            waiting = 0
            pace.sent(rate)
    return blocks


@pytest.mark.parametrize("stall", [0, 3, 20, 90, 700])
def test_blocks_are_full_and_alike_after_a_stall_too(stall):
    arrivals = [max(ms, 1500 + stall) if ms > 1500 else ms for ms in range(4000)]
    sizes = [size for _, size in blocks_of(arrivals)]
    full = sizes.count(100)
    assert full >= 38
    assert max(sizes) == 100
    assert sum(sizes) == 4000


def test_samples_of_a_stream_that_pauses_wait_two_periods_at_most():
    arrivals = [*range(537), *range(2000, 2600)]
    blocks = blocks_of(arrivals)
    sent = [time for time, size in blocks for _ in range(size)]
    assert max(then - came for came, then in zip(arrivals, sent, strict=True)) <= 2e3 * PERIOD


def test_what_comes_at_once_fits_into_what_the_middleware_keeps():
    sizes = [size for _, size in blocks_of([0] * 100 + [500] * 3000, rate=20.0)]
    assert max(sizes) == 100
    assert len(sizes) == 31


def test_a_slow_stream_is_sent_sample_by_sample():
    assert [size for _, size in blocks_of(range(0, 3000, 100), rate=10.0)] == [1] * 30


def test_another_recording_may_have_another_rate():
    pace = BlockPace(PERIOD)
    pace.sent(1000.0)
    assert (pace.full, pace.most) == (100, 105)
    pace.add(99)
    pace.begin()
    assert not pace.add(100)
    pace.sent(math.nan)
    assert pace.full == 500
    pace.sent(1e5)
    assert (pace.full, pace.most) == (500, 500)
