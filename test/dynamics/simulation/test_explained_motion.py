from dataclasses import replace

import numpy as np
import pytest

from robot_identification.dynamics.friction import coulomb_terms_of
from robot_identification.dynamics.regressor import Regressor, inverse_dynamics
from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.errors import ShapeError
from robot_identification.identification.didim.simulation import explain
from robot_identification.robot.couplings import Coupling, CouplingTerm
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.terms.kinds import TermKind
from simulated_experiments import simulated


@pytest.mark.parametrize(("name", "values"), [("scara", "scara"), ("tx40", "tx40_simulated")])
def test_regressor_and_simulator_share_one_law_of_friction(name, values):
    robot = load_robot(name)
    parameters = load_values(values, robot)
    samples, _ = simulated(name, values, 500.0 if name == "tx40" else 200.0)
    motion = explain(robot, ClosedLoop(robot, parameters).plant, samples)
    assert (np.abs(motion.shares) < 0.99).any(axis=1).sum() > 5  # it sticks now and then
    regressor = Regressor(robot)
    q, qd, qdd, shares = (
        np.ascontiguousarray(signal.T)
        for signal in (samples.position, samples.velocity, motion.acceleration, motion.shares)
    )
    rows = regressor.compact(q, qd, qdd, shares=shares)
    for k, joint in enumerate(regressor.joint_rows):
        effort = parameters[regressor.columns[joint.columns]] @ rows[joint.rows]
        np.testing.assert_allclose(effort, samples.effort[:, k], atol=1e-10)


def test_the_shared_motor_of_a_wrist_is_one_friction_motion():
    terms = coulomb_terms_of(load_robot("tx40"))
    assert len(terms.motions) == 7
    np.testing.assert_array_equal(terms.motions[6], [0, 0, 0, 0, 1, 1])
    assert sorted(terms.joint[terms.motion == 6]) == [4, 5]


def test_friction_across_joints_acts_the_same_whichever_sign_its_velocity_is_written_with():
    """A belt that drives joint 2 by its motion relative to joint 1, turning against joint 1."""
    relative = {"joint_1": -1.5, "joint_2": 1.0}
    term = CouplingTerm(on=relative, of=relative)
    robot = replace(load_robot("scara"), couplings=(Coupling("FcBelt", TermKind.COULOMB, (term,)),))
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.normal(size=(3, 2, 200))
    motions = coulomb_terms_of(robot).motions
    np.testing.assert_allclose(motions[2], [1.0, -1.0 / 1.5])
    regressor = Regressor(robot)
    np.testing.assert_array_equal(
        regressor.compact(q, qd, qdd, shares=np.sign(motions @ qd)), regressor.compact(q, qd, qdd)
    )
    belt = np.zeros(len(robot.all_parameter_names))
    belt[robot.all_parameter_names.index("FcBelt")] = 2.0
    effort = inverse_dynamics(robot, belt, q.T, qd.T, 0.0 * qdd.T)
    assert (np.sum(effort * qd.T, axis=1) > 0.0).all()  # the drives have to work against it


def test_shares_must_be_those_of_all_friction_motions():
    still = np.zeros((2, 5))
    with pytest.raises(ShapeError, match="shares"):
        Regressor(load_robot("scara")).compact(still, still, still, shares=still[:1])
