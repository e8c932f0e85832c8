"""Base parameters stand for the standard ones on robots of every kind."""

import numpy as np
import pytest

from oracles.identifiable_count import identifiable_count
from random_robots import coupled_wrist, random_robot
from random_tables import random_table_robot
from robot_identification.dynamics.energy import EnergyRegressor
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.identification.base.parameters import base_parameters

WAYS = [
    (model, method) for model in ("dynamic", "simplified", "energy") for method in ("qr", "svd")
]


def check(robot, rng, base):
    """Compare efforts and work from standard and from base parameters on fresh states."""
    q, qd, qdd = rng.normal(size=(3, 20, len(robot.joints)))
    full, only_base = both(robot, base, rng.normal(size=len(base.columns)))
    efforts = inverse_dynamics(robot, full, q, qd, qdd)
    difference = inverse_dynamics(robot, only_base, q, qd, qdd) - efforts
    assert np.abs(difference).max() < 1e-9 * np.abs(efforts).max()
    stores = [not name.startswith(("F", "off")) for name in base.standard_names]
    full, only_base = both(robot, base, rng.normal(size=len(base.columns)) * stores)
    work = EnergyRegressor(robot, np.arange(len(full))).differences(q, qd)
    scale = np.abs(work @ full).max() + 1.0
    assert np.abs(work @ (only_base - full)).max() < 1e-9 * scale


def both(robot, base, standard):
    """Return all parameters of a robot, and the base parameters in their leading places."""
    full = np.zeros(len(robot.all_parameter_names))
    full[base.columns] = standard
    only_base = np.zeros_like(full)
    only_base[base.base_columns] = base.values(standard)
    return full, only_base


def stored(base):
    """Return the leading parameters that store energy."""
    return [n for n in base.leading_names if not n.startswith(("F", "off"))]


@pytest.mark.parametrize("seed", range(40))
def test_tables_with_special_axes(seed):
    rng = np.random.default_rng(seed)
    robot = random_table_robot(rng, drive_inertia=bool(seed % 3))
    found = [base_parameters(robot, *way) for way in WAYS]
    assert not any(base.ambiguous for base in found)
    for base in found:
        assert stored(base) == stored(found[0])
        check(robot, rng, base)


@pytest.mark.parametrize("seed", range(20))
def test_trees_with_generic_axes_and_couplings(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, int(rng.integers(2, 8)), coupled_wrist() if seed % 2 else ())
    found = [base_parameters(robot, *way) for way in WAYS]
    for base in found:
        assert stored(base) == stored(found[0])
        check(robot, rng, base)


@pytest.mark.parametrize("seed", range(50))
def test_the_count_is_that_of_the_closed_formula(seed):
    rng = np.random.default_rng(seed)
    absent = dict.fromkeys(
        ("drive_inertia", "viscous_friction", "coulomb_friction", "offset"), False
    )
    robot = random_table_robot(rng, tree=False, **absent)
    base = base_parameters(robot)
    assert base.rank == identifiable_count(robot)
    assert not base.remainder, "under gravity the rules find everything on a serial robot"


def test_without_gravity_the_numerical_method_finds_what_the_rules_leave():
    rng = np.random.default_rng(5)
    left = 0
    for _ in range(12):
        robot = random_table_robot(rng, 4, gravity=(0, 0, 0))
        found = [base_parameters(robot, *way) for way in WAYS]
        left += bool(found[0].remainder)
        for base in found:
            assert stored(base) == stored(found[0])
            check(robot, rng, base)
    assert left, "no robot of this test needs the numerical method"
