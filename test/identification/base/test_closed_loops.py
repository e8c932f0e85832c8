"""Base parameters of a robot with a parallelogram, checked against forces in the cut pivot."""

from dataclasses import replace

import numpy as np
import pytest

from random_robots import pinocchio_model, random_values
from random_tables import table_robot
from robot_identification.dynamics.energy import EnergyRegressor
from robot_identification.dynamics.regressor import Regressor
from robot_identification.errors import SettingError
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.base.relations import relations
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.geometry import forward_kinematics
from robot_identification.robot.loops import LoopConstraint, linear_constraint, project

WAYS = [
    (model, method) for model in ("dynamic", "simplified", "energy") for method in ("qr", "svd")
]
# The cut pivot, in the frames of forearm (joint 4) and coupler (joint 5).
ON_FOREARM, ON_COUPLER = [0.25, 0.0, 0.0, 1.0], [-0.6, 0.0, 0.0, 1.0]


@pytest.fixture(scope="module")
def robot():
    return load_robot("hitachi_hpr", closed_loops=True)


def opening(robot, q):
    """Return how far the two halves of the cut pivot are apart."""
    frames = forward_kinematics(robot, q)
    return (frames[3] @ ON_FOREARM - frames[4] @ ON_COUPLER)[:3]


def random_motion(robot, samples, seed=0):
    constraint = linear_constraint(robot)
    rng = np.random.default_rng(seed)
    return constraint.motion(*rng.normal(size=(3, samples, len(constraint.active))))


def test_the_declared_relations_close_the_loop(robot):
    motion = random_motion(robot, 50)
    assert max(np.abs(opening(robot, q)).max() for q in motion.q) < 1e-14


@pytest.mark.parametrize("way", WAYS, ids="-".join)
def test_the_parallelogram_has_fifty_base_parameters(robot, way):
    base = base_parameters(robot, *way)
    first = base_parameters(robot)
    assert base.rank == 50
    assert not base.ambiguous
    assert base.leading_names == first.leading_names
    np.testing.assert_allclose(base.projection, first.projection, atol=1e-12)


def test_efforts_with_forces_in_the_pivot_are_those_of_the_base_parameters_alone(robot):
    """The pivot's force makes the passive joints free of effort; nothing uses G but the motion."""
    pin = pytest.importorskip("pinocchio")
    base = base_parameters(robot)
    constraint = linear_constraint(robot)
    values = random_values(np.random.default_rng(1), robot)
    values[[14 * j + i for j in range(7) for i in (11, 12, 13)]] = 0.0
    values[[14 * j + 10 for j in (1, 4)]] = 0.0  # no drives on the passive joints
    order = [0, 1, 3, 5, 6, 2, 4]  # Pinocchio numbers branch by branch
    permuted = _reordered(robot, order)
    model = pinocchio_model(pin, permuted, np.concatenate([values[14 * j :][:14] for j in order]))
    data = model.createData()
    only_base = np.zeros(len(values))
    only_base[base.base_columns] = base.values(values[base.columns])
    motion = random_motion(robot, 20)
    opened = replace(robot, loops=())
    rows = Regressor(opened, np.arange(len(values))).dense(motion.q, motion.qd, motion.qdd)
    ours = project(rows @ only_base, motion.jacobian)
    for i in range(20):
        tree = np.empty(7)
        tree[order] = pin.rnea(
            model, data, motion.q[i][order], motion.qd[i][order], motion.qdd[i][order]
        )
        gradient = _gradient(robot, motion.q[i])
        force = np.linalg.lstsq(
            gradient[:, constraint.passive].T, tree[constraint.passive], rcond=1e-9
        )[0]
        free = tree - gradient.T @ force
        assert np.abs(free[constraint.passive]).max() < 1e-6
        np.testing.assert_allclose(free[constraint.active], ours[i], atol=1e-6)


def _reordered(robot, order):
    place = {j: i for i, j in enumerate(order)} | {-1: -1}
    joints = tuple(
        type(robot.joints[j])(
            **{**vars(robot.joints[j]), "antecedent": place[robot.joints[j].antecedent]}
        )
        for j in order
    )
    return type(robot)(robot.name, robot.base_link, joints, robot.gravity)


def _gradient(robot, q, step=1e-5):
    columns = [
        (opening(robot, q + step * unit) - opening(robot, q - step * unit)) / (2 * step)
        for unit in np.eye(len(q))
    ]
    return np.column_stack(columns)


def test_energies_of_the_closed_robot_have_the_same_rank(robot):
    base = base_parameters(robot)
    stores = [i for i, n in enumerate(base.standard_names) if not n.startswith(("F", "off"))]
    motion = random_motion(robot, 400)
    h = EnergyRegressor(replace(robot, loops=())).differences(motion.q, motion.qd)[:, stores]
    leading = [n for n in base.leading_names if not n.startswith(("F", "off"))]
    assert np.linalg.matrix_rank(h / np.maximum(np.linalg.norm(h, axis=0), 1e-6)) == len(leading)


def test_links_that_turn_alike_are_grouped(robot):
    named = {relation.leading: relation.symbols() for relation in relations(base_parameters(robot))}
    assert named["XY3"] == "XY3R = XY3 + XY4"
    assert named["ZZ2"] == "ZZ2R = ZZ2 + D4^2 (M4 + M6 + M7) + ZZ5"
    assert named["MX4"] == "MX4R = MX4 - D5/D4 MX5 + D6 (M6 + M7)"


def test_friction_of_a_follower_that_fades_within_a_small_speed_has_an_effect(robot):
    """The arm turns by the difference of two joints: it is slow where both of them are."""
    joints = list(robot.joints)
    arm = robot.joint_names.index("joint_2")
    joints[arm] = replace(
        joints[arm], terms=joints[arm].terms | {"Fs"}, shapes={"Fs": (0.005, 2.0)}
    )
    base = base_parameters(replace(robot, joints=tuple(joints)))
    assert "Fs2" in base.leading_names


def slider_crank(rate=True):
    """Return a crank, its rod and a slide on the base: an explicit but non-linear relation."""
    crank, rod = 0.2, 0.5
    robot = table_robot(
        [{}, {"d": crank}, {"alpha": -np.pi / 2, "r": 0.1}],
        "RRP",
        antecedents=[-1, 0, -1],
        gravity=(0, -9.81, 0),
        viscous_friction=False,
        coulomb_friction=False,
        offset=False,
    )

    def turn(q):
        return np.arcsin(crank / rod * np.sin(q))

    def turn_rate(q):
        return crank / rod * np.cos(q) / np.cos(turn(q))

    def turn_bend(q):
        k, b = crank / rod, turn(q)
        return (
            -k * np.sin(q) / np.cos(b) + k * np.cos(q) * np.sin(b) * turn_rate(q) / np.cos(b) ** 2
        )

    def position(q):
        return np.hstack([-q - turn(q), crank * np.sin(q)])

    def jacobian(q):
        return np.stack([-1 - turn_rate(q), crank * np.cos(q)], axis=1)

    def jacobian_rate(q, qd):
        return np.stack([-turn_bend(q) * qd, -crank * np.sin(q) * qd], axis=1)

    return robot, LoopConstraint(
        joint_names=robot.joint_names,
        passive_names=("joint_2", "joint_3"),
        position=position,
        jacobian=jacobian,
        jacobian_rate=jacobian_rate if rate else None,
    )


def test_relations_given_as_functions():
    robot, constraint = slider_crank()
    found = [base_parameters(robot, *way, constraint=constraint) for way in WAYS]
    assert len({base.leading_names for base in found}) == 1
    base = found[0]
    rng = np.random.default_rng(0)
    motion = constraint.motion(*rng.uniform(-1, 1, size=(3, 30, 1)))
    full = np.zeros(len(robot.all_parameter_names))
    full[base.columns] = rng.normal(size=len(base.columns))
    only_base = np.zeros_like(full)
    only_base[base.base_columns] = base.values(full[base.columns])
    rows = Regressor(robot, np.arange(len(full))).dense(motion.q, motion.qd, motion.qdd)
    efforts = project(rows @ full, motion.jacobian)
    np.testing.assert_allclose(project(rows @ only_base, motion.jacobian), efforts, atol=1e-9)


def test_a_missing_rate_is_asked_for_only_where_it_is_needed():
    robot, constraint = slider_crank(rate=False)
    with pytest.raises(SettingError, match="jacobian_rate"):
        base_parameters(robot, constraint=constraint)
    simplified = base_parameters(robot, "simplified", constraint=constraint)
    energy = base_parameters(robot, "energy", constraint=constraint)
    assert simplified.leading_names == energy.leading_names
