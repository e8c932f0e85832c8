"""While one joint moves, the inverse dynamic model is the published equations."""

import numpy as np
import pytest

from composite_inertia import varying_parts
from oracles.single_joint_equations import SingleMotion
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.identification.one_joint.chain import SerialChain
from robot_identification.identification.one_joint.constants import inertia_constants
from robot_identification.identification.one_joint.minimal import minimal_set
from serial_robots import BRANCHES, inertial_values


@pytest.mark.parametrize("branch", BRANCHES)
def test_efforts_behind_the_moving_joint_are_equations_56_to_61(branch):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        robot = BRANCHES[branch](rng)
        chain, chosen = SerialChain.of(robot), minimal_set(SerialChain.of(robot))
        values = inertial_values(rng, robot)
        constants = inertia_constants(chain, values.reshape(-1, 14)[:, :10].ravel())
        only_minimal = chosen.lifted(chosen.values(constants))
        for i in range(chain.joints):
            q = rng.uniform(-3, 3, chain.joints)
            qd, qdd = np.zeros(chain.joints), np.zeros(chain.joints)
            qd[i], qdd[i] = rng.normal(size=2)
            effort = inverse_dynamics(robot, values, q[None], qd[None], qdd[None])[0]
            for known in (constants, only_minimal):
                varying = varying_parts(chain, known, q)
                motion = SingleMotion(chain, known, varying, q, i, qd[i], qdd[i])
                for j in range(i, chain.joints):
                    assert equation(motion, chain, i, j) == pytest.approx(effort[j], abs=1e-9)


def equation(motion, chain, i, j):
    """Return the effort of joint j by the equation for the types of both joints."""
    if chain.prismatic[i]:
        if chain.prismatic[j]:
            return motion.translating_seen_by_translational(j)
        return motion.translating_seen_by_rotational(j)
    if chain.prismatic[j]:
        return motion.rotating_seen_by_translational(j)
    return motion.rotating_seen_by_rotational(j)
