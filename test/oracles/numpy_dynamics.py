"""Inverse dynamics and energy in plain NumPy, written for reading and not for speed.

Nothing here shares code or formulation with the package: velocities come from Jacobians in the
base frame, efforts from Newton's and Euler's equations of every body there.
"""

import numpy as np

from robot_identification.robot.joint import JointType


def cross(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def frames(robot, q):
    """Return orientation and origin of every frame in the base frame."""
    found = []
    for joint, x in zip(robot.joints, q, strict=True):
        rotation, origin = np.eye(3), np.zeros(3)
        if joint.antecedent >= 0:
            rotation, origin = found[joint.antecedent]
        origin = origin + rotation @ joint.translation
        rotation = rotation @ joint.rotation
        if joint.type is JointType.PRISMATIC:
            origin = origin + rotation[:, 2] * x
        else:
            c, s = np.cos(x), np.sin(x)
            rotation = rotation @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        found.append((rotation, origin))
    return found


def jacobian(robot, placed, link):
    """Return the (6, joints) Jacobian of a link's angular velocity and origin."""
    matrix = np.zeros((6, len(robot.joints)))
    for k in np.flatnonzero(robot.ancestors[:, link]):
        axis = placed[k][0][:, 2]
        if robot.joints[k].type is JointType.PRISMATIC:
            matrix[3:, k] = axis
        else:
            matrix[:3, k] = axis
            matrix[3:, k] = np.cross(axis, placed[link][1] - placed[k][1])
    return matrix


def motions(robot, q, qd, qdd):
    """Return Jacobian and, per link, w, v, and the accelerations without gravity.

    The rate of a Jacobian is its derivative along qd, by a difference of complex-free fourth order.
    """
    step = 1e-3
    placed = frames(robot, q)
    result = []
    for link in range(len(robot.joints)):
        now = jacobian(robot, placed, link)
        ahead = [
            jacobian(robot, frames(robot, q + k * step * qd), link) for k in (-3, -2, -1, 1, 2, 3)
        ]
        weights = np.array([-1, 9, -45, 45, -9, 1]) / (60 * step)
        rate = sum(w * m for w, m in zip(weights, ahead, strict=True))
        result.append((now, now @ qd, now @ qdd + rate @ qd))
    return placed, result


def body(values):
    """Return tensor, first moments and mass of ten parameters."""
    xx, xy, xz, yy, yz, zz, mx, my, mz, mass = values
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return tensor, np.array([mx, my, mz]), mass


def regressor(robot, q, qd, qdd):
    """Return (joints, 10 joints) efforts per unit of each inertial parameter for one state."""
    count = len(robot.joints)
    placed, moved = motions(robot, q, qd, qdd)
    result = np.zeros((count, 10 * count))
    for link in range(count):
        rotation = placed[link][0]
        matrix, velocity, acceleration = moved[link]
        w, alpha, a = velocity[:3], acceleration[:3], acceleration[3:] - robot.gravity
        for i in range(10):
            tensor, moments, mass = body(np.eye(10)[i])
            tensor, moments = rotation @ tensor @ rotation.T, rotation @ moments
            force = mass * a + np.cross(alpha, moments) + np.cross(w, np.cross(w, moments))
            torque = tensor @ alpha + np.cross(w, tensor @ w) + np.cross(moments, a)
            result[:, 10 * link + i] = matrix.T @ np.concatenate([torque, force])
    return result


def energy(robot, q, qd):
    """Return (10 joints,) total energies per unit of each inertial parameter for one state."""
    placed = frames(robot, q)
    result = np.zeros(10 * len(robot.joints))
    for link, (rotation, origin) in enumerate(placed):
        velocity = jacobian(robot, placed, link) @ qd
        w, v = velocity[:3], velocity[3:]
        for i in range(10):
            tensor, moments, mass = body(np.eye(10)[i])
            tensor, moments = rotation @ tensor @ rotation.T, rotation @ moments
            kinetic = 0.5 * w @ tensor @ w + moments @ np.cross(v, w) + 0.5 * mass * v @ v
            result[10 * link + i] = kinetic - robot.gravity @ (mass * origin + moments)
    return result
