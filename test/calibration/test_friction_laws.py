"""Friction laws that are calibrated: no friction drives its joint, at any speed."""

from dataclasses import replace

import numpy as np
import pytest

from made_up_results import made_up_result
from robot_identification.calibration.calibrate import calibrate
from robot_identification.calibration.consistency.checks import check_consistency
from robot_identification.calibration.consistency.conditions import FRICTION, conditions, speeds_of
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.terms.measured_range import MeasuredRange

PLAIN = load_robot("scara")
SHAPES = {"Fs": (0.2, 1.0)}
ROBOT = replace(
    PLAIN,
    joints=tuple(
        replace(joint, terms=joint.terms | {"Fs", "Fva", "Fr"}, shapes=SHAPES)
        for joint in PLAIN.joints
    ),
)
TOP = ROBOT.joints[0].limits.velocity


def values(**terms):
    known = dict(zip(PLAIN.all_parameter_names, load_values("scara", PLAIN).tolist(), strict=True))
    known |= {f"M{k}": 1.0 for k in (1, 2)} | {f"XX{k}": 0.5 for k in (1, 2)}
    known |= {f"YY{k}": 0.5 for k in (1, 2)} | terms
    return np.array([known.get(name, 0.0) for name in ROBOT.all_parameter_names])


def friction(parameters, joint, speed):
    """The friction of a joint against its motion, written down again."""
    own = dict(zip(ROBOT.all_parameter_names, parameters, strict=True))
    fv, fc, fs, fva, fr = (own[f"{name}{joint}"] for name in ("Fv", "Fc", "Fs", "Fva", "Fr"))
    size = np.abs(speed)
    return fv * size + fc + fs * np.exp(-size / 0.2) + fva * speed + fr * np.sqrt(size)


DRIVING = {
    "at rest": {"Fc1": 0.5, "Fs1": -0.8},
    "backwards": {"Fv1": 0.1, "Fva1": 0.3, "Fc1": 0.05},
    "fast": {"Fv1": 0.0, "Fr1": -0.5, "Fc1": 0.4},
}


@pytest.mark.parametrize("terms", DRIVING.values(), ids=DRIVING)
def test_friction_that_would_drive_a_joint_is_named_with_the_speed(terms):
    (check, other) = check_consistency(ROBOT, values(**terms)).friction
    assert other.consistent
    assert not check.consistent
    assert "would drive the joint at a speed of" in check.problem
    speeds = np.concatenate([-np.geomspace(1e-4, 1.0, 5000), np.geomspace(1e-4, 1.0, 5000)]) * TOP
    least = friction(values(**terms), 1, speeds)
    assert check.friction == pytest.approx(least.min(), rel=1e-2)
    assert check.friction == pytest.approx(
        float(friction(values(**terms), 1, np.array([check.speed]))[0])
    )


@pytest.mark.parametrize("terms", DRIVING.values(), ids=DRIVING)
def test_calibrated_friction_acts_against_the_motion_at_every_speed(terms):
    result = made_up_result(ROBOT, values(**terms), np.random.default_rng(1), noise=0.02)
    free = calibrate(ROBOT, result, consistent=False, space="base")
    assert any("would drive" in line for line in free.warnings)
    bound = calibrate(ROBOT, result, consistent=True, space="base")
    assert bound.consistent
    assert PLAIN.joints[0].name in bound.active_drives
    speeds = np.linspace(-TOP, TOP, 2000)
    least = friction(bound.values, 1, speeds)
    assert least.min() >= -0.01 * least.max()
    assert bound.summary()["friction_checks"][0]["consistent"]
    # What does not drive keeps what the data say.
    kept = friction(bound.values, 2, speeds) - friction(free.values, 2, speeds)
    assert np.abs(kept).max() < 0.05 * friction(free.values, 2, speeds).max()


def test_friction_is_tested_where_all_of_its_parameters_are_given():
    names = ROBOT.all_parameter_names
    given = np.array([name[-1] == "2" and name.startswith("F") for name in names])
    checks = check_consistency(ROBOT, values(), given=given).friction
    assert [check.joint for check in checks] == ["joint_2"]
    given[names.index("Fr2")] = False
    assert check_consistency(ROBOT, values(), given=given).friction == ()


def test_the_condition_on_friction_asks_for_it_at_every_speed_of_a_grid():
    parameters = values(Fc1=0.5, Fs1=-0.8, Fva1=0.3, Fr1=-0.2)
    one, other = (c for c in conditions(ROBOT) if c.kind == FRICTION)
    expected = friction(parameters, 1, speeds_of(ROBOT, 0, one.size // 2))
    np.testing.assert_allclose(one.matrix(parameters), np.diag(expected), atol=1e-12)
    assert (one.owner, other.owner) == ROBOT.joint_names
    assert (one.joints, one.strict, one.diagonal) == ((0,), False, True)
    assert other.joints == (1,)


def test_speeds_rise_and_are_those_of_both_directions():
    speeds = speeds_of(ROBOT, 0, 5)
    assert (np.diff(speeds) > 0.0).all()
    np.testing.assert_allclose(speeds, -speeds[::-1])
    assert speeds[-1] == TOP


def test_speeds_go_as_far_as_limits_and_recordings():
    fast = replace(ROBOT, measured=MeasuredRange(np.full(2, 3.0 * TOP), np.zeros((2, 2))))
    late = values(Fv1=0.3, Fr1=-0.1, Fva1=0.0, Fc1=0.5)
    check = check_consistency(fast, late).friction[0]
    assert check.fastest == 3.0 * TOP


def test_robots_without_terms_of_any_sign_have_no_such_condition():
    assert not any(c.kind == FRICTION for c in conditions(PLAIN))
    assert check_consistency(PLAIN, load_values("scara", PLAIN)).friction == ()
