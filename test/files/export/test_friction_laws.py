"""Friction laws in files that know Coulomb and viscous friction only."""

from dataclasses import replace

import numpy as np
import pytest
import yaml

from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.files.export.bodies import mechanism_of
from robot_identification.files.export.controller import controller_yaml
from robot_identification.files.export.friction import plain_friction
from robot_identification.files.export.outputs import mjcf_text
from robot_identification.files.export.remarks import parameter_remarks
from robot_identification.files.export.urdf import identified_urdf
from robot_identification.files.export.xacro import xacro_text
from robot_identification.files.parameters import with_law_of
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.urdf.robot import parse_urdf
from robot_identification.robot.files.values import load_values
from robot_identification.robot.terms.measured_range import MeasuredRange

PLAIN = load_robot("tx40")
ROBOT = replace(
    with_law_of("tx40_stribeck_load", PLAIN),
    measured=MeasuredRange(np.full(6, 2.0), np.full((6, 2), [5.0, 2.0])),
)
VALUES = load_values("tx40_stribeck_load", ROBOT)
PLAIN_VALUES = load_values("tx40_simulated", PLAIN)


def law_of_joint_1(speed, load):
    """The friction of the first joint, written down again."""
    falling = 6.86 * np.exp(-np.abs(speed) / 0.2)
    return 7.93 * speed + np.sign(speed) * (6.86 + falling + 0.15 * load)


def test_two_coefficients_are_the_nearest_to_the_law_over_measured_speeds_and_loads():
    fitted = plain_friction(ROBOT, VALUES)[0]
    rng = np.random.default_rng(0)
    speed = rng.uniform(-2.0, 2.0, 200_000)
    load = np.abs(rng.normal(5.0, 2.0, speed.shape))
    effort = law_of_joint_1(speed, load)
    columns = np.column_stack([speed, np.sign(speed)])
    best, *_ = np.linalg.lstsq(columns, effort, rcond=None)
    assert [fitted.values["Fv"], fitted.values["Fc"]] == pytest.approx(best, rel=0.01)
    left = np.linalg.norm(effort - columns @ best) / np.linalg.norm(effort)
    assert fitted.error == pytest.approx(left, rel=0.02)
    assert fitted.terms == ("Fs1", "Fl1")


def test_coefficients_are_never_negative():
    values = VALUES.copy()
    values[ROBOT.all_parameter_names.index("Fs1")] = 100.0  # falls over all speeds
    wide = replace(ROBOT.joints[0], shapes={"Fs": (2.0, 1.0)})
    robot = replace(ROBOT, joints=(wide, *ROBOT.joints[1:]))
    fitted = plain_friction(robot, values)[0]
    assert fitted.values["Fv"] == 0.0
    assert fitted.values["Fc"] > 0.0


def test_a_joint_with_plain_friction_stays_as_it_is():
    assert plain_friction(PLAIN, PLAIN_VALUES) == (None,) * 6
    text = mjcf_text(mechanism_of(PLAIN, PLAIN_VALUES))
    assert 'damping="7.93"' in text
    assert "<!--" not in text


def test_files_have_the_coefficients_and_say_what_they_leave_out():
    fitted = plain_friction(ROBOT, VALUES)[0]
    urdf = identified_urdf(ROBOT, VALUES)
    own = parse_urdf(urdf, "tx40").joints["joint_1"].dynamics
    assert own["damping"] == pytest.approx(fitted.values["Fv"])
    assert own["friction"] == pytest.approx(fitted.values["Fc"])
    mechanism = mechanism_of(ROBOT, VALUES)
    for text in (urdf, mjcf_text(mechanism), xacro_text(mechanism)):
        assert fitted.remark in text
    assert "speeds up to 2 rad/s and loads of 5 +- 2 N m of the recordings" in fitted.remark
    again = identified_urdf(ROBOT, VALUES, identified_urdf(PLAIN, PLAIN_VALUES))
    assert fitted.remark in again
    assert parse_urdf(again, "tx40").joints["joint_1"].dynamics == own


def test_what_coefficients_stand_for_is_not_called_missing():
    missing, *others = parameter_remarks(ROBOT, VALUES)
    assert "Fs1" not in missing
    assert "off1" in missing
    assert len(others) == 6


def test_parameters_of_controllers_stay_whole():
    document = yaml.safe_load(controller_yaml(mechanism_of(ROBOT, VALUES)))
    own = document["/**"]["ros__parameters"]["dynamics"]["by_joint"]["joint_1"]
    assert own["coulomb_friction"] == 6.86
    assert own["stribeck_friction"] == 6.86
    assert own["load_friction"] == 0.15
    assert own["stribeck_friction_speed"] == 0.2
    assert own["stribeck_friction_exponent"] == 1.0
    assert "vs is stribeck_friction_speed" in controller_yaml(mechanism_of(ROBOT, VALUES))


def test_speeds_and_loads_that_nobody_has_told_are_those_that_the_joint_may_have():
    untold = replace(ROBOT, measured=None)
    fitted = plain_friction(untold, VALUES)
    assert fitted[0].speed == ROBOT.joints[0].limits.velocity
    assert "that the joint may have" in fitted[0].remark
    # The second joint carries the arm; the first stands upright and carries nothing at rest.
    postures = np.random.default_rng(1).uniform(-2.0, 2.0, (2000, 6))
    bodies = replace(PLAIN, joints=tuple(replace(j, terms=frozenset({"Ia"})) for j in PLAIN.joints))
    still = np.zeros_like(postures)
    weight = inverse_dynamics(
        bodies, np.where(_inertial(), PLAIN_VALUES, 0.0), postures, still, still
    )
    assert fitted[1].load[0] == pytest.approx(np.abs(weight[:, 1]).mean(), rel=0.15)
    assert fitted[0].load[0] == pytest.approx(0.0, abs=1e-9)


def _inertial():
    friction = ("Fv", "Fc", "off")
    return np.array([not name.startswith(friction) for name in PLAIN.all_parameter_names])
