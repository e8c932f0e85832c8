"""Sine and cosine as compiled code for blocks of samples takes them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_identification.dynamics.kernels.frames import sine_and_cosine


@given(st.floats(-1e6, 1e6))
def test_sine_and_cosine_are_exact_to_rounding(angle):
    expected = math.sin(angle), math.cos(angle)
    assert sine_and_cosine(angle) == pytest.approx(expected, rel=0, abs=2.3e-16)


def test_near_multiples_of_a_quarter_turn_small_values_are_exact_too():
    for quarters in range(-50, 51):
        angle = quarters * (math.pi / 2)
        sine, cosine = sine_and_cosine(angle)
        small, expected = (cosine, math.cos(angle)) if quarters % 2 else (sine, math.sin(angle))
        assert small == pytest.approx(expected, rel=1e-9, abs=0)


@pytest.mark.parametrize("angle", [3e7, -2e9, 1e12])
def test_far_away_the_error_is_the_distance_of_numbers(angle):
    expected = math.sin(angle), math.cos(angle)
    assert sine_and_cosine(angle) == pytest.approx(expected, rel=0, abs=np.spacing(abs(angle)))


@pytest.mark.parametrize("angle", [math.nan, math.inf, -math.inf])
def test_angles_that_are_no_numbers_stay_none(angle):
    assert np.isnan(sine_and_cosine(angle)).all()
