"""Dynamics of robots with loops: equations by hand, work, and Pinocchio's constrained dynamics."""

from dataclasses import replace

import numpy as np
import pytest

from looped_robots import (
    CRANK,
    controlled,
    frictionless,
    gripper,
    hitachi,
    parallelogram,
    pinocchio_accelerations,
    tree_motion,
    values_of,
    waves,
)
from robot_identification.dynamics.direct import DirectModel
from robot_identification.dynamics.energy import total_energy
from robot_identification.dynamics.regressor import Regressor, inverse_dynamics
from robot_identification.dynamics.simulation.fixed_step import ClosedLoop
from robot_identification.errors import ShapeError
from small_robots import sinusoid

ROBOTS = [parallelogram, gripper, hitachi]


def moved(robot, samples=40, seed=0):
    active = len(robot.active_joints)
    return np.random.default_rng(seed).normal(size=(3, samples, active))


def value(robot, values, name):
    return values[robot.all_parameter_names.index(name)]


def test_the_effort_of_a_parallelogram_is_that_of_its_equation():
    """The coupler does not turn: it moves with the end of the crank, as a mass point there would.

    (ZZ1 + L^2 M2 + ZZ3 + sum Ia) qdd + g cos q (MX1 + L M2 + MX3) - g sin q (MY1 + MY3)
    + sum Fv qd + sum Fc sign(qd) + off1 - off2 + off3
    """
    robot = parallelogram()
    values = values_of(robot)
    q, qd, qdd = (signal[:, 0] for signal in moved(robot))

    def of(*names):
        return sum(value(robot, values, name) for name in names)

    inertia = of("ZZ1", "ZZ3", "Ia1", "Ia2", "Ia3") + CRANK**2 * of("M2")
    expected = (
        inertia * qdd
        + 9.81 * np.cos(q) * (of("MX1", "MX3") + CRANK * of("M2"))
        - 9.81 * np.sin(q) * of("MY1", "MY3")
        + of("Fv1", "Fv2", "Fv3") * qd
        + of("Fc1", "Fc2", "Fc3") * np.sign(qd)
        + of("off1", "off3")
        - of("off2")
    )
    found = inverse_dynamics(robot, values, q[:, None], qd[:, None], qdd[:, None])
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-12)


def test_what_cancels_in_a_loop_is_in_no_row():
    """The coupler of a parallelogram does not turn, so that its inertia is never felt."""
    robot = parallelogram()
    regressor = Regressor(robot)
    names = [regressor.names[i] for i in regressor.joint_rows[0].columns]
    assert not {"XX2", "YY2", "ZZ2", "MX2", "MY2"} & set(names)
    assert {"M2", "Fc2", "off2", "ZZ1", "ZZ3"} <= set(names)


def test_friction_that_fades_within_a_small_speed_is_in_the_rows_of_a_loop():
    robot, speed = hitachi(), 0.002
    joints = tuple(
        replace(joint, terms=joint.terms | {"Fs"}, shapes={"Fs": (speed, 2.0)})
        for joint in robot.joints
    )
    robot = replace(robot, joints=joints)
    values = np.zeros(len(robot.all_parameter_names))
    values[
        [
            robot.all_parameter_names.index(f"Fs{robot.joint_names.index(name) + 1}")
            for name in robot.active_names
        ]
    ] = 1.0
    still = np.zeros((1, len(robot.active_joints)))
    found = inverse_dynamics(robot, values, still, still + speed, still)
    np.testing.assert_allclose(found, np.exp(-1.0), rtol=1e-12)


@pytest.mark.parametrize("make", ROBOTS)
def test_the_driven_joints_give_the_power_that_all_joints_of_the_tree_take(make):
    robot = make()
    values = values_of(robot)
    q, qd, qdd = moved(robot)
    whole = tree_motion(robot, q, qd, qdd)
    tree = inverse_dynamics(replace(robot, loops=()), values, *whole)
    driven = inverse_dynamics(robot, values, q, qd, qdd)
    power = np.einsum("ij,ij->i", tree, whole[1])
    np.testing.assert_allclose(np.einsum("ij,ij->i", driven, qd), power, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("make", ROBOTS)
def test_the_direct_model_inverts_the_inverse_one(make):
    robot = make()
    values = values_of(robot)
    q, qd, qdd = moved(robot)
    effort = inverse_dynamics(robot, values, q, qd, qdd)
    found = DirectModel(robot, values).accelerations(q, qd, effort)
    np.testing.assert_allclose(found, qdd, rtol=1e-9, atol=1e-9)


def test_long_recordings_of_a_loop_are_made_piece_by_piece():
    """The tree is evaluated 2048 samples at a time; nothing is lost at the seams."""
    robot = hitachi()
    t, q, qd, qdd = waves(robot, 10.0)
    assert len(t) == 5000
    regressor = Regressor(robot)
    whole = regressor.compact(*(np.ascontiguousarray(s.T) for s in (q, qd, qdd)))
    rest = regressor.compact(*(np.ascontiguousarray(s[4000:].T) for s in (q, qd, qdd)))
    np.testing.assert_allclose(whole[:, 4000:], rest, rtol=1e-12, atol=1e-12)


def test_a_motion_of_the_tree_is_refused():
    robot = hitachi()
    with pytest.raises(ShapeError, match="5"):
        Regressor(robot).compact(*np.zeros((3, 7, 4)))


@pytest.mark.parametrize("make", ROBOTS)
def test_the_work_of_the_drives_is_the_gain_of_energy(make):
    """Without friction, along a motion under a controller; passive joints store energy too."""
    robot = controlled(make())
    robot = replace(robot, controller=replace(robot.controller, recorded_effort="held"))
    values = frictionless(robot, values_of(robot))
    active = len(robot.active_joints)
    loop = ClosedLoop(robot, values)
    start = loop.at_rest(np.zeros(active))
    samples = loop.run(sinusoid([0.3] * active, 0.5, 2.0), 2.0, start)
    work = np.cumsum(np.sum(samples.effort[:-1] * np.diff(samples.position, axis=0), axis=1))
    energy = total_energy(robot, values, samples.position, samples.velocity)
    np.testing.assert_allclose(energy[1:] - energy[0], work, atol=1e-6 * np.abs(work).max())


def test_a_loop_sticks_where_the_friction_of_all_its_joints_holds_it():
    """Drive and follower hold together, neither would alone."""
    robot = parallelogram()
    robot = replace(controlled(robot), gravity=np.zeros(3))
    values = values_of(robot)
    for name, amount in (("Fc1", 1.0), ("Fc2", 1.0), ("Fc3", 1.0), ("off1", 0.0)):
        values[robot.all_parameter_names.index(name)] = amount
    for name in ("off2", "off3"):
        values[robot.all_parameter_names.index(name)] = 0.0
    free = replace(robot.controller, law="pid", gains={"kp": (0.0,), "kd": (0.0,)})
    loop = ClosedLoop(robot, values, controller=free)
    still = sinusoid([0.0], 1.0, 1.0)
    pushed = [
        loop.advance(loop.at_rest([0.0]), still, 500, extra=[effort])[0] for effort in (2.9, 3.1)
    ]
    assert abs(pushed[0].velocity[0]) < 1e-12
    assert pushed[1].velocity[0] > 1e-3


def test_pinocchio_with_a_closed_pivot_moves_as_the_loop_does():
    """Pinocchio knows the tree and that two points coincide; nothing of the relations."""
    pin = pytest.importorskip("pinocchio")
    robot = hitachi()
    values = frictionless(robot, values_of(robot))
    q, qd, effort = moved(robot, samples=20)
    effort *= 20.0
    expected = pinocchio_accelerations(pin, robot, values, q, qd, effort)
    found = DirectModel(robot, values).accelerations(q, qd, effort)
    np.testing.assert_allclose(expected, found, rtol=1e-5, atol=1e-5)
