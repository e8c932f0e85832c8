import numpy as np
import pytest

from robot_identification.errors import RecordingError, SettingError
from robot_identification.signals.efforts.buffer import EffortBuffer
from robot_identification.signals.efforts.separate import EffortSamples, EffortSource, merge_efforts
from robot_identification.signals.raw_samples import RawSamples

MS = 1_000_000


def motion(stamps):
    stamps = np.asarray(stamps, dtype=np.int64)
    return RawSamples(stamps, np.zeros((len(stamps), 2)), None, np.zeros((len(stamps), 2)))


def ramp(stamps):
    """Efforts that say at which time they were measured, in ms, and twice that."""
    stamps = np.asarray(stamps, dtype=np.int64)
    return EffortSamples(stamps, np.outer(stamps / MS, [1.0, 2.0]))


def test_efforts_at_other_instants_lie_between_their_neighbours():
    merged, counts = merge_efforts(motion(np.arange(10, 60) * MS), ramp(np.arange(30) * 4 * MS), 0)
    np.testing.assert_allclose(merged.effort[:, 0], np.arange(10, 60))
    np.testing.assert_allclose(merged.effort[:, 1], 2.0 * np.arange(10, 60))
    assert counts.without_effort == 0


def test_efforts_at_the_same_stamps_pass_bit_by_bit():
    stamps = 1_700_000_000_000_000_000 + np.arange(100) * MS
    values = np.random.default_rng(1).normal(size=(100, 2))
    merged, _ = merge_efforts(motion(stamps), EffortSamples(stamps, values), 0.0)
    assert merged.effort.tolist() == values.tolist()


@pytest.mark.parametrize("delay", [0.0, 0.0042, -0.0007])
def test_a_delay_is_taken_out(delay):
    stamps = np.arange(-50, 200) * MS
    late = EffortSamples(stamps + round(delay * 1e9), ramp(stamps).effort)
    merged, _ = merge_efforts(motion(np.arange(100) * MS), late, delay)
    np.testing.assert_allclose(merged.effort[:, 0], np.arange(100), atol=1e-9)


def test_nothing_is_put_into_gaps_or_beyond_the_ends():
    stamps = [s for s in range(20, 80) if not 40 < s < 50] + [100 + i for i in range(5)]
    merged, counts = merge_efforts(motion(np.arange(110) * MS), ramp(np.array(stamps) * MS), 0.0)
    assert (merged.stamps // MS).tolist() == stamps
    assert counts.gaps == 2
    assert counts.without_effort == 110 - len(stamps)


def test_disorder_of_the_efforts_changes_nothing():
    stamps = np.arange(50) * MS
    disorder = np.concatenate([[1, 0], np.arange(2, 50), [7]])
    straight, _ = merge_efforts(motion(stamps), ramp(stamps), 0.0)
    mixed, counts = merge_efforts(motion(stamps), ramp(stamps[disorder]), 0.0)
    assert straight.effort.tolist() == mixed.effort.tolist()
    assert (counts.duplicates, counts.out_of_order) == (1, 1)


def test_efforts_of_another_clock_are_refused():
    with pytest.raises(RecordingError, match=r"10\.000 s after the first state"):
        merge_efforts(motion(np.arange(100) * MS), ramp((10_000 + np.arange(100)) * MS), 0.0)


def test_a_delay_is_stated_where_there_are_no_stamps():
    with pytest.raises(SettingError, match="carry no stamps"):
        EffortSource("/efforts").require_delay()
    with pytest.raises(SettingError, match="within a second"):
        EffortSource("/efforts", float("nan"))


@pytest.mark.parametrize("delay", [0.0, 0.0023])
def test_blocks_merge_as_all_at_once(delay):
    rng = np.random.default_rng(3)
    states = motion(np.arange(1000) * MS)
    stamps = np.delete(np.arange(-20, 1100) * MS + 300_000, slice(500, 520))
    efforts = EffortSamples(stamps, rng.normal(size=(len(stamps), 2)))
    buffer = EffortBuffer(2, delay)
    blocks, taken = [], 0
    for stamp, effort in zip(efforts.stamps.tolist(), efforts.effort, strict=True):
        buffer.add(stamp, effort)
        ready = buffer.ready
        until = int(np.searchsorted(states.stamps, ready or -1, side="right"))
        if until >= taken + 100:
            part = slice(taken, until)
            blocks.append(buffer.merge(motion(states.stamps[part])))
            taken = until
    blocks.append(buffer.merge(motion(states.stamps[taken:])))
    whole, _ = merge_efforts(states, efforts, delay)
    assert np.concatenate([b.stamps for b in blocks]).tolist() == whole.stamps.tolist()
    assert np.concatenate([b.effort for b in blocks]).tolist() == whole.effort.tolist()
    assert 0 < len(whole.stamps) < 1000


@pytest.mark.parametrize("efforts_first", [True, False])
def test_no_motion_meets_an_effort_of_a_clock_before_it_was_set_back(efforts_first):
    buffer = EffortBuffer(1, 0.0)
    for i in range(100):
        buffer.add((1000 + i) * MS, np.array([1.0]))
    old, new = motion((1050 + np.arange(10)) * MS), motion((1005 + np.arange(10)) * MS)
    assert set(buffer.merge(old).effort[:, 0]) == {1.0}
    if not efforts_first:
        buffer.next_clock()
        assert buffer.ready is None
        assert len(buffer.merge(new).stamps) == 0
    for i in range(30):
        buffer.add((1000 + i) * MS, np.array([2.0]))
    if efforts_first:
        buffer.next_clock()
    merged = buffer.merge(new)
    assert set(merged.effort[:, 0]) == {2.0}
    assert len(merged.stamps) == 10
