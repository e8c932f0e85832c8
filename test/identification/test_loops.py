"""Robots with loops are identified, validated and calibrated as others are."""

from dataclasses import replace

import numpy as np
import pytest

from looped_robots import (
    frictionless,
    gripper,
    hitachi,
    parallelogram,
    pinocchio_accelerations,
    recorded,
    tree_motion,
    values_of,
    waves,
)
from robot_identification.calibration.calibrate import calibrate
from robot_identification.calibration.consistency.checks import check_consistency
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.errors import SettingError
from robot_identification.files.parameters import read_prior
from robot_identification.files.results import dump, read_result
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.diagnosis.diagnosis import diagnose
from robot_identification.identification.identify import identify
from robot_identification.identification.merging import merge_results
from robot_identification.identification.statistics.residuals import joint_friction
from robot_identification.identification.validate import validate
from robot_identification.robot.terms.kinds import TermKind
from robot_identification.signals.conditioning import joint_side_recording
from robot_identification.signals.recording import Recording
from robot_identification.signals.rows import RowChoice

ROBOTS = [parallelogram, gripper, hitachi]


def recording(robot, values, **how):
    return joint_side_recording(recorded(robot, values, **how), robot, source="waves")


def true_base(robot, values):
    base = base_parameters(robot)
    return base.values(values[base.columns])


def larger_std(result):
    return np.maximum(result.estimate.std, result.estimate.std_robust)


@pytest.fixture(scope="module")
def hitachi_result():
    robot = hitachi()
    return identify(robot, [recording(robot, values_of(robot), seconds=60.0)])


def test_all_base_parameters_of_a_robot_with_a_parallelogram_are_within_three_deviations(
    hitachi_result,
):
    robot = hitachi()
    error = hitachi_result.estimate.values - true_base(robot, values_of(robot))
    assert len(error) == 50
    assert (np.abs(error) < 3.0 * larger_std(hitachi_result)).all()
    assert hitachi_result.estimate.relative_error.total < 0.005


@pytest.fixture(scope="module", params=ROBOTS)
def exact(request):
    """Return a robot, a recording of it without noise, and its base parameters."""
    robot = request.param()
    values = values_of(robot)
    own = recording(robot, values, position_noise=0.0, effort_noise=0.0, seconds=40.0)
    return robot, own, true_base(robot, values)


@pytest.mark.parametrize("method", ["ols", "wls", "energy"])
def test_exact_samples_give_the_parameters(exact, method):
    robot, own, expected = exact
    found = identify(robot, [own], method=method)
    assert found.estimate.relative_error.total < 0.01
    size = np.maximum(np.abs(expected), 0.1 * np.abs(expected).max())
    np.testing.assert_array_less(np.abs(found.estimate.values - expected), 0.02 * size)


def test_results_name_the_driven_joints_and_their_numbers(hitachi_result, tmp_path):
    assert hitachi_result.joint_names == ("joint_1", "joint_3", "joint_4", "joint_6", "joint_7")
    assert hitachi_result.joint_numbers == (1, 3, 4, 6, 7)
    friction = joint_friction(hitachi_result)
    assert friction[1].joint == "joint_3"
    assert "Fc3" in friction[1].names
    path = tmp_path / "result.yaml"
    path.write_text(dump(hitachi_result))
    again = read_result(path)
    assert again.joint_numbers == hitachi_result.joint_numbers
    assert merge_results([again]).joint_numbers == hitachi_result.joint_numbers


def test_signs_of_merged_efforts_are_told_by_the_friction_of_the_joints_that_move(hitachi_result):
    """Parameters are named after all joints, of which those that follow have no rows."""
    turned = [
        replace(factor, triangle=factor.triangle * np.append(np.ones(len(factor.columns)), -1.0))
        for factor in hitachi_result.factors
    ]
    merged = merge_results([replace(hitachi_result, factors=tuple(turned))])
    sign = merged.findings[0]
    assert sign.cause == "effort sign"
    assert sign.joints == hitachi().active_names


def test_efforts_of_another_motion_are_predicted(hitachi_result):
    robot = hitachi()
    other = recording(robot, values_of(robot), seed=5)
    found = validate(robot, hitachi_result.estimate.values, [other])
    assert found.relative_error.total < 0.006
    predicted = found.prediction()
    assert predicted.joint_names == robot.active_names
    assert predicted.predicted.shape[1] == 5


def test_a_wrong_factor_of_a_relation_leaves_efforts_unexplained():
    robot = hitachi()
    loops = (replace(robot.loops[0], equals={"joint_3": 1.0, "joint_4": 1.0}), robot.loops[1])
    own = recording(robot, values_of(robot))
    wrong = identify(replace(robot, loops=loops), [own])
    assert wrong.estimate.relative_error.total > 0.02


def test_calibrated_parameters_are_consistent_and_predict_as_well(hitachi_result):
    robot = hitachi()
    found = calibrate(robot, hitachi_result, read_prior(None, robot), consistent=True)
    assert check_consistency(robot, found.values).consistent
    base = base_parameters(robot)
    other = recording(robot, values_of(robot), seed=5)
    error = validate(robot, base.values(found.values[base.columns]), [other]).relative_error
    assert error.total < 0.01


def test_pinocchio_with_calibrated_parameters_moves_as_the_true_robot_does(hitachi_result):
    """Its constrained dynamics knows the links and the closed pivot; nothing of the relations."""
    pin = pytest.importorskip("pinocchio")
    robot = hitachi()
    found = calibrate(robot, hitachi_result, read_prior(None, robot), consistent=True)
    values, true = (frictionless(robot, v) for v in (found.values, values_of(robot)))
    q, qd, qdd = (signal[::500] for signal in waves(robot, 20.0, seed=7)[1:])
    effort = inverse_dynamics(robot, true, q, qd, qdd)
    moved = pinocchio_accelerations(pin, robot, values, q, qd, effort)
    assert np.linalg.norm(moved - qdd) < 0.05 * np.linalg.norm(qdd)


def test_friction_that_the_robot_file_does_not_state_is_refused_with_loops():
    robot = gripper()
    joints = [replace(joint, terms=joint.terms - {"Fc"}) for joint in robot.joints]
    other = replace(robot, joints=tuple(joints))
    samples = recording(other, values_of(other), seconds=5.0)
    with pytest.raises(SettingError, match="other friction than its robot file states"):
        identify(other, [samples], friction="coulomb-viscous")


def test_friction_of_a_follower_is_felt_and_grouped():
    """Its sign is that of its own speed: where it rubs alone, rows near its reversals go too."""
    robot = hitachi()
    joints = list(robot.joints)
    joints[1] = replace(joints[1], terms=joints[1].terms | {"Fc", "Fv"})
    robot = replace(robot, joints=tuple(joints))
    base = base_parameters(robot)
    assert {"Fc2", "Fv3", "Fc3"} <= set(base.leading_names) | {
        name for grouping in base.groupings for name in grouping
    }
    assert joints[1].has(TermKind.COULOMB)
    values = values_of(robot)
    found = identify(robot, [recording(robot, values, seconds=60.0)])
    error = found.estimate.values - true_base(robot, values)
    assert (np.abs(error) < 4.0 * larger_std(found)).all()


def test_rows_are_left_out_where_a_follower_that_rubs_reverses(hitachi_result):
    robot = hitachi()
    processing = validate(
        robot, hitachi_result.estimate.values, [recording(robot, values_of(robot))]
    )
    processing = replace(
        processing.processing, velocity_threshold=(0.1,) * 5, velocity_threshold_window=0.0
    )
    joints = list(robot.joints)
    joints[1] = replace(joints[1], terms=joints[1].terms | {"Fc"})
    rubbing = replace(robot, joints=tuple(joints))
    # Crank and forearm turn alike: the arm, q2 = q3 - q4, stands still.
    velocity = np.array([[1.0], [1.0], [1.0], [1.0], [1.0]])
    places = np.array([0])
    assert RowChoice(robot, processing).moving(velocity, places, 1).all()
    kept = RowChoice(rubbing, processing).moving(velocity, places, 1)[:, 0]
    assert kept.tolist() == [True, False, False, True, True]


def test_samples_of_arrays_have_a_column_for_each_driven_joint():
    robot = gripper()
    values = values_of(robot)
    t, q, qd, qdd = waves(robot, 20.0)
    effort = inverse_dynamics(robot, values, q, qd, qdd)
    own = Recording.from_arrays(robot, t, q, effort)
    assert own.joint_names == ("joint_1", "joint_2")
    assert identify(robot, [own]).estimate.relative_error.total < 0.01
    assert tree_motion(robot, q, qd, qdd)[0].shape[1] == 3


def test_what_does_not_know_loops_refuses_by_name():
    robot = hitachi()
    with pytest.raises(SettingError, match=r"joint_2.*the diagnosis.*docs/loops.md"):
        diagnose(robot, [recording(robot, values_of(robot), seconds=5.0)])
