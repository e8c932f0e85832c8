"""Springs between points of links: forces by hand, energies, gradients, every model alike."""

import math
from dataclasses import replace

import numpy as np
import pytest

from looped_robots import hitachi
from random_robots import random_robot, random_values
from robot_identification.dynamics.direct import DirectModel
from robot_identification.dynamics.energy import EnergyRegressor, total_energy
from robot_identification.dynamics.reference import hold
from robot_identification.dynamics.regressor import Regressor, inverse_dynamics
from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.robot.experiment import Controller
from robot_identification.robot.terms.springs import Spring, SpringEnd, SpringKind
from small_robots import pendulum, pendulum_values

ABOVE, ARM = 0.5, 0.3
PRELOAD, STIFFNESS, LENGTH = 40.0, 900.0, 0.45
KINDS = pytest.mark.parametrize("kind", SpringKind)


def with_spring(robot, first, second, kind=SpringKind.COIL, length=LENGTH, **parts):
    ends = (SpringEnd(*first), SpringEnd(*second))
    return replace(robot, springs=(Spring("balancer", kind, ends, length, **parts),))


def balanced_pendulum(kind=SpringKind.COIL):
    """Return a pendulum and its values, held by a spring from a point above its axis.

    Angle 0 is sideways, so that the point of the arm is at (ARM cos q, ARM sin q), and the other
    end at (0, ABOVE).
    """
    robot = with_spring(pendulum(), (-1, (0.0, ABOVE, 0.0)), (0, (ARM, 0.0, 0.0)), kind)
    return robot, np.array([*pendulum_values(), PRELOAD, STIFFNESS])


@KINDS
def test_the_effort_of_a_pendulum_is_that_worked_out_by_hand(kind):
    """l^2 = a^2 + b^2 - 2 a b sin q, so that dl/dq = -a b cos(q) / l."""
    robot, values = balanced_pendulum(kind)
    q = np.linspace(-3.0, 3.0, 41)
    length = np.sqrt(ABOVE**2 + ARM**2 - 2.0 * ABOVE * ARM * np.sin(q))
    sign = -1.0 if kind is SpringKind.GAS else 1.0
    force = sign * PRELOAD + STIFFNESS * (length - LENGTH)
    by_spring = -force * ABOVE * ARM * np.cos(q) / length
    by_weight = 9.81 * values[6] * np.cos(q)
    still = np.zeros((len(q), 1))
    efforts = inverse_dynamics(robot, values, q[:, None], still, still)
    np.testing.assert_allclose(efforts[:, 0], by_spring + by_weight, rtol=0, atol=1e-11)


def test_a_spring_of_no_free_length_holds_the_weight_everywhere():
    """Stiffness times both distances equals the moment of the weight: the classic balance."""
    robot, values = balanced_pendulum()
    names = list(robot.all_parameter_names)
    stiffness = 9.81 * values[names.index("MX1")] / (ABOVE * ARM)
    values[names.index("balancer_stiffness")] = stiffness
    values[names.index("balancer_preload")] = stiffness * LENGTH
    still = np.zeros((50, 1))
    q = np.linspace(-math.pi, math.pi, 50)[:, None]
    np.testing.assert_allclose(inverse_dynamics(robot, values, q, still, still), 0.0, atol=1e-12)


def sprung_robot(seed):
    """Return a random tree, its values, and springs between random links and the base."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 5)
    springs = []
    for number, kind in enumerate(SpringKind):
        joints = rng.choice(np.arange(-1, 5), 2, replace=False)
        ends = tuple(SpringEnd(int(j), tuple(rng.normal(size=3).tolist())) for j in joints)
        springs.append(Spring(f"s{number}", kind, ends, 0.4))
    sprung = replace(robot, springs=tuple(springs))
    values = np.concatenate([random_values(rng, robot), rng.uniform(10.0, 100.0, 4)])
    return sprung, values, rng


def columns_of_springs(robot):
    return np.arange(len(robot.all_parameter_names) - 4, len(robot.all_parameter_names))


@pytest.mark.parametrize("seed", range(20))
def test_columns_are_the_gradients_of_the_energies(seed):
    robot, _, rng = sprung_robot(seed)
    columns = columns_of_springs(robot)
    q = rng.uniform(-2.0, 2.0, 5)
    still = np.zeros(5)
    found = Regressor(robot, columns).dense(q, still, still)[0]
    step = 1e-6
    moved = np.vstack([q + step * np.eye(5), q - step * np.eye(5)])
    energies = EnergyRegressor(robot, columns).dense(moved, 0.0 * moved)
    expected = (energies[:5] - energies[5:]) / (2.0 * step)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("seed", range(20))
def test_direct_and_inverse_model_agree(seed):
    robot, values, rng = sprung_robot(seed)
    q, qd, qdd = rng.normal(size=(3, 9, 5))
    efforts = inverse_dynamics(robot, values, q, qd, qdd)
    found = DirectModel(robot, values).accelerations(q, qd, efforts)
    np.testing.assert_allclose(found, qdd, rtol=0, atol=1e-7 * np.abs(efforts).max())


@pytest.mark.parametrize("seed", range(20))
def test_joints_that_move_both_ends_or_none_feel_nothing(seed):
    robot, _, rng = sprung_robot(seed)
    q = rng.uniform(-2.0, 2.0, (30, 5))
    W = Regressor(robot, columns_of_springs(robot)).dense(q, 0.0 * q, 0.0 * q)
    for spring, own in zip(robot.springs, (W[:, :, :2], W[:, :, 2:]), strict=True):
        moves = [
            [bool(robot.ancestors[k, end.joint]) for end in spring.ends if end.joint >= 0]
            for k in range(5)
        ]
        for k, both in enumerate(moves):
            assert bool(np.abs(own[:, k]).max() > 1e-9) is (sum(both) == 1)


@KINDS
def test_a_pendulum_without_friction_keeps_its_energy(kind):
    robot, values = balanced_pendulum(kind)
    loop = ClosedLoop(robot, values, controller=Controller("cascade", 1000.0, {}))
    samples = loop.run(hold([0.7]), 5.0, loop.at_rest([0.7]))
    energy = total_energy(robot, values, samples.position, samples.velocity)
    assert np.ptp(samples.position) > 0.2
    kinetic = 0.5 * values[5] * samples.velocity[:, 0] ** 2
    assert np.ptp(energy) < 1e-6 * kinetic.max()


def test_a_spring_that_follows_a_loop_acts_through_it():
    """Virtual work: the effort of each active joint is the slope of the energy over it."""
    looped = hitachi()
    follower = looped.joint_names.index(looped.loops[0].joint)
    robot = with_spring(looped, (-1, (0.1, 0.2, 1.5)), (follower, (0.2, 0.1, 0.0)))
    columns = columns_of_springs(robot)[2:]
    active = len(robot.active_joints)
    q = np.random.default_rng(3).uniform(-1.0, 1.0, active)
    found = Regressor(robot, columns).dense(q, 0 * q, 0 * q)[0]
    step = 1e-6
    moved = np.vstack([q + step * np.eye(active), q - step * np.eye(active)])
    energies = EnergyRegressor(robot, columns).dense(moved, 0.0 * moved)
    np.testing.assert_allclose(
        found, (energies[:active] - energies[active:]) / (2.0 * step), rtol=0, atol=1e-8
    )
    values = np.zeros(len(robot.all_parameter_names))
    values[columns] = PRELOAD, STIFFNESS
    bias = DirectModel(robot, values).bias(q, 0 * q)[0]
    np.testing.assert_allclose(bias, found @ values[columns], rtol=0, atol=1e-9)


def test_ends_that_meet_pull_nowhere():
    robot, values = balanced_pendulum()
    touching = with_spring(robot, (-1, (ARM, 0.0, 0.0)), (0, (ARM, 0.0, 0.0)))
    still = np.zeros((1, 1))
    weight = inverse_dynamics(pendulum(), pendulum_values(), still, still, still)
    np.testing.assert_array_equal(inverse_dynamics(touching, values, still, still, still), weight)
