"""Bounds of efforts of robots with every friction law there is, and with springs."""

from dataclasses import replace

import numpy as np
import pytest

from made_up_plans import random_plan
from random_robots import random_robot, random_values
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.excitation.certification.effort_bounds import efforts
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.robot.springs import Spring, SpringEnd, SpringKind
from robot_identification.robot.terms import DEFAULT_TERMS, TERMS
from test_effort_bounds import states, tube_of, with_limits

LAWS = tuple(term for term in TERMS if not term.default)


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


def case(seed, names, kind=None):
    """Return a robot with laws, values of its parameters, its limits and a motion."""
    rng = np.random.default_rng(seed)
    plain = with_limits(random_robot(rng, rng.integers(2, 5)), rng, jerk=seed % 4 == 1)
    robot = with_terms(plain, names, rng)
    if kind is not None:
        robot = with_spring(robot, rng, kind)
    values = known_values(plain, robot, rng)
    return robot, values, MotionLimits.of(robot), random_plan(robot, rng, points=4)


def compared(robot, values, limits, motion, count=60_000):
    """Return (joints,) the largest sampled efforts, the bounds, what is said to be reached."""
    found = efforts(robot, values, tube_of(motion, limits), limits)
    sampled = states(motion, limits, np.random.default_rng(0), count)
    most = np.abs(inverse_dynamics(robot, values, *sampled)).max(axis=0)
    peaks = found.peaks
    return most, np.array([p.bound for p in peaks]), np.array([p.reached for p in peaks])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", [term.name for term in LAWS])
def test_no_state_exceeds_the_bound_of_a_law_and_the_bound_is_tight(name, seed):
    most, bound, reached = compared(*case(seed, [name]))
    assert (most <= bound * (1.0 + 1e-9)).all()
    assert (bound <= 1.04 * reached).all()
    assert (most >= 0.93 * bound).all()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", list(SpringKind))
def test_no_state_exceeds_the_bound_with_a_spring_and_the_bound_is_tight(kind, seed):
    most, bound, reached = compared(*case(seed, [], kind))
    assert (most <= bound * (1.0 + 1e-9)).all()
    assert (bound <= 1.04 * reached).all()
    assert (most >= 0.93 * bound).all()


@pytest.mark.parametrize("seed", range(8))
def test_no_state_exceeds_the_bound_of_all_laws_together(seed):
    """Trees of revolute and prismatic joints, with a spring that friction of loads follows."""
    kind = list(SpringKind)[seed % 2]
    most, bound, reached = compared(*case(seed, [term.name for term in LAWS], kind))
    assert (most <= bound * (1.0 + 1e-9)).all()
    assert (bound <= 1.04 * reached).all()
    assert (most >= 0.93 * bound).all()
