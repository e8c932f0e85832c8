"""Conditions of consistency and typical sizes, worked out by hand for a hinge and a slide."""

from dataclasses import replace

import numpy as np
import pytest

from robot_identification.calibration.conditions import (
    APART,
    CENTRE,
    LINK,
    conditions,
    scales,
    speeds_of,
)
from robot_identification.calibration.prior import Prior
from robot_identification.errors import SettingError
from robot_identification.identification.result import Regrouping
from robot_identification.robot.couplings import Coupling, CouplingTerm
from robot_identification.robot.model import Joint, JointType, RobotModel, TermKind
from robot_identification.robot.terms.measured_range import MeasuredRange
from robot_identification.robot.terms.springs import Spring, SpringEnd, SpringKind

REVOLUTE, PRISMATIC = JointType.REVOLUTE, JointType.PRISMATIC
SECOND_MOMENTS = ("XX", "XY", "XZ", "YY", "YZ", "ZZ")


def robot_of(*joints, couplings=()):
    """Return a chain of joints, each a type and the length of the link before it in m."""
    return RobotModel(
        "machine",
        "base",
        tuple(
            Joint(f"joint_{i}", f"link_{i}", kind, i - 2, np.eye(3), np.array([0.0, length, 0.0]))
            for i, (kind, length) in enumerate(joints, start=1)
        ),
        [0.0, 0.0, -9.81],
        couplings,
    )


def hinge_and_slide(couplings=()):
    return robot_of((REVOLUTE, 0.3), (PRISMATIC, 0.5), couplings=couplings)


def full(robot, **given):
    names = robot.all_parameter_names
    values = np.zeros(len(names))
    for name, value in given.items():
        values[names.index(name)] = value
    return values


def found(robot, boxes=None):
    return {(c.kind, c.owner): c for c in conditions(robot, boxes)}


def test_the_condition_of_a_link_is_its_pseudo_inertia():
    robot = hinge_and_slide()
    one = found(robot)[LINK, "link_2"]
    ten = {"XX2": 5.0, "YY2": 6.0, "ZZ2": 7.0, "XY2": -0.1, "XZ2": -0.2, "YZ2": -0.3}
    values = full(robot, **ten, MX2=1.0, MY2=2.0, MZ2=3.0, M2=9.0)
    expected = [[4.0, 0.1, 0.2, 1.0], [0.1, 3.0, 0.3, 2.0], [0.2, 0.3, 2.0, 3.0], [1, 2, 3, 9]]
    np.testing.assert_allclose(one.matrix(values), expected)
    assert (one.size, one.strict, one.joints) == (4, True, (1,))


def test_a_link_must_be_a_body_also_without_what_is_held_on_it():
    held = {"joint_2": np.array([0.5, 0.1, 0.2, 0.6, 0.3, 0.7, 0.4, 0.5, 0.6, 2.0])}
    known = found(replace(hinge_and_slide(), held=held))
    one, whole = known[APART, "link_2"], known[LINK, "link_2"]
    values = full(hinge_and_slide(), XX2=5.0, YY2=6.0, ZZ2=7.0, MX2=1.0, MY2=2.0, MZ2=3.0, M2=9.0)
    expected = [[3.6, 0.1, 0.2, 0.6], [0.1, 2.7, 0.3, 1.5], [0.2, 0.3, 1.8, 2.4]]
    expected.append([0.6, 1.5, 2.4, 7.0])
    np.testing.assert_allclose(one.matrix(values), expected)
    np.testing.assert_allclose(whole.matrix(values)[3], [1.0, 2.0, 3.0, 9.0])
    assert (one.size, one.strict, one.joints) == (4, True, (1,))
    assert (APART, "link_1") not in known


def test_drives_are_positive_and_friction_is_not_negative():
    robot = hinge_and_slide()
    values = full(robot, Ia1=1.0, Ia2=2.0, Fv1=3.0, Fv2=4.0, Fc1=5.0, Fc2=6.0, off1=7.0)
    drives = {
        (c.kind, c.owner): (c.matrix(values).item(), c.strict, c.joints)
        for c in conditions(robot)
        if c.kind != LINK
    }
    assert drives == {
        ("drive inertia", "joint_1"): (1.0, True, (0,)),
        ("drive inertia", "joint_2"): (2.0, True, (1,)),
        ("viscous friction", "joint_1"): (3.0, False, (0,)),
        ("viscous friction", "joint_2"): (4.0, False, (1,)),
        ("Coulomb friction", "joint_1"): (5.0, False, (0,)),
        ("Coulomb friction", "joint_2"): (6.0, False, (1,)),
    }


def test_springs_between_links_are_not_negative_but_for_the_preload_of_a_coil():
    """At the length that it is told with a coil may push as well as pull."""
    ends = SpringEnd(-1, (0.0, 0.0, 0.0)), SpringEnd(1, (0.1, 0.0, 0.0))
    springs = tuple(
        Spring(kind.value, kind, ends, 0.2) for kind in (SpringKind.COIL, SpringKind.GAS)
    )
    robot = replace(hinge_and_slide(), springs=springs)
    values = full(robot, coil_preload=1.0, coil_stiffness=2.0, gas_preload=3.0, gas_stiffness=4.0)
    plain = {(c.kind, c.owner) for c in conditions(hinge_and_slide())}
    added = {
        key: (c.matrix(values).item(), c.strict, c.joints)
        for key, c in found(robot).items()
        if key not in plain
    }
    assert added == {
        ("stiffness", "coil"): (2.0, False, (1,)),
        ("preload", "gas"): (3.0, False, (1,)),
        ("stiffness", "gas"): (4.0, False, (1,)),
    }


def test_gears_between_drives_multiply_their_condition():
    """A rotor that turns 2 and 3 times as fast as two joints, its friction likewise."""
    parts = tuple(CouplingTerm(on={f"joint_{i}": 2.0}, of={f"joint_{j}": 3.0}) for i, j in
                  ((1, 2), (2, 1)))  # fmt: skip
    robot = hinge_and_slide((Coupling("Fvm2", TermKind.VISCOUS, parts),))
    one = found(robot)["viscous friction", "joint_1, joint_2"]
    values = full(robot, Fv1=0.5, Fv2=0.25, Fvm2=0.125)
    np.testing.assert_allclose(one.matrix(values), [[0.5, 0.75], [0.75, 0.25]])
    assert one.joints == (0, 1)
    assert ("drive inertia", "joint_1") in found(robot), "of another kind, not coupled"


def test_a_coupling_on_one_side_counts_half_on_each():
    part = CouplingTerm(on={"joint_1": 1.0}, of={"joint_2": 1.0})
    robot = hinge_and_slide((Coupling("Fvm2", TermKind.VISCOUS, (part,)),))
    matrix = found(robot)["viscous friction", "joint_1, joint_2"].matrix(full(robot, Fvm2=3.0))
    np.testing.assert_allclose(matrix, [[0.0, 1.5], [1.5, 0.0]])


def test_a_chain_of_couplings_joins_all_drives_in_it():
    parts = tuple(CouplingTerm(on={f"joint_{i}": 1.0}, of={f"joint_{i + 2}": 1.0}) for i in (1, 3))
    robot = robot_of(*[(REVOLUTE, 0.3)] * 6,
                     couplings=(Coupling("Fvm5", TermKind.VISCOUS, parts),))  # fmt: skip
    owners = [c.owner for c in conditions(robot) if c.kind == "viscous friction"]
    assert owners == ["joint_1, joint_3, joint_5", "joint_2", "joint_4", "joint_6"]


@pytest.mark.parametrize(
    ("on", "of", "loses_power"),
    [
        ({"joint_1": 1.0, "joint_2": 2.0}, {"joint_1": 2.0, "joint_2": 4.0}, True),
        ({"joint_1": 1.0, "joint_2": 2.0}, {"joint_1": 2.0, "joint_2": 1.0}, False),
        ({"joint_1": 1.0}, {"joint_1": -1.0}, False),
        ({"joint_1": 1.0}, {"joint_2": 1.0}, False),
        *(({"joint_1": 1.0, "joint_2": x}, {"joint_1": 1.0}, False) for x in (1.0, -1.0)),
        *(({"joint_1": 1.0}, {"joint_1": 1.0, "joint_2": x}, False) for x in (1.0, -1.0)),
    ],
)
def test_coupled_friction_has_a_sign_where_it_acts_along_the_motion_that_it_follows(
    on, of, loses_power
):
    coupling = Coupling("Fcm2", TermKind.COULOMB, (CouplingTerm(on=on, of=of),))
    robot = hinge_and_slide((coupling,))
    known = found(robot)
    owner = ", ".join(of)
    coupled = [c for c in known.values() if c.basis[..., -1].any()]
    assert len(coupled) == loses_power
    if loses_power:
        assert coupled[0] is known["Coulomb friction", owner]
        assert coupled[0].matrix(full(robot, Fcm2=0.5)) == [[0.5]]
        assert (coupled[0].joints, coupled[0].strict) == ((0, 1), False)


def test_friction_of_another_kind_or_that_a_joint_has_already_is_no_condition_more():
    part = (CouplingTerm(on={"joint_1": 1.0}, of={"joint_1": 1.0}),)
    alone = len(conditions(hinge_and_slide()))
    for name, kind in (("Fvm2", TermKind.VISCOUS), ("Fc2", TermKind.COULOMB)):
        robot = hinge_and_slide((Coupling(name, kind, part),))
        assert len(conditions(robot)) == alone


def test_every_part_of_coupled_friction_must_lose_power():
    good = CouplingTerm(on={"joint_1": 1.0}, of={"joint_1": 1.0})
    bad = CouplingTerm(on={"joint_1": 1.0}, of={"joint_2": 1.0})
    for parts, count in (((good, good), 1), ((good, bad), 0), ((bad, bad), 0)):
        robot = hinge_and_slide((Coupling("Fcm2", TermKind.COULOMB, parts),))
        assert sum(bool(c.basis[..., -1].any()) for c in conditions(robot)) == count


def test_a_centre_of_mass_keeps_away_from_both_corners_of_its_box():
    """Mass times the distance to each of the six sides."""
    robot = hinge_and_slide()
    low, high = np.array([-0.1, -0.2, -0.3]), np.array([0.4, 0.5, 0.6])
    one = found(robot, {"link_2": (low, high)})[CENTRE, "link_2"]
    matrix = one.matrix(full(robot, M2=2.0, MX2=0.2, MY2=0.4, MZ2=0.5))  # at (0.1, 0.2, 0.25)
    sides = np.diag([0.2, 0.4, 0.55, 0.3, 0.3, 0.35])
    np.testing.assert_allclose(matrix, 2.0 * sides, atol=1e-15)
    assert (one.strict, one.joints) == (False, (1,))


@pytest.mark.parametrize(
    ("low", "high"),
    [
        ([0.0, 0.0, 0.0], [1.0, 1.0, 0.0]),
        ([0.0, 0.0, 0.0], [-1.0, 1.0, 1.0]),
        ([0.0, 0.0], [1.0, 1.0, 1.0]),
        ([0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0]),
        ([0.0, 0.0, 0.0], [1.0]),
        ([0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]),
    ],
)
def test_a_box_has_two_corners_of_three_coordinates(low, high):
    robot = hinge_and_slide()
    with pytest.raises(SettingError, match="three lower corners below three upper ones"):
        conditions(robot, {"link_1": (np.array(low), np.array(high))})


def test_speeds_of_joints_without_limits_are_those_measured_or_up_to_one():
    robot = hinge_and_slide()
    assert speeds_of(robot, 0, 5)[-1] == 1.0
    measured = replace(robot, measured=MeasuredRange(np.array([0.3, 0.0]), np.zeros((2, 2))))
    assert [speeds_of(measured, joint, 5)[-1] for joint in (0, 1)] == [0.3, 1.0]


# Sizes: the mean length of the hinge and the slide is 0.4 m.


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
