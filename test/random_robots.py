"""Robots drawn at random whose links are bodies that can exist, and Pinocchio's copy of them."""

import numpy as np

from robot_identification.robot.couplings import Coupling, CouplingTerm
from robot_identification.robot.joint import Joint, JointType
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.kinds import TermKind


def random_rotation(rng):
    """Return a rotation matrix."""
    matrix, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return matrix * np.sign(np.linalg.det(matrix))


def random_antecedents(rng, count, depth_first):
    """Return the antecedents of a tree; Pinocchio wants each branch to be numbered in one go."""
    antecedents = []
    for i in range(count):
        parent = i - 1
        if not depth_first:
            parent = int(rng.integers(-1, i)) if i else -1
        while depth_first and parent >= 0 and rng.random() < 0.3:
            parent = antecedents[parent]
        antecedents.append(parent)
    return antecedents


def random_robot(rng, joints=None, couplings=(), *, depth_first=False):
    """Return a tree of revolute and prismatic joints with random placements and gravity."""
    count = int(rng.integers(1, 8)) if joints is None else joints
    antecedents = random_antecedents(rng, count, depth_first)
    return RobotModel(
        name="random",
        base_link="base",
        joints=tuple(
            Joint(
                name=f"joint_{i + 1}",
                link=f"link_{i + 1}",
                type=JointType.PRISMATIC if rng.random() < 0.4 else JointType.REVOLUTE,
                antecedent=antecedents[i],
                rotation=random_rotation(rng),
                translation=rng.normal(size=3),
            )
            for i in range(count)
        ),
        gravity=rng.normal(size=3) * 5.0,
        couplings=couplings,
    )


def coupled_wrist(first="joint_1", second="joint_2", number=2):
    """Return the couplings of a motor that turns with two joints."""
    one_on_other = (
        CouplingTerm(on={first: 1.0}, of={second: 1.0}),
        CouplingTerm(on={second: 1.0}, of={first: 1.0}),
    )
    both = CouplingTerm(on={first: 1.0, second: 1.0}, of={first: 1.0, second: 1.0})
    return (
        Coupling(f"Ia{number}", TermKind.INERTIA, one_on_other),
        Coupling(f"Fvm{number}", TermKind.VISCOUS, one_on_other),
        Coupling(f"Fcm{number}", TermKind.COULOMB, (both,)),
    )


def random_values(rng, robot):
    """Return standard parameters whose links are bodies and whose drives dissipate."""
    values = rng.uniform(0.1, 1.0, size=len(robot.all_parameter_names))
    for j in range(len(robot.joints)):
        mass, centre = rng.uniform(1.0, 5.0), 0.3 * rng.normal(size=3)
        spread = rng.normal(size=(3, 3))
        second = mass * (spread @ spread.T * 0.05 + np.outer(centre, centre))
        inertia = np.trace(second) * np.eye(3) - second
        values[14 * j : 14 * j + 10] = [
            *inertia[np.triu_indices(3)],
            *(mass * centre),
            mass,
        ]
    return values


def pinocchio_model(pin, robot, values):
    """Return Pinocchio's model of a robot, drive inertias included, friction not."""
    model = pin.Model()
    model.gravity.linear = np.array(robot.gravity)
    for j, joint in enumerate(robot.joints):
        own = values[14 * j : 14 * j + 14]
        kind = pin.JointModelPZ() if joint.type is JointType.PRISMATIC else pin.JointModelRZ()
        placement = pin.SE3(np.array(joint.rotation), np.array(joint.translation))
        index = model.addJoint(joint.antecedent + 1, kind, placement, joint.name)
        mass, centre = own[9], own[6:9] / own[9]
        inertia = np.array(
            [[own[0], own[1], own[2]], [own[1], own[3], own[4]], [own[2], own[4], own[5]]]
        )
        at_centre = inertia - mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
        model.appendBodyToJoint(index, pin.Inertia(mass, centre, at_centre), pin.SE3.Identity())
    model.armature = np.array(values[10 : 14 * len(robot.joints) : 14])
    return model
