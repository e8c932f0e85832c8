"""The tests of a link tell bodies that can exist from such as cannot."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from random_calibrations import can_exist
from robot_identification.calibration.consistency.link_checks import check_link
from robot_identification.robot.bodies import Body
from robot_identification.robot.parameters import INERTIAL

TX40 = yaml.safe_load((Path(__file__).parents[2] / "reference" / "tx40.yaml").read_text())
PRIOR, BASE, ESSENTIAL = range(3)


def table_link(number, column):
    """Return the ten parameters of a link of the TX-40, from a column of the published table."""
    return np.array([TX40["parameters"][f"{name}{number}"][column] for name in INERTIAL])


def body(mass, centre, moments, rotation=None):
    turn = np.eye(3) if rotation is None else rotation
    return Body(mass, np.array(centre), turn @ np.diag(moments) @ turn.T).standard


def test_inertia_at_the_centre_of_mass_is_that_of_the_body():
    rng = np.random.default_rng(1)
    spread = rng.normal(size=(3, 3))
    second = spread @ spread.T
    inertia = np.trace(second) * np.eye(3) - second
    centre = rng.normal(size=3)
    check = check_link("link", "joint", Body(3.0, centre, inertia).standard)
    np.testing.assert_allclose(check.inertia, inertia, atol=1e-12)
    np.testing.assert_allclose(check.centre, centre, atol=1e-14)
    assert check.consistent
    assert check.failing_minor == ""
    assert check.problem == ""


@pytest.mark.parametrize("mass", [-2.0, 0.0])
def test_without_a_positive_mass_there_is_no_centre_and_no_inertia(mass):
    ten = np.array([1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.25, 0.0, 0.0, mass])
    check = check_link("link", "joint", ten)
    assert not check.positive_mass
    np.testing.assert_array_equal(check.centre, np.full(3, np.nan))
    np.testing.assert_array_equal(check.inertia, np.full((3, 3), np.nan))
    assert not check.triangle_inequality
    assert not any(check.cholesky.values())
    assert dict(check.minors) == {"M": mass}


@pytest.mark.parametrize(
    ("ten", "minor", "words"),
    [
        (body(2.0, (0, 0, 0), (1, 1, 1)) * -1.0, "M", "M = -2"),
        (body(0.0, (0, 0, 0), (1, 1, 1)), "M", "M = 0"),
        (body(1.0, (0.1, 0, 0), (-1, 3, 3)), "Jxx", "Jxx = -1"),
        (body(1.0, (0.1, 0, 0), (1, -3, 3)), "Jxx Jyy - Jxy^2", "-3"),
        (body(1.0, (0.1, 0, 0), (1, 3, -0.5)), "det J", "-1.5"),
    ],
)
def test_the_first_failing_minor_is_named(ten, minor, words):
    check = check_link("forearm", "elbow", ten)
    assert not check.consistent
    assert check.failing_minor == minor
    assert check.problem.startswith("link forearm: Sylvester's minor " + minor)
    assert words in check.problem


def test_a_positive_definite_inertia_may_still_break_the_triangle_inequality():
    check = check_link("link", "joint", body(1.0, (0.2, 0.1, 0.0), (1.0, 1.0, 2.5)))
    assert check.failing_minor == ""
    assert check.cholesky[0.0]
    assert not check.triangle_inequality
    assert check.pseudo_inertia_min_eigenvalue < 0.0
    assert not check.consistent
    assert "(1, 1, 2.5) break the triangle inequality" in check.problem


@pytest.mark.parametrize(
    ("moments", "holds"),
    [((1.0, 2.0, 2.5), True), ((1.0, 2.0, 3.0), False), ((3.0, 3.0, 7.0), False)],
)
def test_the_largest_principal_moment_is_below_the_sum_of_the_others(moments, holds):
    assert check_link("link", "joint", body(1.0, (0, 0, 0), moments)).triangle_inequality is holds


def test_pseudo_inertia_says_what_mass_and_principal_moments_say():
    rng = np.random.default_rng(2)
    verdicts = []
    for _ in range(500):
        moments = rng.normal(1.0, 1.0, size=3)
        rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        ten = body(rng.normal(1.0, 0.7), rng.normal(size=3), moments, rotation)
        check = check_link("link", "joint", ten)
        assert check.consistent == can_exist(ten)
        assert check.consistent == (check.pseudo_inertia_min_eigenvalue > 0.0)
        verdicts.append(check.consistent)
    assert 50 < sum(verdicts) < 450


def test_a_tolerance_is_granted_to_the_inertia():
    ten = body(1.0, (0.0, 0.1, 0.0), (-0.015, 0.1, 0.1))
    granted = {t: check_link("link", "joint", ten, t).consistent for t in (0.0, 0.01, 0.02, 0.04)}
    assert granted == {0.0: False, 0.01: False, 0.02: True, 0.04: True}
    assert check_link("link", "joint", ten).cholesky == granted
    assert "fails even with 0.01" in check_link("link", "joint", ten, 0.01).problem


@pytest.mark.parametrize(
    ("moments", "minor"),
    [
        ((-0.015, 0.1, 0.1), "Jxx"),
        ((0.1, -0.015, 0.1), "Jxx Jyy - Jxy^2"),
        ((0.1, 0.1, -0.015), "det J"),
    ],
)
def test_where_a_tolerance_is_granted_that_it_does_not_suffice_is_told(moments, minor):
    ten = body(1.0, (0.0, 0.1, 0.0), moments)
    check = check_link("forearm", "elbow", ten, 0.01)
    assert check.failing_minor == minor
    assert check.problem == ("link forearm: the inertia at the centre of mass fails even with 0.01")
    massless = check_link("forearm", "elbow", -ten, 0.01)
    assert massless.problem == "link forearm: Sylvester's minor M = -1 is not positive"


def test_of_a_tolerance_that_is_not_reported_only_the_triangle_inequality_is_told():
    ten = body(1.0, (0.0, 0.1, 0.0), (0.1, 0.1, 0.5))
    check = check_link("forearm", "elbow", ten, 0.01, tolerances=(0.0,))
    assert "principal moments (0.1, 0.1, 0.5) break the triangle inequality" in check.problem


@pytest.mark.parametrize(
    ("mass", "moments", "tolerance", "left"),
    [
        (1.0, (0.5, 0.5, 0.5), 0.0, True),
        (1.0, (1.5, 1.5, 1.5), 0.0, False),
        (4.0, (0.5, 0.5, 0.5), 0.0, False),
        (1.0, (1.005, 1.005, 1.005), 0.0, False),
        (1.0, (1.005, 1.005, 1.005), 0.02, True),
    ],
)
def test_a_link_must_be_a_body_also_without_what_is_held_on_it(mass, moments, tolerance, left):
    ten, held = body(3.0, (0.1, 0.2, 0.3), (1, 1, 1)), body(mass, (0.1, 0.2, 0.3), moments)
    check = check_link("forearm", "elbow", ten, tolerance, held=held)
    assert (check.apart, check.consistent) == (left, left)
    assert ("no body is left of it" in check.problem) != left
    assert check_link("forearm", "elbow", ten).apart is None
    broken = check_link("forearm", "elbow", body(1.0, (0, 0, 0), (1, 1, 2.5)), held=ten)
    assert not broken.apart
    assert "break the triangle inequality" in broken.problem, "of the link as it is, first"


def test_links_three_to_six_of_the_published_table():
    """The links that the table gives fully; the count over all six is printed as Table III."""
    counts = {
        column: [
            sum(
                check_link("", "", table_link(number, column)).cholesky[tolerance]
                for number in range(3, 7)
            )
            for tolerance in (0.0, 0.01, 0.02, 0.04)
        ]
        for column in (PRIOR, BASE, ESSENTIAL)
    }
    assert counts == {PRIOR: [2, 4, 4, 4], BASE: [0, 2, 2, 3], ESSENTIAL: [3, 4, 4, 4]}
    third = check_link("link 3", "joint 3", table_link(3, PRIOR))
    assert third.failing_minor == "det J"
    needle = check_link("link 6", "joint 6", table_link(6, ESSENTIAL))
    assert needle.minors["det J"] == 0.0


def test_minors_are_those_of_the_inertia_at_the_centre_of_mass():
    turn = np.linalg.qr(np.random.default_rng(4).normal(size=(3, 3)))[0]
    J = turn @ np.diag([1.0, 2.0, 2.5]) @ turn.T
    minors = check_link("link", "joint", body(1.0, (0.0, 0.1, 0.0), (1.0, 2.0, 2.5), turn)).minors
    expected = [1.0, J[0, 0], np.linalg.det(J[:2, :2]), 5.0]
    np.testing.assert_allclose(list(minors.values()), expected)
