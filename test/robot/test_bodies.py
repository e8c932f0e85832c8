"""A body and its ten standard parameters say the same."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_robots import random_robot, random_rotation, random_values
from robot_identification.errors import ShapeError
from robot_identification.robot.bodies import Body, body_of, pseudo_inertia


def some_standard(seed):
    rng = np.random.default_rng(seed)
    return random_values(rng, random_robot(rng, joints=1))[:10], rng


@given(st.integers(0, 2**32 - 1))
def test_central_inertia_is_that_of_pinocchio(seed):
    """Gautier and Venture 2013, eq. 36, against Pinocchio's dynamic parameters."""
    standard, _ = some_standard(seed)
    body = body_of(standard)
    inertia = pin.Inertia(body.mass, np.array(body.centre), np.array(body.inertia))
    mass, *moment, xx, xy, yy, xz, yz, zz = inertia.toDynamicParameters()
    np.testing.assert_allclose([xx, xy, xz, yy, yz, zz, *moment, mass], standard, atol=1e-13)
    np.testing.assert_allclose(body.standard, standard, atol=1e-13)


@given(st.integers(0, 2**32 - 1))
def test_a_body_in_another_frame_is_that_of_pinocchio(seed):
    standard, rng = some_standard(seed)
    body = body_of(standard)
    turn, shift = random_rotation(rng), rng.normal(size=3)
    seen = body.seen_from(turn, shift)
    inertia = pin.Inertia(body.mass, np.array(body.centre), np.array(body.inertia))
    expected = pin.SE3(turn, shift).act(inertia)
    np.testing.assert_allclose(seen.centre, expected.lever, atol=1e-12)
    np.testing.assert_allclose(seen.inertia, expected.inertia, atol=1e-12)


@pytest.mark.parametrize(
    ("moments", "possible"), [((1.0, 1.0, 1.9), True), ((1.0, 1.0, 2.1), False)]
)
def test_the_pseudo_inertia_knows_the_triangle_inequality(moments, possible):
    body = Body(2.0, [0.1, 0.2, 0.3], np.diag(moments))
    assert (np.linalg.eigvalsh(pseudo_inertia(body.standard))[0] > 0) == possible


def test_ten_parameters_are_asked_for():
    with pytest.raises(ShapeError):
        body_of(np.ones(14))
