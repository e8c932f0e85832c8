"""Motions of a robot whose friction changes with temperatures: planned for the reference."""

from dataclasses import replace

import numpy as np
import pytest

from robot_identification.errors import NotCertifiedError
from robot_identification.excitation.certification.certificate import certify
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.one_joint.plan import plan_one_joint
from robot_identification.excitation.one_joint.settings import OneJointSettings
from robot_identification.excitation.plan import plan
from robot_identification.excitation.plan_settings import PlanSettings
from robot_identification.excitation.search.points import PointSettings
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.terms.temperature import TemperatureDependence

QUICK = PlanSettings(model="dynamic", rows=8, duration=3.0, points=PointSettings(starts=1, seed=0))
PLAIN = load_robot("scara")
VALUES = load_values("scara", PLAIN)


def warm():
    """Return the SCARA with friction that changes with temperatures, and its parameters.

    They change by so much per kelvin that no other temperature than the reference allows a motion.
    """
    dependence = TemperatureDependence(35.0)
    robot = replace(PLAIN, joints=tuple(replace(j, temperature=dependence) for j in PLAIN.joints))
    known = dict(zip(PLAIN.all_parameter_names, VALUES, strict=True))
    return robot, np.array([known.get(name, 1e3) for name in robot.all_parameter_names])


@pytest.fixture(scope="module")
def planned():
    """Return robot, parameters, and a plan that is made for them."""
    robot, values = warm()
    return robot, values, plan(robot, QUICK, surroundings=Surroundings(prior=values))


def test_a_plan_is_that_of_the_reference_temperature_and_says_so(planned):
    _, _, found = planned
    begin = found.trajectory.positions[0]
    plain = certify(PLAIN, found.trajectory, start=begin, surroundings=Surroundings(prior=VALUES))
    assert found.certificate.efforts == plain.efforts
    (told,) = set(found.certificate.remarks) - set(plain.remarks)
    assert told == "efforts of joint_1, joint_2 are those at the reference temperature"


def test_a_plan_is_certified_again_by_the_robot_as_its_file_describes_it(planned):
    """As the node does before every motion."""
    robot, values, found = planned
    begin, around = found.trajectory.positions[0], Surroundings(prior=values)
    again = certify(robot, found.trajectory, start=begin, surroundings=around)
    assert again.digest == found.certificate.digest
    assert again.passed


def test_efforts_at_the_reference_temperature_are_kept_below_the_limits(planned):
    robot, values, found = planned
    heavy = np.where(np.char.startswith(robot.all_parameter_names, "Fc"), 1e4, values)
    with pytest.raises(NotCertifiedError, match="effort"):
        certify(robot, found.trajectory, surroundings=Surroundings(prior=heavy)).require()


def test_one_joint_at_a_time():
    robot, _ = warm()
    found, other = (plan_one_joint(one, OneJointSettings()) for one in (robot, PLAIN))
    np.testing.assert_array_equal(found.trajectory.positions, other.trajectory.positions)
