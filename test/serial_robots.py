"""Serial robots drawn at random in every branch of Lin 1992, Theorem 2."""

from dataclasses import replace

import numpy as np

from random_robots import random_robot
from random_tables import QUARTER, random_table_robot, table_robot
from robot_identification.robot.joint import JointLimits

ONLY_INERTIA = dict.fromkeys(
    ("drive_inertia", "viscous_friction", "coulomb_friction", "offset"), False
)
DOWN, ACROSS = (0, 0, -9.81), (0, -9.81, 0)


def generic_robot(rng, joints=None):
    """Return a chain whose frames are placed anyhow, as those of a URDF."""
    robot = random_robot(rng, int(rng.integers(2, 7)) if joints is None else joints)
    chained = [replace(j, antecedent=i - 1, terms=frozenset()) for i, j in enumerate(robot.joints)]
    return replace(robot, joints=tuple(chained))


def _chain(rng, types, turns, gravity, lengths=True):
    """Return a chain with given angles between consecutive axes, in quarter turns or None."""
    geometries = []
    for turn in turns:
        alpha = rng.uniform(0.3, 1.2) if turn is None else turn * QUARTER
        d, r = rng.uniform(0.1, 0.5, size=2) if lengths else (0.0, 0.0)
        geometries.append({"alpha": alpha, "d": d, "r": r, "theta": rng.uniform(-1, 1)})
    return table_robot(geometries, types, gravity=gravity, **ONLY_INERTIA)


BRANCHES = {
    "translation before r, across it": lambda rng: _chain(rng, "PRR", (1, 1, 0), ACROSS),
    "translation before r, along it": lambda rng: _chain(rng, "PRR", (0, 0, 0), DOWN),
    "translation across before parallel axes": lambda rng: _chain(rng, "PRR", (1, 1, 0), DOWN),
    "translation between r and s, along r": lambda rng: _chain(rng, "RPRR", (0, 0, 1, 1), DOWN),
    "translation between r and s, oblique": lambda rng: _chain(
        rng, "RPRR", (0, None, None, 1), DOWN
    ),
    "translation behind s": lambda rng: _chain(rng, "RRPRR", (0, 1, 1, 0, None), DOWN),
    "two translations behind s": lambda rng: _chain(rng, "RRPPR", (0, None, 1, 1, 1), ACROSS),
    "parallel axes, no s, along gravity": lambda rng: _chain(rng, "RRPR", (0, 0, 0, 0), DOWN),
    "parallel axes, no s, across gravity": lambda rng: _chain(rng, "RRR", (0, 0, 0), ACROSS),
    "antiparallel axes": lambda rng: _chain(rng, "RRRR", (0, 2, 2, 1), DOWN),
    "axes that meet, along gravity": lambda rng: _chain(rng, "RRR", (0, 0, 1), DOWN, False),
    "axes that meet, across gravity": lambda rng: _chain(rng, "RRR", (0, 0, 1), ACROSS, False),
    "always across r": lambda rng: _chain(rng, "RRR", (0, 1, 0), DOWN),
    "translations alone": lambda rng: _chain(rng, "PPP", (1, 1, 1), DOWN),
    "table": lambda rng: random_table_robot(
        rng, int(rng.integers(2, 6)), tree=False, **ONLY_INERTIA
    ),
    "generic": lambda rng: generic_robot(rng, int(rng.integers(2, 6))),
}


def with_limits(robot, half_range=2.5):
    """Return a robot whose joints may move."""
    limits = JointLimits(-half_range, half_range, velocity=2.0, acceleration=8.0)
    return replace(robot, joints=tuple(replace(j, limits=limits) for j in robot.joints))


def inertial_values(rng, robot):
    """Return standard parameters without drives and friction."""
    values = np.zeros((len(robot.joints), 14))
    values[:, :10] = rng.normal(size=(len(robot.joints), 10))
    return values.ravel()
