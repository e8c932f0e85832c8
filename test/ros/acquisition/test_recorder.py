import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_identification.ros.acquisition.recorder import Recorder
from robot_identification.ros.common.joint_states import Sample
from robot_identification.ros.common.stamps import StampStatistics

MS = 1_000_000


def sample(number, velocity=True):
    values = np.array([float(number), -float(number)])
    return Sample(10**18 + number * MS, values, values if velocity else None, values)


def record(numbers, *, every=50, rate=0.0):
    recorder = Recorder("r", 2, rate)
    blocks = []
    for i, number in enumerate(numbers):
        recorder.add(sample(number))
        if (i + 1) % every == 0:
            blocks.append(recorder.take())
    return [*filter(None, blocks), recorder.take(last=True)]


def numbers_of(blocks):
    return [int((stamp - 10**18) // MS) for block in blocks for stamp in block.samples.stamps]


def test_blocks_are_numbered_without_holes():
    blocks = record(range(120))
    assert [block.sequence for block in blocks] == [0, 1, 2]
    assert [block.first_sample for block in blocks] == [0, 50, 100]
    assert [block.last for block in blocks] == [False, False, True]
    assert numbers_of(blocks) == list(range(120))
    assert vars(blocks[-1].counts) == {
        "received": 120,
        "duplicate": 0,
        "out_of_order": 0,
        "refused": 0,
        "without_effort": 0,
        "lost": 0,
    }


def test_nothing_new_is_no_block_but_the_end_is_one():
    recorder = Recorder("r", 2)
    assert recorder.take() is None
    last = recorder.take(last=True)
    assert last.last
    assert last.samples.position.shape == (0, 2)


def test_what_waited_is_split_into_blocks_of_the_usual_size():
    recorder = Recorder("r", 2)
    for number in range(250):
        recorder.add(sample(number))
    blocks = [recorder.take(most=100), recorder.take(most=100)]
    assert recorder.pending == 50
    recorder.add(sample(250))
    blocks += [recorder.take(last=True, most=50), recorder.take(last=True, most=50)]
    assert [len(block.samples.stamps) for block in blocks] == [100, 100, 50, 1]
    assert [block.last for block in blocks] == [False, False, False, True]
    assert [block.first_sample for block in blocks] == [0, 100, 200, 250]
    assert numbers_of(blocks) == list(range(251))
    assert recorder.take(most=100) is None


def test_samples_wait_until_their_reference_is_known():
    recorder = Recorder("r", 2)
    for number in range(100):
        recorder.add(sample(number))
    known = sample(59).stamp
    assert numbers_of([recorder.take(until=known)]) == list(range(60))
    assert recorder.take(until=known) is None
    assert numbers_of([recorder.take(until=None)]) == list(range(60, 100))
    recorder.add(sample(100))
    assert numbers_of([recorder.take(until=known, last=True)]) == [100]


def test_samples_do_not_wait_for_a_reference_of_another_clock():
    recorder = Recorder("r", 2)
    recorder.add(sample(0))
    assert numbers_of([recorder.take(until=sample(0).stamp - 10**12)]) == [0]


def test_the_rate_is_known_once_there_are_steps_enough():
    recorder = Recorder("r", 2)
    assert np.isnan(recorder.rate)
    for number in range(20):
        recorder.add(sample(number))
    recorder.take()
    assert recorder.rate == pytest.approx(1000.0)


def test_received_and_lost_add_up_to_sent():
    sent = [n for n in range(400) if n not in {3, 4, 100, 250, 251, 252}]
    counts = record(sent)[-1].counts
    assert counts.received == len(sent)
    assert counts.lost == 6


@given(
    order=st.permutations(list(range(60))),
    lost=st.sets(st.integers(1, 58), max_size=20),
    every=st.integers(5, 70),
)
def test_whatever_the_order_every_sample_is_accounted_for(order, lost, every):
    start = list(range(-30, 0))  # known period
    arrived = [n for n in order if n not in lost]
    blocks = record(start + arrived + [60] + arrived[:5], every=every, rate=1000.0)
    counts = blocks[-1].counts
    assert counts.received == 30 + len(arrived) + 1 + len(arrived[:5])
    assert counts.duplicate == len(arrived[:5])
    assert counts.received - counts.duplicate + counts.lost == 30 + 60 + 1
    taken = numbers_of(blocks)
    assert taken == sorted(set(taken))
    dropped = counts.received - counts.duplicate - len(taken)
    assert 0 <= dropped <= counts.out_of_order


def test_refused_samples_count_as_received():
    recorder = Recorder("r", 2)
    recorder.add(sample(0))
    recorder.refuse()
    counts = recorder.take(last=True).counts
    assert (counts.received, counts.refused) == (2, 1)


def test_velocity_is_kept_only_where_every_sample_has_it():
    recorder = Recorder("r", 2)
    recorder.add(sample(0))
    assert recorder.take().samples.velocity is not None
    recorder.add(sample(1))
    recorder.add(sample(2, velocity=False))
    assert recorder.take().samples.velocity is None


def test_rate_and_jitter_come_from_the_stamps():
    statistics = StampStatistics()
    assert np.isnan(statistics.rate)
    assert np.isnan(statistics.jitter)
    assert statistics.add([2 * MS] * 4) == 0
    assert statistics.add([2 * MS] * 50 + [10 * MS]) == 4
    assert statistics.rate == pytest.approx(500.0)
    assert statistics.jitter == 0.0


@pytest.mark.parametrize(
    ("places", "lost"),
    [
        ([*range(50, 60)], 0),
        ([51, 50, *range(52, 60)], 0),
        ([53, 51, 50, 50, 52, *range(54, 60)], 0),
        ([48, 50, 51], 0),
        ([*range(53, 60)], 3),
        ([*range(20, 60)], 0),
    ],
    ids=["in order", "overtaken", "overtaken twice", "known", "lost", "set back"],
)
def test_what_is_lost_is_counted_in_the_order_of_the_stamps(places, lost):
    statistics = StampStatistics()
    assert statistics.between([2 * MS * place for place in range(50)]) == 0
    assert statistics.between([2 * MS * place for place in places]) == lost


def test_stamps_one_by_one_lack_what_all_of_them_lack():
    statistics = StampStatistics()
    assert sum(statistics.between([2 * MS * k]) for k in (*range(50), *range(53, 60))) == 3
