import numpy as np
import pytest
import scipy.signal

from robot_identification.errors import RecordingError, SettingError
from robot_identification.signals.filters import filtering


@pytest.fixture
def walk():
    return np.random.default_rng(1).standard_normal((3, 2000)).cumsum(axis=1)


def test_zero_phase_filter_is_that_of_matlab(walk):
    b, a = scipy.signal.butter(4, 0.2)
    reference = scipy.signal.filtfilt(b, a, walk, padlen=12)
    filtered = filtering.low_pass(walk, period=0.001, cutoff_hz=100.0)
    np.testing.assert_allclose(filtered, reference, atol=1e-12 * np.abs(walk).max())


def test_signals_are_continued_by_their_reflection_through_both_ends():
    squares = np.array([[0.0, 1.0, 4.0, 9.0]])
    found = filtering.continued(squares, 3, 2)
    np.testing.assert_array_equal(found, [[-9, -4, -1, 0, 1, 4, 9, 14, 17]])


def test_slow_motion_passes_undamped_and_without_delay():
    time = np.arange(0.0, 10.0, 0.001)
    motion = np.sin(2 * np.pi * time)
    filtered = filtering.low_pass(motion, period=0.001, cutoff_hz=10.0)
    inner = slice(1000, -1000)
    np.testing.assert_allclose(filtered[inner], motion[inner], atol=2e-8)


def test_central_differences_of_a_parabola_are_exact_inside():
    time = np.arange(100) * 0.01
    velocity = filtering.differentiate(time**2, period=0.01)
    np.testing.assert_allclose(velocity[1:-1], 2 * time[1:-1], rtol=1e-12)


@pytest.mark.parametrize("order", [0, 3, -2, 22])
def test_order_of_differences_must_be_even_and_small(order):
    with pytest.raises(SettingError, match="difference_order"):
        filtering.differentiate(np.zeros(100), 0.01, order)


@pytest.mark.parametrize("cutoff", [0.0, -1.0, 1e-9, 500.0, 1000.0, float("nan")])
def test_cutoff_of_no_use_is_refused(cutoff):
    with pytest.raises(SettingError, match="half the sampling rate of the recording, 500 Hz"):
        filtering.butterworth(cutoff, 4, period=0.001)


@pytest.mark.parametrize("order", [0, 21, 2**32 - 1])
def test_order_must_be_positive_and_small(order):
    with pytest.raises(SettingError, match="filter_order"):
        filtering.butterworth(10.0, order, period=0.001)


def test_signal_shorter_than_its_continuation_is_refused():
    with pytest.raises(RecordingError, match="12 samples are too few"):
        filtering.low_pass(np.zeros(12), period=0.001, cutoff_hz=100.0)


def test_response_has_settled_where_it_is_said_to():
    sections = filtering.butterworth(50.0, 4, period=0.001)
    settled = filtering.settling_samples(sections, 1e-2)
    response = np.abs(filtering.impulse_response(sections, 400))
    assert response[settled:].max() <= 1e-2 * response.max() < response[settled - 1]


@pytest.mark.parametrize("order", [2, 4, 8])
def test_central_differences_are_exact_for_polynomials_of_their_order(order):
    time = np.linspace(-1.0, 1.0, 41)
    derivative = filtering.differentiate(time**order, time[1] - time[0], order)
    inner = slice(order // 2, -order // 2)
    expected = order * time ** (order - 1)
    np.testing.assert_allclose(derivative[inner], expected[inner], atol=1e-12)


def test_a_higher_order_takes_the_bias_out_of_fast_motion():
    """Five hertz at 200 Hz: plain differences lose 0.4 % of the speed, order 8 nothing to see."""
    omega, period = 2 * np.pi * 5.0, 1 / 200
    time = np.arange(400) * period
    inner = slice(10, -10)
    error = {
        order: np.abs(
            filtering.differentiate(np.sin(omega * time), period, order) / omega
            - np.cos(omega * time)
        )[inner].max()
        for order in (2, 8)
    }
    assert error[2] == pytest.approx((omega * period) ** 2 / 6, rel=0.02)
    assert error[8] < 1e-7


def test_where_a_recording_was_torn_the_filter_goes_on_as_the_motion_did():
    """A short continuation begins with a steady state: as if the robot had stood."""
    time = np.arange(6000) / 1000.0
    motion = np.sin(2 * np.pi * time)
    whole = filtering.low_pass(motion, 0.001, 10.0)
    torn = slice(2000, 4001)  # whose reflection goes on as the motion does
    errors = []
    for ends in ((False, False), (True, True)):
        found = filtering.low_pass(motion[torn], 0.001, 10.0, torn=ends)
        away = np.abs(filtering.differentiate(found - whole[torn], 0.001))
        errors.append((away[0], away[-1]))
    assert errors[0] > (0.3, 0.3)
    assert errors[1] < (0.03, 0.03)


def test_an_end_that_is_not_torn_stays_as_it_was():
    motion = np.sin(np.arange(3000) / 300.0)
    whole = filtering.low_pass(motion, 0.001, 10.0)
    torn = filtering.low_pass(motion, 0.001, 10.0, torn=(False, True))
    np.testing.assert_allclose(torn[:2000], whole[:2000], atol=1e-9)
    assert np.abs(torn[-20:] - whole[-20:]).max() > 1e-5
