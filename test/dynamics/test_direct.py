from dataclasses import replace

import numpy as np
import pytest

from oracles import numpy_dynamics
from random_robots import coupled_wrist, pinocchio_model, random_robot, random_values
from robot_identification.dynamics.direct import DirectModel
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.errors import MassMatrixError, SampleError, ShapeError
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values


@pytest.mark.parametrize("seed", range(50))
def test_accelerations_undo_the_inverse_model_on_random_trees(seed):
    rng = np.random.default_rng(seed)
    joints = int(rng.integers(2, 8))
    robot = random_robot(rng, joints, coupled_wrist() if seed % 2 else ())
    values = random_values(rng, robot)
    values[24] = 0.3 * values[10]  # Ia2, which then also couples joints 1 and 2
    q, qd, effort = rng.normal(size=(3, 20, joints))
    qdd = DirectModel(robot, values).accelerations(q, qd, effort)
    back = inverse_dynamics(robot, values, q, qd, qdd)
    scale = np.abs(effort).max() + np.abs(inverse_dynamics(robot, values, q, qd, 0 * qdd)).max()
    assert np.abs(back - effort).max() < 1e-10 * scale


@pytest.mark.parametrize("seed", range(30))
def test_accelerations_agree_with_pinocchio(seed):
    pin = pytest.importorskip("pinocchio")
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, depth_first=True)
    joints = len(robot.joints)
    values = random_values(rng, robot)
    for friction in (11, 12, 13):
        values[friction::14] = 0.0
    model = pinocchio_model(pin, robot, values)
    data = model.createData()
    q, qd, effort = rng.normal(size=(3, 10, joints))
    direct = DirectModel(robot, values)
    expected = np.array([pin.aba(model, data, *state) for state in zip(q, qd, effort, strict=True)])
    error = np.abs(direct.accelerations(q, qd, effort) - expected).max()
    assert error < 1e-9 * (1.0 + np.abs(expected).max())
    for state, mass in zip(q, direct.mass_matrix(q), strict=True):
        theirs = pin.crba(model, data, state)
        theirs = np.triu(theirs) + np.triu(theirs, 1).T
        np.testing.assert_allclose(mass, theirs, atol=1e-12 * np.abs(theirs).max())


@pytest.mark.parametrize("seed", range(20))
def test_base_parameters_agree_with_pinocchio_too(seed):
    pin = pytest.importorskip("pinocchio")
    rng = np.random.default_rng(100 + seed)
    robot = random_robot(rng, depth_first=True)
    values = random_values(rng, robot)
    for friction in (11, 12, 13):
        values[friction::14] = 0.0
    base = base_parameters(robot)
    only_base = np.zeros_like(values)
    only_base[base.base_columns] = base.values(values[base.columns])
    model = pinocchio_model(pin, robot, values)
    data = model.createData()
    q, qd, effort = rng.normal(size=(3, 10, len(robot.joints)))
    expected = np.array([pin.aba(model, data, *state) for state in zip(q, qd, effort, strict=True)])
    error = np.abs(DirectModel(robot, only_base).accelerations(q, qd, effort) - expected).max()
    assert error < 1e-9 * (1.0 + np.abs(expected).max())


@pytest.mark.parametrize("seed", range(10))
def test_accelerations_with_friction_and_couplings_agree_with_plain_equations(seed):
    rng = np.random.default_rng(200 + seed)
    robot = random_robot(rng, 4, coupled_wrist("joint_3", "joint_4", 4))
    values = random_values(rng, robot)
    q, qd, effort = rng.normal(size=(3, 5, 4))
    qdd = DirectModel(robot, values).accelerations(q, qd, effort)
    for state in zip(q, qd, qdd, effort, strict=True):
        needed = oracle_effort(robot, values, *state[:3])
        assert np.abs(needed - state[3]).max() < 1e-9 * (1.0 + np.abs(needed).max())


@pytest.mark.parametrize("joints", [8, 9, 17])
def test_robots_with_more_joints_than_vector_lanes_agree_with_plain_equations(joints):
    rng = np.random.default_rng(joints)
    robot = random_robot(rng, joints)
    values = random_values(rng, robot)
    q, qd, effort = rng.normal(size=(3, 2, joints))
    qdd = DirectModel(robot, values).accelerations(q, qd, effort)
    for state in zip(q, qd, qdd, effort, strict=True):
        needed = oracle_effort(robot, values, *state[:3])
        assert np.abs(needed - state[3]).max() < 1e-9 * (1.0 + np.abs(needed).max())


@pytest.mark.parametrize("turns", [1, 1000, 10**6, 10**9])
def test_whole_turns_do_not_change_the_mass_matrix_beyond_the_rounding_of_the_position(turns):
    robot = load_robot("tx40")
    direct = DirectModel(robot, load_values("tx40_simulated", robot))
    place = np.array([[0.3, -1.2, 2.5, -2.9, 0.7, 3.1]])
    far = place + 2.0 * np.pi * turns
    mass = direct.mass_matrix(place)
    np.testing.assert_allclose(direct.mass_matrix(far), mass, atol=1e-14 * (1 + turns) * mass.max())


def test_a_robot_far_from_the_base_frame_has_the_same_accelerations():
    robot = load_robot("tx40")
    values = load_values("tx40_simulated", robot)
    first = replace(robot.joints[0], translation=(300.0, -200.0, 100.0))
    away = replace(robot, joints=(first, *robot.joints[1:]))
    q, qd, effort = np.random.default_rng(5).normal(size=(3, 20, 6))
    near = DirectModel(robot, values).accelerations(q, qd, effort)
    far = DirectModel(away, values).accelerations(q, qd, effort)
    np.testing.assert_allclose(far, near, rtol=1e-9, atol=1e-9)


def oracle_effort(robot, values, q, qd, qdd):
    """Return the efforts of one state from Newton's and Euler's equations and the robot file."""
    names = dict(zip(robot.all_parameter_names, values, strict=True))
    own = values[: 14 * len(q)].reshape(len(q), 14)
    effort = numpy_dynamics.regressor(robot, q, qd, qdd) @ own[:, :10].ravel()
    effort += own[:, 10] * qdd + own[:, 11] * qd + own[:, 12] * np.sign(qd) + own[:, 13]
    place = {name: j for j, name in enumerate(robot.joint_names)}
    for coupling in robot.couplings:
        for term in coupling.terms:
            rate = sum(factor * qd[place[name]] for name, factor in term.of.items())
            change = sum(factor * qdd[place[name]] for name, factor in term.of.items())
            moved = {"inertia": change, "viscous": rate, "coulomb": np.sign(rate)}
            for name, gain in term.on.items():
                effort[place[name]] += gain * names[coupling.parameter] * moved[coupling.kind.value]
    return effort


def test_a_coupling_on_one_side_only_makes_an_unsymmetric_mass_matrix():
    rng = np.random.default_rng(1)
    inertia = coupled_wrist()[0]
    one_sided = type(inertia)(inertia.parameter, inertia.kind, inertia.terms[:1])
    robot = random_robot(rng, 3, (one_sided,))
    values = random_values(rng, robot)
    q, qd, effort = rng.normal(size=(3, 5, 3))
    direct = DirectModel(robot, values)
    mass = direct.mass_matrix(q)
    np.testing.assert_allclose(mass[:, 0, 1] - mass[:, 1, 0], values[24])
    back = inverse_dynamics(robot, values, q, qd, direct.accelerations(q, qd, effort))
    np.testing.assert_allclose(back, effort, atol=1e-10)


def test_base_parameters_give_the_same_accelerations_as_standard_ones():
    rng = np.random.default_rng(2)
    robot = random_robot(rng, 5)
    values = random_values(rng, robot)
    base = base_parameters(robot)
    only_base = np.zeros_like(values)
    only_base[base.base_columns] = base.values(values[base.columns])
    q, qd, effort = rng.normal(size=(3, 10, 5))
    np.testing.assert_allclose(
        DirectModel(robot, only_base).accelerations(q, qd, effort),
        DirectModel(robot, values).accelerations(q, qd, effort),
        rtol=1e-8,
        atol=1e-8,
    )


def test_a_robot_that_cannot_exist_is_refused_with_the_sample():
    rng = np.random.default_rng(3)
    robot = random_robot(rng, 2)
    values = random_values(rng, robot)
    values[24] = -1e3
    with pytest.raises(MassMatrixError) as caught:
        DirectModel(robot, values).accelerations(*np.zeros((3, 4, 2)))
    assert caught.value.index == 0


def test_wrong_shapes_and_values_are_refused_by_name():
    rng = np.random.default_rng(4)
    robot = random_robot(rng, 2)
    values = random_values(rng, robot)
    with pytest.raises(ShapeError, match="values"):
        DirectModel(robot, values[:-1])
    with pytest.raises(ShapeError, match="effort"):
        DirectModel(robot, values).accelerations(*np.zeros((2, 4, 2)), np.zeros((4, 3)))
    values[12] = np.nan
    with pytest.raises(SampleError, match="Fc1"):
        DirectModel(robot, values)
