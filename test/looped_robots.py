"""Robots whose joints follow others, with values and motions for them."""

from dataclasses import replace

import numpy as np

from random_robots import pinocchio_model, random_values
from random_tables import table_robot
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.robot.couplings import LoopRelation
from robot_identification.robot.experiment import Controller
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.loops import loop_matrix, loop_offset
from robot_identification.robot.model import EffortMeaning
from robot_identification.signals.raw_samples import RawSamples

CRANK, BASE = 0.3, 0.5  # lengths of the sides of the parallelogram, in m


def parallelogram():
    """Return a crank, a coupler that stays parallel to the base, and a rocker like the crank.

    All turn about z, gravity goes against y: a planar four-bar linkage with opposite sides alike.
    """
    robot = table_robot(
        [{}, {"d": CRANK}, {"d": BASE}], antecedents=[-1, 0, -1], gravity=(0.0, -9.81, 0.0)
    )
    loops = (
        LoopRelation("joint_2", {"joint_1": -1.0}),
        LoopRelation("joint_3", {"joint_1": 1.0}),
    )
    return replace(
        robot, name="parallelogram", loops=loops, effort_meaning=EffortMeaning.JOINT_TORQUE
    )


def gripper():
    """Return a wrist with two fingers, of which one mimics the other at the same pace."""
    robot = table_robot(
        [{}, {"alpha": np.pi / 2, "r": 0.1}, {"alpha": np.pi / 2, "r": 0.1}],
        "RPP",
        antecedents=[-1, 0, 0],
        gravity=(0.0, -9.81, 0.0),
    )
    return replace(
        robot,
        name="gripper",
        loops=(LoopRelation("joint_3", {"joint_2": -1.0}, offset=0.02),),
        effort_meaning=EffortMeaning.JOINT_TORQUE,
    )


def hitachi():
    """Return the robot of five degrees of freedom with a parallelogram."""
    return load_robot("hitachi_hpr", closed_loops=True)


def controlled(robot):
    """Return a robot with a controller that follows well."""
    active = len(robot.active_joints)
    gains = {"kp": (400.0,) * active, "kd": (40.0,) * active}
    return replace(robot, controller=Controller("computed_torque", 1000.0, gains))


def values_of(robot, seed=3):
    """Return (full,) random values of bodies that can exist; what is not of the model is zero."""
    drawn = random_values(np.random.default_rng(seed), robot)
    values = np.zeros_like(drawn)
    values[robot.standard_indices] = drawn[robot.standard_indices]
    return values


def waves(robot, seconds, rate=500, seed=0, waves=8):
    """Return (samples,) times and (samples, active) position, velocity and acceleration."""
    rng = np.random.default_rng(seed)
    active = len(robot.active_joints)
    t = np.arange(0.0, seconds, 1.0 / rate)[:, None]
    q, qd, qdd = np.zeros((3, len(t), active))
    for _ in range(waves):
        w, phase = rng.uniform(0.5, 4.0, active), rng.uniform(0.0, 2.0 * np.pi, active)
        a = rng.uniform(0.2, 1.0, active) / w
        q += a * np.sin(w * t + phase)
        qd += a * w * np.cos(w * t + phase)
        qdd -= a * w * w * np.sin(w * t + phase)
    return t[:, 0], q, qd, qdd


def tree_motion(robot, q, qd, qdd):
    """Return the motion of all joints for one of those that can be moved independently."""
    follow = loop_matrix(robot).T
    return q @ follow + loop_offset(robot), qd @ follow, qdd @ follow


def recorded(robot, values, seconds=30.0, seed=0, *, position_noise=1e-4, effort_noise=0.02):
    """Return samples of the active joints; noise of the efforts is a share of their deviation."""
    t, q, qd, qdd = waves(robot, seconds, seed=seed)
    effort = inverse_dynamics(robot, values, q, qd, qdd)
    rng = np.random.default_rng([seed, 1])
    effort = effort + rng.normal(size=effort.shape) * effort_noise * effort.std(axis=0)
    position = q + rng.normal(scale=position_noise, size=q.shape)
    return RawSamples(np.rint(t * 1e9).astype(np.int64), position, None, effort)


def frictionless(robot, values):
    """Return (full,) values without friction and offsets."""
    names = robot.all_parameter_names
    kept = [not name.startswith(("F", "off")) for name in names]
    return np.where(kept, values, 0.0)


def pinocchio_accelerations(pin, robot, values, q, qd, effort):
    """Return what Pinocchio's constrained dynamics makes of efforts of the hitachi's active joints.

    It knows the tree and that two points of forearm and coupler coincide, but no relation.
    """
    order = [0, 1, 3, 5, 6, 2, 4]  # Pinocchio numbers branch by branch
    driven = [robot.joint_names.index(name) for name in robot.active_names]
    place = {j: i for i, j in enumerate(order)} | {-1: -1}
    joints = tuple(
        replace(robot.joints[j], antecedent=place[robot.joints[j].antecedent]) for j in order
    )
    opened = replace(robot, joints=joints, loops=())
    model = pinocchio_model(pin, opened, np.concatenate([values[14 * j :][:14] for j in order]))
    data = model.createData()
    forearm, coupler = (
        pin.SE3(np.eye(3), np.array(point)) for point in ([0.25, 0.0, 0.0], [-0.6, 0.0, 0.0])
    )
    pivot = pin.RigidConstraintModel(
        pin.ContactType.CONTACT_3D, model, 1 + place[3], forearm, 1 + place[4], coupler
    )
    pivots, forces = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    pivots.append(pivot)
    forces.append(pivot.createData())
    pin.initConstraintDynamics(model, data, pivots, forces)
    settings = pin.ProximalSettings(1e-14, 1e-10, 200)
    whole, rates, _ = tree_motion(robot, q, qd, qd)
    given, found = np.zeros_like(whole), np.empty_like(whole)
    given[:, driven] = effort
    for i in range(len(whole)):
        found[i, order] = pin.constraintDynamics(
            *(model, data, whole[i][order], rates[i][order], given[i][order]),
            *(pivots, forces, settings),
        )
    return found[:, driven]
