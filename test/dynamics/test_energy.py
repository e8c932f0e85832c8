"""The energy functions agree with Pinocchio and with plain NumPy."""

import numpy as np
import pytest

from oracles import numpy_dynamics
from random_robots import coupled_wrist, pinocchio_model, random_robot, random_values
from robot_identification.dynamics.energy import EnergyRegressor, total_energy
from robot_identification.errors import ShapeError


@pytest.mark.parametrize("seed", range(50))
def test_energy_agrees_with_pinocchio_up_to_a_constant(seed):
    pin = pytest.importorskip("pinocchio")
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, depth_first=True)
    values = random_values(rng, robot)
    model = pinocchio_model(pin, robot, values)
    data = model.createData()
    q, qd = rng.normal(size=(2, 70, len(robot.joints)))
    ours = total_energy(robot, values, q, qd)
    drives = 0.5 * qd**2 @ values[10 : 14 * len(robot.joints) : 14]
    model.armature[:] = 0.0
    theirs = [
        pin.computeKineticEnergy(model, data, *state) + pin.computePotentialEnergy(model, data)
        for state in zip(q, qd, strict=True)
    ]
    difference = ours - drives - np.array(theirs)
    assert np.ptp(difference) < 1e-11 * (1.0 + np.abs(ours).max())


@pytest.mark.parametrize("seed", range(20))
def test_energy_agrees_with_plain_numpy(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(rng)
    columns = np.concatenate([14 * j + np.arange(10) for j in range(len(robot.joints))])
    q, qd = rng.normal(size=(2, len(robot.joints)))
    theirs = numpy_dynamics.energy(robot, q, qd)
    ours = EnergyRegressor(robot, columns).dense(q, qd)[0]
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12 * np.abs(theirs).max())


def test_a_shared_rotor_stores_the_energy_of_its_own_motion():
    robot = random_robot(np.random.default_rng(0), 2, coupled_wrist())
    columns = [robot.all_parameter_names.index(name) for name in ("Ia1", "Ia2")]
    energies = EnergyRegressor(robot, columns).dense([0.0, 0.0], [3.0, 5.0])[0]
    np.testing.assert_allclose(energies, [4.5, 12.5 + 15.0])


def test_what_stores_no_energy_is_named():
    inertia, *friction = coupled_wrist()
    one_sided = type(inertia)("Iam2", inertia.kind, inertia.terms[:1])
    robot = random_robot(np.random.default_rng(0), 2, (one_sided, *friction))
    regressor = EnergyRegressor(robot)
    absent = [n for n, there in zip(regressor.names, regressor.contained, strict=True) if not there]
    expected = ["Fv1", "Fc1", "off1", "Fv2", "Fc2", "off2", "Iam2", "Fvm2", "Fcm2"]
    assert sorted(absent) == sorted(expected)
    rows = regressor.dense(np.ones((3, 2)), np.ones((3, 2)))
    assert not rows[:, ~regressor.contained].any()


def test_differences_are_those_of_consecutive_samples():
    robot = random_robot(np.random.default_rng(0), 3)
    q, qd = np.random.default_rng(1).normal(size=(2, 4, 3))
    regressor = EnergyRegressor(robot)
    rows = regressor.dense(q, qd)
    np.testing.assert_array_equal(regressor.differences(q, qd), rows[1:] - rows[:-1])


def test_arrays_of_other_shapes_are_refused():
    robot = random_robot(np.random.default_rng(0), 3)
    regressor = EnergyRegressor(robot)
    with pytest.raises(ShapeError, match="q has shape"):
        regressor.dense(np.zeros((5, 2)), np.zeros((5, 2)))
    with pytest.raises(ShapeError, match="qd has shape"):
        regressor.dense(np.zeros((5, 3)), np.zeros((4, 3)))
    with pytest.raises(ShapeError, match="out has shape"):
        regressor.rows(np.zeros((3, 5)), np.zeros((3, 5)), np.zeros((1, 5)))
    with pytest.raises(ShapeError, match="values has shape"):
        total_energy(robot, [1.0], np.zeros((5, 3)), np.zeros((5, 3)))
