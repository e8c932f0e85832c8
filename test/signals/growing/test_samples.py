import numpy as np
import pytest

from made_up_signals import MILLISECOND, chosen, raw_samples
from robot_identification.errors import SettingError, ShapeError
from robot_identification.signals.filters import filtering
from robot_identification.signals.growing.samples import OnlineFilter


def pushed(online, raw, size):
    blocks = []
    for first in range(0, len(raw.stamps), size):
        part = slice(first, first + size)
        blocks += online.push(raw.stamps[part], raw.position[part], raw.effort[part])
    return blocks


def joined(blocks, name):
    return np.concatenate([getattr(block, name) for block in blocks])


SIGNALS = ("position", "velocity", "acceleration", "effort")


@pytest.mark.parametrize("size", [1, 37, 1000])
def test_blocks_give_what_the_whole_gives(size):
    raw = raw_samples(3000 if size > 1 else 1500)
    online, at_once = OnlineFilter(2, 50.0, 100.0), OnlineFilter(2, 50.0, 100.0)
    blocks = [*pushed(online, raw, size), *online.flush()]
    whole = [*at_once.push(raw.stamps, raw.position, raw.effort), *at_once.flush()]
    np.testing.assert_array_equal(joined(blocks, "stamps"), raw.stamps[::10])
    for name in SIGNALS:
        values = joined(whole, name)
        np.testing.assert_allclose(joined(blocks, name), values, atol=1e-3 * np.abs(values).max())
    assert blocks[0].rate_hz == pytest.approx(100.0)


@pytest.mark.parametrize("size", [10, 90])
def test_outputs_that_are_made_together_are_those_of_blocks(size):
    raw = raw_samples(3050)
    single, together = OnlineFilter(2, 50.0, 100.0), OnlineFilter(2, 50.0, 100.0, together=25)
    wanted = [*pushed(single, raw, size), *single.flush()]
    blocks = [*pushed(together, raw, size), *together.flush()]
    assert len(blocks) < len(wanted)
    assert min(len(block.stamps) for block in blocks[:-1]) >= 25
    for name in ("stamps", *SIGNALS):
        values = joined(wanted, name)
        np.testing.assert_allclose(joined(blocks, name), values, atol=1e-3 * np.abs(values).max())
    assert [block.begins for block in blocks] == [True, *[False] * (len(blocks) - 1)]


def test_signals_are_those_of_the_motion():
    raw = raw_samples(6000)
    online = OnlineFilter(2, 50.0, 100.0)
    blocks = [*pushed(online, raw, 100), *online.flush()]
    rate = 2 * np.pi * np.array([1.0, 2.0])
    inner = slice(100, -100)
    time = (joined(blocks, "stamps") - raw.stamps[0])[:, None] / 1e9
    # The decimation filter has a ripple of 0.1 dB.
    for name, expected in (
        ("position", np.sin(rate * time)),
        ("velocity", rate * np.cos(rate * time)),
        ("acceleration", -(rate**2) * np.sin(rate * time)),
        ("effort", 10.0 * np.cos(rate * time)),
    ):
        tolerance = 0.012 * np.abs(expected).max()
        np.testing.assert_allclose(joined(blocks, name)[inner], expected[inner], atol=tolerance)


@pytest.mark.parametrize(("order", "differences"), [(2, 2), (4, 2), (4, 8), (3, 12)])
def test_orders_of_filter_and_differences_are_those_that_are_stated(order, differences):
    raw = raw_samples(3000, period_ns=10 * MILLISECOND)
    online = OnlineFilter(2, 10.0, 100.0, order=order, difference_order=differences)
    blocks = [*pushed(online, raw, 100), *online.flush()]
    position = filtering.low_pass(np.ascontiguousarray(raw.position.T), 0.01, 10.0, order)
    velocity = filtering.differentiate(position, 0.01, differences)
    acceleration = filtering.differentiate(velocity, 0.01, differences)
    inner = slice(100, -100)
    for name, whole in (("velocity", velocity), ("acceleration", acceleration)):
        found = joined(blocks, name)[inner]
        np.testing.assert_allclose(found, whole.T[inner], atol=2e-4 * np.abs(whole).max())


def test_constants_pass_unchanged():
    online = OnlineFilter(1, 50.0, 100.0)
    stamps = MILLISECOND * np.arange(2000, dtype=np.int64)
    constant = np.full((2000, 1), 2.0)
    blocks = [*online.push(stamps, constant, constant), *online.flush()]
    np.testing.assert_allclose(joined(blocks, "position"), 2.0, rtol=1e-9)
    np.testing.assert_allclose(joined(blocks, "effort"), 2.0, rtol=1e-9)


def test_memory_does_not_grow_and_delay_is_known():
    online = OnlineFilter(2, 50.0, 100.0)
    assert online.delay is None
    raw = raw_samples(20_000)
    for first in range(0, 20_000, 100):
        part = slice(first, first + 100)
        blocks = online.push(raw.stamps[part], raw.position[part], raw.effort[part])
        if blocks:
            lag = (raw.stamps[first + 99] - blocks[-1].stamps[-1]) / 1e9
            assert lag <= online.delay + 0.02
    assert online.waiting < 1500


def test_gap_ends_a_run_and_begins_another():
    raw = chosen(raw_samples(3000), np.r_[0:1400, 1500:3000])
    online = OnlineFilter(2, 50.0, 100.0)
    blocks = [*pushed(online, raw, 200), *online.flush()]
    stamps = joined(blocks, "stamps")
    since = (stamps - raw.stamps[0]) // MILLISECOND
    assert 1390 in since
    assert 1500 in since
    assert not ((since >= 1400) & (since < 1500)).any()


def test_old_samples_are_dropped():
    raw = raw_samples(1000)
    disorder = chosen(raw, np.r_[0:500, 480:500, 499, 500:1000])
    online, sorted_online = OnlineFilter(2, 50.0, 100.0), OnlineFilter(2, 50.0, 100.0)
    blocks = [*pushed(online, disorder, 1021), *online.flush()]
    expected = [*pushed(sorted_online, raw, 1000), *sorted_online.flush()]
    np.testing.assert_array_equal(joined(blocks, "position"), joined(expected, "position"))


def test_too_few_samples_give_nothing():
    online = OnlineFilter(2, 50.0, 100.0)
    raw = raw_samples(20)
    assert online.push(raw.stamps, raw.position, raw.effort) == []
    assert online.flush() == []


def test_of_samples_that_repeat_a_stamp_one_is_kept():
    online = OnlineFilter(2, 20.0, 10.0)
    stamps = np.full(200, 7, dtype=np.int64)
    assert not online.push(stamps, np.zeros((200, 2)), np.zeros((200, 2)))
    assert online.waiting == 1


def test_cutoff_must_suit_the_measured_rate():
    online = OnlineFilter(2, 600.0, 100.0)
    raw = raw_samples(200)
    with pytest.raises(SettingError, match="500 Hz"):
        online.push(raw.stamps, raw.position, raw.effort)


def test_shapes_must_fit():
    online = OnlineFilter(2, 50.0, 100.0)
    raw = raw_samples(20)
    with pytest.raises(ShapeError, match="effort"):
        online.push(raw.stamps, raw.position, raw.effort[:, :1])


@pytest.fixture
def kept():
    """Which samples there are: a tenth is lost, in bursts of up to five."""
    rng, found = np.random.default_rng(0), np.ones(2000, dtype=bool)
    for first in rng.integers(60, 1900, 70):
        found[first : first + rng.integers(1, 6)] = False
    return found


@pytest.mark.parametrize("size", [1, 37, 1000])
def test_lost_samples_are_bridged_whatever_the_blocks(kept, size):
    raw = raw_samples(len(kept))
    cut = chosen(raw, np.flatnonzero(kept))
    online, at_once = OnlineFilter(2, 50.0, 100.0), OnlineFilter(2, 50.0, 100.0)
    blocks = [*pushed(online, cut, size), *online.flush()]
    expected = [*pushed(at_once, cut, len(kept)), *at_once.flush()]
    np.testing.assert_array_equal(joined(blocks, "stamps"), joined(expected, "stamps"))
    assert sum(block.begins for block in blocks) == 1
    whole = OnlineFilter(2, 50.0, 100.0)
    lossless = [*pushed(whole, raw, len(kept)), *whole.flush()]
    same = np.isin(joined(lossless, "stamps"), joined(blocks, "stamps"))
    assert same.mean() > 0.95
    for name in SIGNALS:
        values = joined(expected, name)
        scale = np.abs(values).max()
        np.testing.assert_allclose(joined(blocks, name), values, atol=1e-3 * scale)
        inner = slice(50, -50)
        away = joined(blocks, name) - joined(lossless, name)[same]
        assert np.abs(away[inner]).max() < 0.01 * scale


def test_no_effort_is_given_out_where_hardly_any_was_measured():
    raw = chosen(raw_samples(4000), np.r_[0:2000, 2050:4000])
    online = OnlineFilter(2, 50.0, 100.0)
    blocks = [*pushed(online, raw, 100), *online.flush()]
    since = (joined(blocks, "stamps") - raw.stamps[0]) // MILLISECOND
    assert sum(block.begins for block in blocks) == 1
    missing = sorted(set(range(0, 4000, 10)) - set(since.tolist()))
    assert set(range(2010, 2050, 10)) <= set(missing) <= set(range(2000, 2060, 10))
