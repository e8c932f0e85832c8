"""The regressor agrees with Pinocchio, with plain NumPy and with the energy."""

import numpy as np
import pytest

from oracles import numpy_dynamics
from random_robots import coupled_wrist, pinocchio_model, random_robot, random_values
from robot_identification.dynamics.energy import total_energy
from robot_identification.dynamics.kernels.frames import BLOCK
from robot_identification.dynamics.regressor import Regressor, inverse_dynamics
from robot_identification.errors import ShapeError
from robot_identification.robot.couplings import Coupling, CouplingTerm
from robot_identification.robot.terms.kinds import TermKind

INERTIAL = np.arange(10)
PINOCCHIO_ORDER = [4, 5, 7, 6, 8, 9, 1, 2, 3, 0]


def inertial_columns(robot):
    return np.concatenate([14 * j + INERTIAL for j in range(len(robot.joints))])


@pytest.mark.parametrize("seed", range(100))
def test_regressor_agrees_with_pinocchio_on_random_trees(seed):
    pin = pytest.importorskip("pinocchio")
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, depth_first=bool(seed % 2))
    model = pinocchio_model(pin, robot, random_values(rng, robot))
    data = model.createData()
    count = len(robot.joints)
    q, qd, qdd = rng.normal(size=(3, BLOCK + 6, count))  # more than one block of samples
    ours = Regressor(robot, inertial_columns(robot)).dense(q, qd, qdd)
    for i in (0, BLOCK - 1, BLOCK, BLOCK + 5):
        theirs = pin.computeJointTorqueRegressor(model, data, q[i], qd[i], qdd[i])
        theirs = theirs.reshape(count, count, 10)[:, :, PINOCCHIO_ORDER].reshape(count, -1)
        np.testing.assert_allclose(ours[i], theirs, rtol=0, atol=1e-10 * np.abs(theirs).max())


@pytest.mark.parametrize("seed", range(30))
def test_regressor_agrees_with_plain_numpy(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(rng)
    q, qd, qdd = rng.normal(size=(3, len(robot.joints)))
    ours = Regressor(robot, inertial_columns(robot)).dense(q, qd, qdd)[0]
    theirs = numpy_dynamics.regressor(robot, q, qd, qdd)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-10 * np.abs(theirs).max())


@pytest.mark.parametrize("seed", range(30))
def test_power_of_the_efforts_is_the_rate_of_the_energy(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 4, coupled_wrist())
    values = rng.normal(size=len(robot.all_parameter_names))
    kinds = [name.rstrip("0123456789") for name in robot.all_parameter_names]
    values[np.isin(kinds, ["Fv", "Fc", "off", "Fvm", "Fcm"])] = 0.0
    q, qd, qdd = rng.normal(size=(3, 4))
    step = 1e-3 * np.arange(-2, 3)[:, None]
    energy = total_energy(robot, values, q + qd * step + qdd * step**2 / 2, qd + qdd * step)
    rate = np.array([1, -8, 0, 8, -1]) @ energy / 12e-3
    power = inverse_dynamics(robot, values, q, qd, qdd)[0] @ qd
    assert rate == pytest.approx(power, rel=1e-7, abs=1e-7 * np.abs(energy).max())


def test_couplings_act_as_declared():
    one = CouplingTerm(on={"joint_1": 2.0}, of={"joint_2": 3.0})
    robot = random_robot(np.random.default_rng(0), 2, (Coupling("Fcm2", TermKind.COULOMB, (one,)),))
    column = robot.all_parameter_names.index("Fcm2")
    rows = Regressor(robot, [column]).dense([[0.0, 0.0]], [[1.0, -1.0]], [[0.0, 0.0]])
    np.testing.assert_array_equal(rows[0, :, 0], [-2.0, 0.0])


def test_rows_hold_the_chosen_columns_and_spare_ones_are_left_alone():
    rng = np.random.default_rng(0)
    robot = random_robot(rng, 6)
    q, qd, qdd = rng.normal(size=(3, 6, 2 * BLOCK + 1))
    full = Regressor(robot, np.arange(84)).dense(q.T, qd.T, qdd.T)
    chosen = Regressor(robot, rng.permutation(84)[:30], spare=1)
    out = np.full((chosen.compact_rows, q.shape[1]), 7.0)
    chosen.compact(q, qd, qdd, out=out)
    for k, joint in enumerate(chosen.joint_rows):
        expected = full[:, k, chosen.columns[joint.columns]].T
        np.testing.assert_array_equal(out[joint.rows], expected)
        np.testing.assert_array_equal(out[joint.rows.stop], 7.0)


def test_signals_that_may_not_be_written_or_lie_apart_give_the_same_rows():
    robot = random_robot(np.random.default_rng(0), 3)
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 20, 3))
    expected = Regressor(robot).compact(q.T.copy(), qd.T.copy(), qdd.T.copy())
    qd.setflags(write=False)
    np.testing.assert_array_equal(Regressor(robot).compact(q.T, qd.T, qdd.T), expected)


def test_arrays_of_other_shapes_are_refused():
    robot = random_robot(np.random.default_rng(0), 3)
    with pytest.raises(ShapeError, match="q has shape"):
        Regressor(robot).dense(np.zeros((5, 2)), np.zeros((5, 2)), np.zeros((5, 2)))
    with pytest.raises(ShapeError, match="qdd has shape"):
        Regressor(robot).dense(np.zeros((5, 3)), np.zeros((5, 3)), np.zeros((4, 3)))
