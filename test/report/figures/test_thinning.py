"""Thinned lines keep their peaks and their gaps."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from robot_identification.report.figures.efforts import broken_at_gaps, thinned


def test_short_lines_stay_as_they_are():
    time, values = thinned([0.0, 1.0, 2.0], [5.0, np.nan, 6.0], 2)
    np.testing.assert_array_equal(time, [0.0, 1.0, 2.0])
    np.testing.assert_array_equal(values, [5.0, np.nan, 6.0])


@given(st.integers(0, 2**32 - 1), st.integers(1, 50), st.integers(1, 3000))
def test_no_peak_is_lost_and_time_rises(seed, buckets, points):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=points)
    values[rng.random(points) < 0.1] = np.nan
    time, short = thinned(np.arange(float(points)), values, buckets)
    assert len(short) <= max(2 * buckets, points if points <= 2 * buckets else 0)
    assert np.all(np.diff(time) > 0.0)
    if np.isfinite(values).any():
        assert np.nanmax(short) == np.nanmax(values)
        assert np.nanmin(short) == np.nanmin(values)
    np.testing.assert_array_equal(short, values[time.astype(int)])


def test_lines_break_where_rows_are_missing():
    time, values = broken_at_gaps([0.0, 1.0, 2.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0, 5.0], 1.0)
    np.testing.assert_array_equal(values, [1.0, 2.0, 3.0, np.nan, 4.0, 5.0])
    assert len(time) == len(values)
