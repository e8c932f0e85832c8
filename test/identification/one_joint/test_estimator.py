"""What one moving joint at a time tells, from the last joint to the first."""

from dataclasses import replace

import numpy as np
import pytest

from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.errors import NotExcitedError, ShapeError
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.estimators import least_squares
from robot_identification.identification.estimators.choice import fit
from robot_identification.identification.estimators.estimator import Choice
from robot_identification.identification.one_joint.conversion import JointwiseParameters
from robot_identification.identification.one_joint.estimator import estimate_jointwise
from robot_identification.identification.rows.groups import GroupedRows
from robot_identification.identification.rows.source import FoldedRows
from robot_identification.robot.files.loading import load_robot
from serial_robots import BRANCHES, generic_robot, inertial_values
from single_joint_samples import sample_factors
from stanford_arm import PUBLISHED, stanford_arm, step, table_2, table_2_tolerance

TIMES = np.array(PUBLISHED["experiment"]["sample_times_s"])


def identified(base, factors):
    """Return the base parameters that the method gives from the factors of one bag."""
    rows = GroupedRows((tuple(factors),), ())
    source = FoldedRows(base, base.names, "rows-parameters", "bags", ("bag",), ("bag",), rows)
    return fit(Choice("one-joint"), source).estimate


def rotated(posture, joint, times=TIMES):
    """Return samples of the published step of one joint from a posture."""
    q = np.tile(np.asarray(posture, dtype=float), (len(times), 1))
    qd, qdd = np.zeros_like(q), np.zeros_like(q)
    move, qd[:, joint], qdd[:, joint] = step(times)
    q[:, joint] += move
    return q, qd, qdd


def published_experiment(joint):
    """Return samples of the experiment that tells the constants of a joint (from 0) of the arm."""
    experiment = PUBLISHED["experiment"]
    start = np.array(experiment["configurations_q"])
    if joint == 0:
        return rotated(start, 0)
    turned = 1 if joint == 2 else joint  # joint 3 translates; joint 2 turns it
    others = experiment["other_values_of_joint_j"][-1 if joint == 2 else 0 :]
    runs = [rotated(start, 0)]
    for value in others:
        posture = start.copy()
        posture[turned] = value
        runs.append(rotated(posture, 0))
    if joint == 1:  # always across joint 1: U33 from its own rotation
        runs.append(rotated(start, 1, TIMES[:1]))
    return tuple(np.vstack(signals) for signals in zip(*runs, strict=True))


def test_table_2_from_the_published_experiment():
    robot, values = stanford_arm()
    parameters = JointwiseParameters.of(robot)
    factors = []
    for joint in range(6):
        motion = published_experiment(joint)
        effort = inverse_dynamics(robot, values, *motion)
        factors.append(sample_factors(parameters.base, *motion, effort)[joint])
        assert factors[joint].rows <= 10
    found = estimate_jointwise(parameters, factors)
    printed = table_2()
    assert len(found.values) == PUBLISHED["minimal_set_size"] == len(printed)
    for name, value in zip(parameters.names, found.values, strict=True):
        assert value == pytest.approx(printed[name], abs=table_2_tolerance(name)), name
    conditions = [system.scaled_condition_number for system in found.systems]
    assert max(conditions) < 200.0


def test_two_postures_are_too_few_for_seven_constants():
    robot, values = stanford_arm()
    parameters = JointwiseParameters.of(robot)
    factors = []
    for joint in range(6):
        motion = published_experiment(joint)
        if joint == 5:
            motion = tuple(signal[:6] for signal in motion)
        effort = inverse_dynamics(robot, values, *motion)
        factors.append(sample_factors(parameters.base, *motion, effort)[joint])
    with pytest.raises(NotExcitedError) as refusal:
        estimate_jointwise(parameters, factors)
    assert refusal.value.parameters
    assert all(name.endswith("_6") for name in refusal.value.parameters)


@pytest.mark.parametrize("branch", BRANCHES)
def test_constants_and_base_parameters_are_the_same_knowledge(branch):
    rng = np.random.default_rng(7)
    robot = BRANCHES[branch](rng)
    parameters = JointwiseParameters.of(robot)
    assert parameters.names == parameters.constants.names
    standard = inertial_values(rng, robot)[parameters.base.columns]
    constants, base = parameters.values(standard), parameters.base.values(standard)
    np.testing.assert_allclose(parameters.to_base(constants), base, atol=1e-9)
    np.testing.assert_allclose(parameters.from_base(base), constants, atol=1e-9)


@pytest.mark.parametrize("name", ["puma560", "tx40", "ur10", "scara", "emps"])
def test_drives_friction_and_couplings_have_a_block_each(name):
    robot = load_robot(name)
    parameters = JointwiseParameters.of(robot)
    rng = np.random.default_rng(1)
    standard = rng.normal(size=len(parameters.base.columns))
    base = parameters.base.values(standard)
    np.testing.assert_allclose(parameters.to_base(parameters.values(standard)), base, atol=1e-9)
    grouped = [grouping for grouping in parameters.groupings if len(grouping) > 1]
    if name == "emps":  # its one joint translates: M1 and Ia1 are one from the beginning
        assert not grouped
    else:
        assert grouped[0] == {"U33_1": 1.0, "Ia1": 1.0}


def test_couplings_of_the_wrist_are_told_by_its_last_joint():
    parameters = JointwiseParameters.of(load_robot("tx40"))
    blocks = dict(zip(parameters.names, parameters.blocks, strict=True))
    assert blocks["Fvm6"] == blocks["Fcm6"] == blocks["Ia6"] == 5
    assert blocks["Ia5"] == 4


def test_without_gravity_the_rank_decides():
    rng = np.random.default_rng(0)
    robot = replace(BRANCHES["axes that meet, along gravity"](rng), gravity=np.zeros(3))
    parameters = JointwiseParameters.of(robot)
    assert parameters.rank < len(parameters.constants.constants)
    assert parameters.rank == base_parameters(robot).rank


def noisy(robot, parameters, values, rng, noise):
    """Return factors of random samples whose efforts are noisy."""
    q, qd, qdd = rng.uniform(-1.5, 1.5, size=(3, 60, len(robot.joints)))
    effort = inverse_dynamics(robot, values, q, qd, qdd)
    return sample_factors(parameters.base, q, qd, qdd, effort + noise * rng.normal(size=q.shape))


def test_deviations_hold_what_is_carried_from_joint_to_joint():
    rng = np.random.default_rng(11)
    robot = generic_robot(rng, 3)
    parameters = JointwiseParameters.of(robot)
    values = inertial_values(rng, robot)
    truth = parameters.values(values[parameters.base.columns])
    true_base = parameters.base.values(values[parameters.base.columns])
    errors, stated, base_errors, base_stated = [], [], [], []
    for _ in range(300):
        factors = noisy(robot, parameters, values, rng, 0.1)
        found = estimate_jointwise(parameters, factors)
        errors.append(found.values - truth)
        stated.append(found.std)
        estimate = identified(parameters.base, factors)
        base_errors.append(estimate.values - true_base)
        base_stated.append(estimate.std)
    for actual, claimed in ((errors, stated), (base_errors, base_stated)):
        inside = np.mean(np.abs(actual) < 1.96 * np.array(claimed), axis=0)
        assert 0.93 < inside.mean() < 0.97
        assert inside.min() > 0.88


def test_without_noise_the_recursion_is_least_squares():
    rng = np.random.default_rng(4)
    robot = generic_robot(rng, 4)
    parameters = JointwiseParameters.of(robot)
    factors = noisy(robot, parameters, inertial_values(rng, robot), rng, 0.0)
    found = identified(parameters.base, factors)
    other = least_squares.ordinary(factors, parameters.base.names)
    np.testing.assert_allclose(found.values, other.values, atol=1e-9)
    assert found.relative_error.total < 1e-12
    assert len(found.singular_values) == parameters.rank


def test_a_last_joint_that_says_nothing_is_not_taken_for_known():
    rng = np.random.default_rng(6)
    robot = generic_robot(rng, 3)
    parameters = JointwiseParameters.of(robot)
    values = inertial_values(rng, robot)
    factors = list(noisy(robot, parameters, values, rng, 0.1))
    factors[2] = noisy(robot, parameters, values, rng, 1e6)[2]
    with pytest.raises(NotExcitedError) as refusal:
        estimate_jointwise(parameters, factors)
    assert all(name.endswith("_3") for name in refusal.value.parameters)
    assert refusal.value.joints == (robot.joint_names[2],)


def test_what_does_not_fit_is_refused():
    robot, values = stanford_arm()
    parameters = JointwiseParameters.of(robot)
    motion = published_experiment(5)
    effort = inverse_dynamics(robot, values, *motion)
    with pytest.raises(ShapeError, match="factors"):
        estimate_jointwise(parameters, ())
    with pytest.raises(ShapeError, match="effort"):
        sample_factors(parameters.base, *motion, effort[:2])
    for convert in (parameters.to_base, parameters.from_base, parameters.values):
        with pytest.raises(ShapeError):
            convert(np.zeros(7))
