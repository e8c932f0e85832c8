"""Conditions of consistency, worked out by hand for a hinge and a slide."""

from dataclasses import replace

import numpy as np
import pytest

from hinges_and_slides import REVOLUTE, found, full, hinge_and_slide, robot_of
from robot_identification.calibration.consistency.conditions import (
    APART,
    CENTRE,
    LINK,
    conditions,
    speeds_of,
)
from robot_identification.errors import SettingError
from robot_identification.robot.couplings import Coupling, CouplingTerm
from robot_identification.robot.terms.kinds import TermKind
from robot_identification.robot.terms.measured_range import MeasuredRange
from robot_identification.robot.terms.springs import Spring, SpringEnd, SpringKind


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
