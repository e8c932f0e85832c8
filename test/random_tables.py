"""Robots drawn at random from tables of geometric parameters: many special cases, few generic."""

import numpy as np

from robot_identification.robot.geometry import placement
from robot_identification.robot.joint import GeometricParameters, Joint, JointType
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.joint_terms import TERMS

QUARTER = np.pi / 2
GRAVITIES = ((0, 0, -9.81), (0, -9.81, 0), (9.81, 0, 0), (3, -4, 8))


def table_robot(geometries, types="", *, gravity=(0, 0, -9.81), antecedents=None, **terms):
    """Return a robot from its table; ``types`` is a string of R and P.

    Further arguments are those of a robot file that say which terms joints have.
    """
    joints = []
    for i, values in enumerate(geometries):
        geometry = GeometricParameters(**values)
        rotation, translation = placement(geometry)
        joints.append(
            Joint(
                name=f"joint_{i + 1}",
                link=f"link_{i + 1}",
                type=JointType.PRISMATIC if types[i : i + 1] == "P" else JointType.REVOLUTE,
                antecedent=i - 1 if antecedents is None else antecedents[i],
                rotation=rotation,
                translation=translation,
                geometry=geometry,
                terms=frozenset(t.name for t in TERMS if terms.get(t.key, t.default)),
            )
        )
    return RobotModel("table", "base", tuple(joints), gravity)


def random_table_robot(rng, joints=None, *, prismatic=0.35, tree=True, gravity=None, **terms):
    """Return a robot with parallel, perpendicular and oblique axes, long and vanishing links."""
    count = int(rng.integers(2, 9)) if joints is None else joints
    geometries, antecedents = [], []
    for i in range(count):
        special, branches = rng.random() < 0.7, tree and rng.random() < 0.4
        angles = [rng.choice([0, 1, -1, 2]) * QUARTER if special else rng.uniform(-3, 3)] * 3
        if special:
            angles = rng.choice([0, 1, -1, 2], size=3) * QUARTER
        lengths = rng.uniform(-0.6, 0.6, size=3).round(3) * (rng.random(3) < 0.6)
        values = {"alpha": angles[0], "theta": angles[1], "d": lengths[0], "r": lengths[1]}
        if branches:
            values |= {"gamma": angles[2], "b": lengths[2]}
        geometries.append(values)
        antecedents.append(int(rng.integers(-1, i)) if i and branches else i - 1)
    types = "".join("P" if rng.random() < prismatic else "R" for _ in range(count))
    if gravity is None:
        gravity = GRAVITIES[rng.integers(len(GRAVITIES))]
    return table_robot(geometries, types, gravity=gravity, antecedents=antecedents, **terms)
