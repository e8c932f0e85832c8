"""Typical sizes of parameters, worked out by hand: a hinge and a slide of 0.4 m in the mean."""

from dataclasses import replace

import numpy as np
import pytest

from hinges_and_slides import REVOLUTE, found, full, hinge_and_slide, robot_of
from robot_identification.calibration.consistency.conditions import APART, CENTRE, LINK
from robot_identification.calibration.consistency.scales import scales
from robot_identification.calibration.prior import Prior
from robot_identification.identification.regrouping import Regrouping
from robot_identification.robot.couplings import Coupling, CouplingTerm
from robot_identification.robot.terms.kinds import TermKind

SECOND_MOMENTS = ("XX", "XY", "XZ", "YY", "YZ", "ZZ")


def sizes(robot, prior=None, base=(), **estimate):
    """Return scales from a prior by name, and base parameters of a single parameter each.

    base: (other, coefficient) that is grouped into the first of them.
    """
    names = robot.all_parameter_names
    given = prior or {}
    known = np.array([name in given for name in names])
    regrouping = Regrouping(
        standard_names=names,
        names=tuple(estimate),
        leading=tuple(estimate),
        regrouped=tuple(name for name, _ in base),
        beta=np.array([[c for _, c in base]] + [[0.0] * len(base)] * (len(estimate) - 1))
        if estimate
        else np.zeros((0, 0)),
    )
    before = Prior.given(names, full(robot, **given), known)
    return scales(robot, before, regrouping, np.array(list(estimate.values())))


def size_of(robot, found):
    return dict(zip(robot.all_parameter_names, found.parameters, strict=True))


def test_where_nothing_is_known_every_link_has_a_kilogram():
    robot = hinge_and_slide()
    found = sizes(robot)
    np.testing.assert_array_equal(found.mass, [1.0, 1.0])
    np.testing.assert_allclose(found.length, [0.4, 0.4])
    size = size_of(robot, found)
    for number in (1, 2):
        assert [size[f"{name}{number}"] for name in SECOND_MOMENTS] == pytest.approx([0.16] * 6)
        assert [size[f"M{axis}{number}"] for axis in "XYZ"] == pytest.approx([0.4] * 3)
        assert size[f"M{number}"] == 1.0
    assert size["Ia1"] == pytest.approx(0.16), "a rotor as large as its link"
    assert size["Ia2"] == pytest.approx(1.0), "of a slide: its mass"
    assert [size[name] for name in ("Fv1", "Fc2", "off1")] == [1.0, 1.0, 1.0]


def test_robots_without_lengths_are_ten_centimetres_large():
    np.testing.assert_allclose(sizes(robot_of((REVOLUTE, 0.0), (REVOLUTE, 0.1))).length, 0.1)
    np.testing.assert_allclose(sizes(robot_of((REVOLUTE, 0.0), (REVOLUTE, 0.3))).length, 0.15)


def test_sizes_of_bodies_are_those_of_the_prior():
    """A radius of gyration of 0.3 m: half the trace over the mass is 0.09 m^2."""
    robot = hinge_and_slide()
    found = sizes(robot, {"M1": 4.0, "XX1": 0.12, "YY1": 0.2, "ZZ1": 0.4, "M2": 9.0, "ZZ2": -1.0})
    np.testing.assert_allclose(found.mass, [4.0, 9.0])
    np.testing.assert_allclose(found.length, [0.3, 0.4])
    size = size_of(robot, found)
    assert size["XY1"] == pytest.approx(0.36)
    assert size["XX1"] == pytest.approx(0.36), "of the body, not of the parameter"
    assert size["MY1"] == pytest.approx(1.2)
    assert size["M1"] == 4.0
    assert size["Ia1"] == pytest.approx(0.36)
    assert size["Ia2"] == pytest.approx(9.0)
    light = sizes(robot, {"M1": 0.4, "XX1": 0.012, "YY1": 0.02, "ZZ1": 0.04})
    assert light.length[0] == pytest.approx(0.3), "of a tenth of the mass too"


def test_the_nominal_machine_is_made_of_balls():
    """XX = YY = ZZ of a ball with the radius of gyration l about its centre: 2 m l^2 / 3."""
    robot = hinge_and_slide()
    found = sizes(robot, {"M1": 4.0, "XX1": 0.12, "YY1": 0.2, "ZZ1": 0.4, "M2": 9.0})
    balls = {"XX1": 0.24, "YY1": 0.24, "ZZ1": 0.24, "M1": 4.0}
    balls |= {"XX2": 0.96, "YY2": 0.96, "ZZ2": 0.96, "M2": 9.0}
    np.testing.assert_allclose(found.nominal, full(robot, **balls))


@pytest.mark.parametrize(("trace", "length"), [(1e-9, 0.04), (1e9, 4.0), (0.0, 0.4), (-1.0, 0.4)])
def test_no_link_is_ten_times_larger_or_smaller_than_the_robot(trace, length):
    found = sizes(hinge_and_slide(), {"M1": 2.0, "XX1": trace})
    assert found.length[0] == pytest.approx(length)


def test_unknown_masses_are_the_median_of_the_known_ones():
    robot = robot_of(*[(REVOLUTE, 0.3)] * 5)
    found = sizes(robot, {"M1": 2.0, "M2": 8.0, "M3": 20.0, "M4": -5.0, "ZZ4": 1.0, "ZZ5": 1.0})
    np.testing.assert_allclose(found.mass, [2.0, 8.0, 20.0, 8.0, 8.0])
    np.testing.assert_allclose(found.length, 0.3)
    light = sizes(robot, {"M1": 0.2, "M2": 0.5, "M3": 0.6})
    np.testing.assert_allclose(light.mass, [0.2, 0.5, 0.6, 0.5, 0.5])


def test_no_mass_is_below_a_thousandth_of_the_largest():
    found = sizes(hinge_and_slide(), {"M1": 100.0, "M2": 1e-4})
    np.testing.assert_allclose(found.mass, [100.0, 0.1])


@pytest.mark.parametrize(
    ("name", "size", "mass"),
    [
        *((f"{moment}1", 0.8, 5.0) for moment in SECOND_MOMENTS),
        *((f"M{axis}1", 0.8, 2.0) for axis in "XYZ"),
        ("ZZ1", -0.8, 5.0),
        ("M1", 0.8, 0.8),
    ],
)
def test_without_a_prior_masses_are_those_that_explain_the_torque(name, size, mass):
    """Over 0.16 m^2 for a moment of inertia, 0.4 m for a first moment."""
    found = sizes(hinge_and_slide(), None, **{name: size})
    np.testing.assert_allclose(found.mass, [mass, mass * 1e-3])


def test_a_prior_may_lack_up_to_a_hundred_times_the_mass_that_explains_the_torque():
    for prior, expected in ((0.06, 0.06), (0.04, 0.05)):
        found = sizes(hinge_and_slide(), {"M1": prior, "M2": 0.07}, ZZ1=0.8)
        np.testing.assert_allclose(found.mass, [expected, 0.07])


def test_what_is_grouped_shares_the_estimate_as_small_bodies_would():
    """ZZ1 + 2 MX1 = 4 with the units 0.16 m^2 and 0.4 m: least norm of the two masses."""
    found = sizes(hinge_and_slide(), None, [("MX1", 2.0)], ZZ1=4.0)
    masses = 4.0 * np.array([0.16, 0.8]) / (0.16**2 + 0.8**2)
    assert found.mass[0] == pytest.approx(masses.max())
    moved = sizes(hinge_and_slide(), None, [("Fv1", 0.5)], ZZ1=4.0)
    shares = 4.0 * np.array([0.16, 0.5]) / (0.16**2 + 0.5**2)
    assert moved.mass[0] == pytest.approx(shares[0])
    assert size_of(hinge_and_slide(), moved)["Fv1"] == pytest.approx(shares[1])


def test_sizes_of_drives_and_friction_are_the_larger_of_prior_and_estimate():
    robot = hinge_and_slide()
    found = sizes(robot, {"Ia1": 0.7, "Fv1": -3.0, "Fc1": 2.0}, Ia1=0.2, Fv1=1.0, Fc1=5.0)
    size = size_of(robot, found)
    assert [size[name] for name in ("Ia1", "Fv1", "Fc1")] == pytest.approx([0.7, 3.0, 5.0])
    assert [size[name] for name in ("Fv2", "Fc2")] == pytest.approx([0.003, 0.005]), "of its kind"
    assert size["off2"] == 1.0


def test_terms_that_only_some_joints_have_are_as_large_as_theirs():
    """Such of the others are named neither by the prior nor by the base parameters."""
    robot = hinge_and_slide()
    before = Prior.given(("Fc2",), np.array([0.02]), np.array([True]))
    base = Regrouping(("Fv2",), ("Fv2",), ("Fv2",), (), np.zeros((1, 0)))
    size = size_of(robot, scales(robot, before, base, np.array([0.03])))
    expected = {"Fc1": 2e-5, "Fc2": 0.02, "Fv1": 3e-5, "Fv2": 0.03}
    assert {name: size[name] for name in expected} == pytest.approx(expected)


def test_an_estimated_drive_may_be_larger_than_its_link():
    robot = hinge_and_slide()
    size = size_of(robot, sizes(robot, None, Ia1=50.0))
    assert size["Ia1"] == pytest.approx(50.0)
    assert size["Ia2"] == pytest.approx(1.0), "its mass; a thousandth of the other is less"
    assert size_of(robot, sizes(robot, None, Ia1=5e4))["Ia2"] == pytest.approx(50.0)


def test_conditions_are_as_large_as_what_they_hold():
    part = CouplingTerm(on={"joint_1": 2.0}, of={"joint_2": 3.0})
    robot = hinge_and_slide((Coupling("Fvm2", TermKind.VISCOUS, (part,)),))
    robot = replace(robot, held={"joint_1": np.ones(10)})
    box = {"link_1": (-np.ones(3), np.ones(3))}
    prior = {"M1": 4.0, "XX1": 0.12, "YY1": 0.2, "ZZ1": 0.4, "Ia2": 0.25, "Fv1": 9.0, "Fv2": 16.0}
    found_sizes, known = sizes(robot, prior), found(robot, box)
    for kind in (LINK, APART):
        np.testing.assert_allclose(found_sizes.of(known[kind, "link_1"]), [0.6, 0.6, 0.6, 2.0])
    np.testing.assert_allclose(found_sizes.of(known[CENTRE, "link_1"]), [np.sqrt(1.2)] * 6)
    np.testing.assert_allclose(found_sizes.of(known["drive inertia", "joint_2"]), [0.5])
    coupled = known["viscous friction", "joint_1, joint_2"]
    np.testing.assert_allclose(found_sizes.of(coupled), [3.0, 4.0])
    np.testing.assert_allclose(found_sizes.of(known["Coulomb friction", "joint_1"]), [1.0])
