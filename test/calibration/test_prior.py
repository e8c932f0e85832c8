"""Drive inertias and friction that a prior lacks come from the first identification."""

from dataclasses import replace

import numpy as np
import pytest

from made_up_results import made_up_result
from random_robots import random_values
from robot_identification.calibration.prior import Prior, complete_drives
from robot_identification.errors import ShapeError
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.regrouping import Regrouping
from robot_identification.robot.files.loading import load_robot


@pytest.fixture(scope="module")
def tx40():
    robot = load_robot("tx40")
    return robot, Regrouping.of(base_parameters(robot))


def links_only(robot, values):
    names = robot.standard_names
    known = np.array([name[:2] not in ("Ia", "Fv", "Fc", "of") for name in names])
    return Prior.given(names, values[robot.standard_indices], known)


def test_drives_of_the_right_links_come_out_right(tx40):
    robot, regrouping = tx40
    truth = random_values(np.random.default_rng(1), robot)
    chi = truth[robot.standard_indices]
    prior = complete_drives(links_only(robot, truth), regrouping, regrouping.projection @ chi)
    for i, name in enumerate(prior.names):
        drive = name[:2] in ("Ia", "Fv", "Fc")
        assert prior.known[i] == (not name.startswith("off"))
        assert prior.identified[i] == drive
        if prior.known[i]:
            assert prior.values[i] == pytest.approx(chi[i], abs=1e-9)


def test_a_drive_grouped_with_an_unknown_parameter_stays_free(tx40):
    robot, regrouping = tx40
    truth = random_values(np.random.default_rng(1), robot)
    chi = truth[robot.standard_indices]
    prior = links_only(robot, truth)
    known = prior.known.copy()
    known[prior.names.index("ZZ1")] = False
    gap = Prior.given(prior.names, prior.values, known)
    completed = complete_drives(gap, regrouping, regrouping.projection @ chi)
    assert "Ia1" in regrouping.grouping(regrouping.leading.index("ZZ1"))
    assert not completed.known[prior.names.index("Ia1")]
    assert completed.known[prior.names.index("Ia2")]


def test_a_drive_that_cannot_exist_stays_free(tx40):
    robot, regrouping = tx40
    truth = random_values(np.random.default_rng(1), robot)
    chi = truth[robot.standard_indices].copy()
    names = robot.standard_names
    chi[names.index("Ia4")], chi[names.index("Fv2")] = -0.4, -1.0
    completed = complete_drives(links_only(robot, truth), regrouping, regrouping.projection @ chi)
    assert not completed.known[names.index("Ia4")]
    assert not completed.known[names.index("Fv2")]
    assert completed.known[names.index("Ia3")]


@pytest.mark.parametrize("asymmetry", [0.4, -0.4])
def test_friction_that_may_have_either_sign_stays_free_with_either(asymmetry):
    plain = load_robot("scara")
    joints = tuple(replace(joint, terms=joint.terms | {"Fva"}) for joint in plain.joints)
    robot = replace(plain, joints=joints)
    truth = random_values(np.random.default_rng(4), robot)
    chi = truth[robot.standard_indices].copy()
    names, regrouping = robot.standard_names, Regrouping.of(base_parameters(robot))
    chi[names.index("Fva2")] = asymmetry
    completed = complete_drives(links_only(robot, truth), regrouping, regrouping.projection @ chi)
    assert not completed.known[names.index("Fva2")]
    assert completed.known[names.index("Fv2")]


def test_stated_drives_and_no_prior_stay_as_they_are():
    robot = load_robot("scara")
    values = random_values(np.random.default_rng(2), robot)
    result = made_up_result(robot, values, np.random.default_rng(3))
    names = robot.standard_names
    nothing = Prior.none(names)
    assert complete_drives(nothing, result.regrouping, result.estimate.values) is nothing
    stated = Prior.given(names, np.full(len(names), 7.0), np.ones(len(names), dtype=bool))
    completed = complete_drives(stated, result.regrouping, result.estimate.values)
    np.testing.assert_array_equal(completed.values, stated.values)
    assert not completed.identified.any()


def test_a_prior_has_one_entry_per_parameter():
    with pytest.raises(ShapeError, match="known"):
        Prior.given(("ZZ1", "ZZ2"), [1.0, 2.0], [True])
