"""Every placement has six geometric parameters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_robots import random_rotation
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.geometry import geometric_parameters, placement, snapped
from robot_identification.robot.joint import GeometricParameters, Joint, JointType

angles = st.one_of(st.integers(-2, 2).map(lambda k: k * np.pi / 2), st.floats(-3.1, 3.1))
lengths = st.one_of(st.just(0.0), st.floats(-2.0, 2.0))


def joint(rotation, translation):
    return Joint("joint", "link", JointType.REVOLUTE, -1, rotation, translation)


@given(angles, angles, angles, lengths, lengths, lengths)
def test_six_parameters_give_the_placement_back(gamma, alpha, theta, b, d, r):
    rotation, translation = placement(GeometricParameters(alpha, d, theta, r, gamma, b))
    again = placement(geometric_parameters(joint(rotation, translation)))
    # Axes that are parallel but for 1e-12 count as parallel.
    np.testing.assert_allclose(again[0], rotation, atol=1e-11)
    if abs(np.sin(alpha)) > 1e-6 or abs(np.sin(alpha)) < 1e-10:
        np.testing.assert_allclose(again[1], translation, atol=1e-9)


@pytest.mark.parametrize("seed", range(50))
def test_any_rotation_will_do(seed):
    rng = np.random.default_rng(seed)
    rotation, translation = random_rotation(rng), rng.normal(size=3)
    again = placement(geometric_parameters(joint(rotation, translation)))
    np.testing.assert_allclose(again[0], rotation, atol=1e-12)
    np.testing.assert_allclose(again[1], translation, atol=1e-12)


def test_parameters_that_were_given_are_kept():
    third = load_robot("puma560").joints[2]
    assert geometric_parameters(third) is third.geometry


def test_parallel_axes_have_no_b():
    found = geometric_parameters(joint(np.eye(3), [0.3, 0.4, 0.2]))
    assert (found.alpha, found.b, found.d, found.r) == (0.0, 0.0, 0.5, 0.2)
    turned = geometric_parameters(joint(np.diag([1.0, -1.0, -1.0]), [0.0, 0.0, 0.2]))
    assert (turned.alpha, turned.d, turned.r) == (np.pi, 0.0, -0.2)


def test_rotations_are_exact_but_for_rounding():
    np.testing.assert_array_equal(snapped(np.array([6e-17, 1 - 1e-13, 0.3])), [0.0, 1.0, 0.3])
