"""Composite bodies stand for the links, and the minimal set for both."""

from dataclasses import replace

import numpy as np
import pytest

from composite_inertia import gravity_efforts, inertia_matrix
from oracles.identifiable_count import identifiable_count
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.errors import SettingError, ShapeError
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.one_joint.chain import SerialChain
from robot_identification.identification.one_joint.constants import (
    InertiaConstants,
    constants_matrix,
    inertia_constants,
)
from robot_identification.identification.one_joint.minimal import minimal_set
from robot_identification.robot.files.loading import load_robot
from serial_robots import BRANCHES, inertial_values
from stanford_arm import PUBLISHED, stanford_arm, table_2, table_2_tolerance

SEEDS = range(12)


def general_model(robot, values, q):
    """Return inertia matrix and gravity of the inverse dynamic model."""
    n = len(robot.joints)
    still_and_units = np.vstack([np.zeros((1, n)), np.eye(n)])
    postures, still = np.tile(q, (n + 1, 1)), np.zeros((n + 1, n))
    gravity, *units = inverse_dynamics(robot, values, postures, still, still_and_units)
    return units - gravity, gravity


@pytest.mark.parametrize("branch", BRANCHES)
def test_inertia_matrix_and_gravity_of_constants_are_the_general_model_s(branch):
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        robot = BRANCHES[branch](rng)
        chain = SerialChain.of(robot)
        values = inertial_values(rng, robot)
        all_constants = inertia_constants(chain, values.reshape(-1, 14)[:, :10].ravel())
        chosen = minimal_set(chain)
        only_minimal = chosen.lifted(chosen.values(all_constants))
        for q in rng.uniform(-3, 3, size=(3, chain.joints)):
            matrix, gravity = general_model(robot, values, q)
            for constants in (all_constants, only_minimal):
                np.testing.assert_allclose(inertia_matrix(chain, constants, q), matrix, atol=1e-9)
                np.testing.assert_allclose(gravity_efforts(chain, constants, q), gravity, atol=1e-9)


@pytest.mark.parametrize("branch", BRANCHES)
def test_the_count_of_theorem_2_is_the_rank_of_the_general_model(branch):
    for seed in SEEDS:
        robot = BRANCHES[branch](np.random.default_rng(seed))
        count = len(minimal_set(SerialChain.of(robot)).constants)
        assert count == base_parameters(robot).rank == identifiable_count(robot)


def test_a_unit_of_every_parameter_makes_the_matrix_of_the_constants():
    rng = np.random.default_rng(0)
    chain = SerialChain.of(BRANCHES["generic"](rng))
    inertial = rng.normal(size=10 * chain.joints)
    vector = inertia_constants(chain, inertial).vector()
    np.testing.assert_allclose(constants_matrix(chain) @ inertial, vector, atol=1e-12)
    np.testing.assert_array_equal(InertiaConstants.from_vector(vector).vector(), vector)


def test_stanford_arm_has_33_constants_with_r_1_and_s_2():
    chosen = minimal_set(SerialChain.of(stanford_arm()[0]))
    assert chosen.first + 1 == PUBLISHED["first_rotational_joint_r"]
    assert chosen.turned + 1 == PUBLISHED["first_rotational_joint_not_parallel_s"]
    assert len(chosen.constants) == PUBLISHED["minimal_set_size"]
    assert sorted(chosen.names) == sorted(table_2())


def test_published_links_make_table_2():
    robot, values = stanford_arm()
    chain = SerialChain.of(robot)
    chosen = minimal_set(chain)
    constants = inertia_constants(chain, values.reshape(-1, 14)[:, :10].ravel())
    printed = table_2()
    for name, value in zip(chosen.names, chosen.values(constants), strict=True):
        assert value == pytest.approx(printed[name], abs=table_2_tolerance(name)), name


def test_published_postures_make_table_1():
    robot, _ = stanford_arm()
    chain = SerialChain.of(robot)
    rows = {
        0.7: {2: (0.7648, -0.6442, 0), 3: (0.7648, 0, 0.6442), 4: (0.5850, -0.4927, 0.6442),
              5: (-0.1159, 0.8624, 0.4927), 6: (0.2288, 0.4515, -0.8624)},
        -0.7: {2: (0.7648, 0.6442, 0), 3: (0.7648, 0, -0.6442), 4: (0.5850, 0.4927, 0.6442),
               5: (-0.8696, 0.0324, 0.4927), 6: (-0.4060, 0.3022, -0.8624)},
        # The last entry of joint 6 is printed -0.8264; the norm of the vector demands -0.8624.
        -0.6: {2: (0.8253, 0.5646, 0), 4: (0.6313, 0.4319, 0.6442), 5: (-0.8620, 0.1190, 0.4927),
               6: (-0.3738, 0.3412, -0.8624)},
    }  # fmt: skip
    for value, row in rows.items():
        for joint, printed in row.items():
            q = np.array(PUBLISHED["experiment"]["configurations_q"])
            q[(2 if joint == 3 else joint) - 1] = value
            orientation, _ = chain.frames(q)
            axis = orientation[joint - 1].T @ orientation[0][:, 2]
            np.testing.assert_allclose(axis, printed, atol=1.01e-4)


def test_what_is_not_a_chain_under_gravity_is_refused():
    rng = np.random.default_rng(3)
    robot = BRANCHES["generic"](rng)
    with pytest.raises(SettingError, match="gravity"):
        minimal_set(SerialChain.of(replace(robot, gravity=np.zeros(3))))
    forked = (*robot.joints[:-1], replace(robot.joints[-1], antecedent=-1))
    with pytest.raises(SettingError, match="branch"):
        SerialChain.of(replace(robot, joints=forked))
    with pytest.raises(SettingError, match="branch"):
        SerialChain.of(load_robot("hitachi_hpr", closed_loops=True))
    chain = SerialChain.of(robot)
    with pytest.raises(ShapeError, match="inertial"):
        inertia_constants(chain, np.zeros(7))
    with pytest.raises(ShapeError, match="values"):
        minimal_set(chain).lifted([1.0])
    with pytest.raises(ShapeError, match="position"):
        chain.frames([0.0])
