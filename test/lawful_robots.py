"""Robots with friction laws and springs, drawn at random, with values for them."""

from dataclasses import replace

import numpy as np

from random_robots import random_values
from robot_identification.robot.terms.joint_terms import DEFAULT_TERMS, TERMS
from robot_identification.robot.terms.springs import Spring, SpringEnd

LAWS = tuple(term.name for term in TERMS if not term.default)


def with_terms(robot, names, rng):
    """Return the robot whose joints have terms, with random shapes."""
    joints = []
    for joint in robot.joints:
        shapes = {
            "Fs": (float(rng.uniform(0.05, 1.0)), float(rng.choice([0.5, 1.0, 2.0, 3.0]))),
            "Ft": (float(rng.uniform(0.05, 0.5)),),
        }
        own = {name: shape for name, shape in shapes.items() if name in names}
        joints.append(replace(joint, terms=DEFAULT_TERMS | set(names), shapes=own))
    return replace(robot, joints=tuple(joints))


def with_spring(robot, rng, kind):
    """Return the robot with a spring between its last link and the base or another link."""
    last = len(robot.joints) - 1
    ends = (int(rng.integers(-1, last)), last)
    spring = Spring(
        "balancer",
        kind,
        tuple(SpringEnd(joint, tuple(rng.normal(size=3).tolist())) for joint in ends),
        1.0,
    )
    return replace(robot, springs=(spring,))


def known_values(plain, robot, rng):
    """Return those of the plain robot, and random ones of what is added to it."""
    known = dict(zip(plain.all_parameter_names, random_values(rng, plain), strict=True))
    known |= {"balancer_preload": rng.uniform(5.0, 30.0), "balancer_stiffness": rng.uniform(5, 20)}
    for j in range(1, len(robot.joints) + 1):
        known |= {f"Fva{j}": rng.uniform(-0.5, 0.5), f"Fr{j}": rng.uniform(-1.0, 3.0)}
        known |= {f"Fs{j}": rng.uniform(-2.0, 5.0), f"Ft{j}": rng.uniform(0.0, 5.0)}
        known |= {f"Fl{j}": rng.uniform(0.0, 0.5), f"Fg{j}": rng.uniform(0.0, 0.5)}
        known |= {f"Ks{j}": rng.uniform(0.0, 10.0)}
    return np.array([known[name] for name in robot.all_parameter_names])
