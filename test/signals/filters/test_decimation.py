import numpy as np
import pytest
import scipy.signal
from hypothesis import given
from hypothesis import strategies as st

from robot_identification.errors import RecordingError, SettingError, ShapeError
from robot_identification.signals.filters.decimation import Decimator


def signals(samples, rows=3, seed=0):
    return 5.0 + np.random.default_rng(seed).standard_normal((rows, samples)).cumsum(axis=1)


@pytest.mark.parametrize(("samples", "first"), [(100, 9), (101, 0), (102, 1), (109, 8), (110, 9)])
def test_samples_are_kept_as_matlab_does(samples, first):
    decimator = Decimator(10, "last")
    kept = decimator.kept(samples)
    assert kept[0] == first
    assert kept[-1] == samples - 1
    assert len(kept) == decimator.output_count(samples) == -(-samples // 10)


@pytest.mark.parametrize("samples", [100, 101, 109, 110])
def test_samples_are_counted_from_the_first_one(samples):
    kept = Decimator(10).kept(samples)
    np.testing.assert_array_equal(kept, np.arange(0, samples, 10))
    assert len(kept) == Decimator(10).output_count(samples)


@pytest.mark.parametrize("factor", [2, 5, 10])
def test_filter_is_that_of_matlab(factor):
    b, a = scipy.signal.cheby1(8, 0.05, 0.8 / factor)
    values = signals(3000)
    reference = scipy.signal.filtfilt(b, a, values, padlen=24)
    decimator = Decimator(factor)
    decimated = decimator.decimate(values)
    np.testing.assert_allclose(decimated, reference[:, decimator.kept(3000)], rtol=1e-6)


@pytest.mark.parametrize(
    ("factor", "samples"), [(2, 3001), (3, 5000), (10, 20007), (10, 4000), (100, 130_001)]
)
@pytest.mark.parametrize("block_outputs", [7, 400])
@pytest.mark.parametrize("pinned", ["first", "last"])
def test_windows_give_what_the_whole_segment_gives(factor, samples, block_outputs, pinned):
    decimator = Decimator(factor, pinned)
    values = signals(samples)
    whole = decimator.decimate(values)
    largest = np.abs(whole).max()
    outputs = np.full_like(whole, np.nan)
    if block_outputs == 7:  # a few of many
        windows = list(decimator.blocks(samples, block_outputs))
        windows = windows[:2] + windows[len(windows) // 2 :][:2] + windows[-2:]
    else:
        windows = list(decimator.blocks(samples, block_outputs))
    for window in windows:
        part = decimator.decimate_window(values[:, window.inputs], window)
        outputs[:, window.outputs] = part
        # Rounding of the recursive filter grows with its memory.
        tolerance = 3e-13 * factor**0.5 * largest
        np.testing.assert_allclose(part, whole[:, window.outputs], atol=tolerance)
    if block_outputs == 400:
        assert not np.isnan(outputs).any()


def test_windows_stay_small_in_a_long_segment():
    decimator = Decimator(10)
    windows = list(decimator.blocks(1_000_000, 500))
    assert max(window.stop - window.start for window in windows) < 500 * 10 + 2 * 1800
    assert [w.first_output for w in windows[1:]] == [w.last_output for w in windows[:-1]]
    assert windows[-1].last_output == 100_000


def test_filter_by_a_hundred_is_stable():
    decimator = Decimator(100)
    constant = np.full((1, 50_000), 3.0)
    np.testing.assert_allclose(decimator.decimate(constant), 3.0 * decimator.gain, rtol=1e-9)
    assert decimator.gain == pytest.approx(0.98855, abs=1e-5)


def test_factor_one_changes_nothing():
    decimator = Decimator(1)
    values = signals(100)
    np.testing.assert_array_equal(decimator.decimate(values), values)
    for window in decimator.blocks(100, 30):
        part = decimator.decimate_window(values[:, window.inputs], window)
        np.testing.assert_array_equal(part, values[:, window.outputs])


def test_torque_beyond_the_new_band_is_removed_and_below_it_kept():
    time = np.arange(0, 20.0, 0.001)
    slow, fast = np.sin(2 * np.pi * 5 * time), np.sin(2 * np.pi * 130 * time)
    decimated = Decimator(10).decimate(np.vstack([slow, fast]))
    kept = Decimator(10).kept(len(time))
    inner = slice(50, -50)
    np.testing.assert_allclose(decimated[0, inner], slow[kept][inner], atol=0.012)  # 2 x 0.05 dB
    assert np.abs(decimated[1, inner]).max() < 1e-5


@pytest.mark.parametrize("factor", [0, -3])
def test_factor_must_be_positive(factor):
    with pytest.raises(SettingError, match="at least 1"):
        Decimator(factor)


def test_segment_that_is_too_short_is_refused():
    with pytest.raises(RecordingError, match="24 samples"):
        list(Decimator(10).blocks(24, 100))
    with pytest.raises(RecordingError, match="24 samples"):
        Decimator(10).decimate(np.zeros((1, 24)))


def test_window_of_another_size_is_refused():
    decimator = Decimator(10)
    window = next(decimator.blocks(5000, 100))
    with pytest.raises(ShapeError, match="expected \\(rows, "):
        decimator.decimate_window(np.zeros((2, 10)), window)


def test_end_effects_fade_within_the_outputs_that_are_cut():
    decimator = Decimator(10)
    values = signals(20_000)
    disturbed = values.copy()
    disturbed[:, 0] += 1.0  # what lies at and beyond the start is not known better than this
    difference = np.abs(decimator.decimate(disturbed) - decimator.decimate(values)).max(axis=0)
    cut = decimator.end_outputs(1e-2)
    assert 10 <= cut <= 20
    assert difference[cut:].max() < 5e-2 * difference.max()


@given(samples=st.integers(25, 400), factor=st.integers(2, 60), seed=st.integers(0, 99))
def test_compiled_filter_treats_ends_as_the_recursive_one_does(samples, factor, seed):
    decimator = Decimator(factor)
    values = signals(samples, rows=2, seed=seed)
    (window,) = decimator.blocks(samples, samples)
    assert window.inputs == slice(0, samples)
    whole = decimator.decimate(values)
    tolerance = 1e-12 * factor * np.abs(whole).max()
    np.testing.assert_allclose(decimator.decimate_window(values, window), whole, atol=tolerance)


def test_samples_that_may_not_be_written_are_decimated_all_the_same():
    decimator = Decimator(10)
    values = signals(1000)
    (window,) = decimator.blocks(1000, 100)
    expected = decimator.decimate_window(values, window)
    values.setflags(write=False)
    np.testing.assert_array_equal(decimator.decimate_window(values, window), expected)
