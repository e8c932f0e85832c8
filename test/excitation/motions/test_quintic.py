import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_identification.errors import TrajectoryError
from robot_identification.excitation.motions import quintic

REAL = st.floats(-5.0, 5.0)


def peaks(step, before, after, duration):
    """Return the largest absolute velocity and acceleration."""
    polynomial = quintic.coefficients(0.0, step, before, after, duration)
    return [max(map(abs, quintic.extrema(polynomial, duration, order))) for order in (1, 2)]


@given(start=REAL, end=REAL, before=REAL, after=REAL, duration=st.floats(0.1, 10.0))
def test_a_quintic_meets_its_ends_without_acceleration(start, end, before, after, duration):
    curve = np.polynomial.Polynomial(quintic.coefficients(start, end, before, after, duration))
    at_start = [curve.deriv(order)(0.0) if order else curve(0.0) for order in range(3)]
    at_end = [curve.deriv(order)(duration) if order else curve(duration) for order in range(3)]
    np.testing.assert_allclose(at_start, [start, before, 0.0], atol=1e-9)
    np.testing.assert_allclose(at_end, [end, after, 0.0], atol=1e-7)


@given(step=REAL, before=REAL, after=REAL, duration=st.floats(0.2, 5.0))
def test_extrema_are_those_of_a_fine_grid(step, before, after, duration):
    polynomial = quintic.coefficients(0.3, 0.3 + step, before, after, duration)
    times = np.linspace(0.0, duration, 4001)
    for order in range(3):
        curve = np.polynomial.Polynomial(polynomial)
        values = (curve.deriv(order) if order else curve)(times)
        low, high = quintic.extrema(polynomial, duration, order)
        scale = 1e-5 * (1.0 + np.abs(values).max())
        assert low == pytest.approx(values.min(), abs=scale)
        assert high == pytest.approx(values.max(), abs=scale)


@given(
    step=REAL,
    before=st.floats(-1.0, 1.0),
    after=st.floats(-1.0, 1.0),
    velocity=st.floats(1.1, 8.0),
    acceleration=st.floats(0.5, 20.0),
)
def test_every_duration_from_the_shortest_on_keeps_the_limits(
    step, before, after, velocity, acceleration
):
    shortest = quintic.shortest_duration(step, before, after, velocity, acceleration)
    if shortest < 1e-3:
        return  # hardly any motion
    for factor in (1.0, 1.001, 1.05, 1.3, 2.0, 5.0, 20.0):
        peak = peaks(step, before, after, factor * shortest)
        assert peak[0] <= velocity * (1.0 + 1e-7)
        assert peak[1] <= acceleration * (1.0 + 1e-7)
    peak = peaks(step, before, after, 0.999 * shortest)
    assert peak[0] > velocity * (1.0 - 1e-9) or peak[1] > acceleration * (1.0 - 1e-9)


def test_the_largest_acceleration_is_not_monotone_so_the_largest_root_counts():
    # Equation sheet Q5: 0.8 s gives 1.80, 1.0 s gives 0, 1.5 s 1.28, 2 s 1.44, 4 s 1.08.
    found = [peaks(1.0, 1.0, 1.0, duration)[1] for duration in (0.8, 1.0, 1.5, 2.0, 4.0)]
    np.testing.assert_allclose(found, [1.80, 0.0, 1.28, 1.44, 1.08], atol=0.006)
    assert quintic.shortest_duration(1.0, 1.0, 1.0, 5.0, 1.3) > 2.0


def test_from_rest_to_rest_the_known_peaks_decide():
    # |qd| = 15/8 D/u at half way, |qdd| = 10/sqrt(3) D/u^2.
    assert quintic.shortest_duration(2.0, 0.0, 0.0, 1.5, 1e6) == pytest.approx(2.5)
    expected = np.sqrt(10.0 / np.sqrt(3.0) * 2.0 / 4.0)
    assert quintic.shortest_duration(2.0, 0.0, 0.0, 1e6, 4.0) == pytest.approx(expected)
    assert quintic.shortest_duration(0.0, 0.0, 0.0, 1.0, 1.0) == 0.0


def test_ends_above_the_velocity_limit_are_refused():
    with pytest.raises(TrajectoryError, match="velocity limit"):
        quintic.shortest_duration(1.0, 2.0, 0.0, 1.0, 1.0)
