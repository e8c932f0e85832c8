"""Compiled derivatives of energies with respect to the motion.

Everything is written with spatial vectors at the origin of frame j: a motion is (angular, linear),
a force is (moment, force).  With the unit motion S of joint j and the transformation X from its
antecedent, d(X x)/dq = (X x) x S, so that one sweep to the tips and one back give exact
derivatives with respect to q, qd and qdd at a small multiple of the cost of the values.
"""

from __future__ import annotations

import math

import numpy as np

from robot_identification.compiled import IN_ANY_ORDER, compiled

_OPTIONS = {"fastmath": IN_ANY_ORDER}


@compiled(**_OPTIONS)
def _place(tree, j, q, turn, origin):
    """Fill the orientation of frame j in its antecedent (3, 3), and its origin (3,)."""
    constant = tree.rotation[j]
    c, s, along = math.cos(q), math.sin(q), 0.0
    if tree.prismatic[j]:
        c, s, along = 1.0, 0.0, q
    for i in range(3):
        turn[i, 0] = c * constant[i, 0] + s * constant[i, 1]
        turn[i, 1] = c * constant[i, 1] - s * constant[i, 0]
        turn[i, 2] = constant[i, 2]
        origin[i] = tree.translation[j, i] + along * constant[i, 2]


@compiled(**_OPTIONS)
def _carry(turn, origin, x, y):
    """Fill y with the motion x of the antecedent, seen at and in frame j."""
    v0 = x[3] + x[1] * origin[2] - x[2] * origin[1]
    v1 = x[4] + x[2] * origin[0] - x[0] * origin[2]
    v2 = x[5] + x[0] * origin[1] - x[1] * origin[0]
    for i in range(3):
        y[i] = turn[0, i] * x[0] + turn[1, i] * x[1] + turn[2, i] * x[2]
        y[3 + i] = turn[0, i] * v0 + turn[1, i] * v1 + turn[2, i] * v2


@compiled(**_OPTIONS)
def _carry_back(turn, origin, f, g):
    """Add to g the force f of frame j, seen at and in its antecedent."""
    n0 = turn[0, 0] * f[0] + turn[0, 1] * f[1] + turn[0, 2] * f[2]
    n1 = turn[1, 0] * f[0] + turn[1, 1] * f[1] + turn[1, 2] * f[2]
    n2 = turn[2, 0] * f[0] + turn[2, 1] * f[1] + turn[2, 2] * f[2]
    f0 = turn[0, 0] * f[3] + turn[0, 1] * f[4] + turn[0, 2] * f[5]
    f1 = turn[1, 0] * f[3] + turn[1, 1] * f[4] + turn[1, 2] * f[5]
    f2 = turn[2, 0] * f[3] + turn[2, 1] * f[4] + turn[2, 2] * f[5]
    g[0] += n0 + origin[1] * f2 - origin[2] * f1
    g[1] += n1 + origin[2] * f0 - origin[0] * f2
    g[2] += n2 + origin[0] * f1 - origin[1] * f0
    g[3] += f0
    g[4] += f1
    g[5] += f2


@compiled(**_OPTIONS)
def _add_inertia(link, x, scale, y):
    """Add scale I x to y, with the inertia I of the parameters XX XY XZ YY YZ ZZ MX MY MZ M."""
    m0, m1, m2, mass = link[6], link[7], link[8], link[9]
    y[0] += scale * (link[0] * x[0] + link[1] * x[1] + link[2] * x[2] + m1 * x[5] - m2 * x[4])
    y[1] += scale * (link[1] * x[0] + link[3] * x[1] + link[4] * x[2] + m2 * x[3] - m0 * x[5])
    y[2] += scale * (link[2] * x[0] + link[4] * x[1] + link[5] * x[2] + m0 * x[4] - m1 * x[3])
    y[3] += scale * (mass * x[3] - m1 * x[2] + m2 * x[1])
    y[4] += scale * (mass * x[4] - m2 * x[0] + m0 * x[2])
    y[5] += scale * (mass * x[5] - m0 * x[1] + m1 * x[0])


@compiled(**_OPTIONS)
def _along(prismatic, x, f):
    """Return f . (x cross S) for the unit motion S about or along z."""
    if prismatic:
        return f[3] * x[1] - f[4] * x[0]
    return f[0] * x[1] - f[1] * x[0] + f[3] * x[4] - f[4] * x[3]


@compiled(**_OPTIONS)
def energy_gradients(tree, q, qd, links, slope_q, slope_qd):
    """Add the derivatives of the energy of the links, with parameters of its own for each sample.

    The derivative of a weighted sum of energy functions is that of an energy whose parameters
    are the weights.

    Args:
        tree: kinematic tree.
        q: (samples, joints) positions.
        qd: (samples, joints) velocities.
        links: (samples, joints, 10) parameters XX XY XZ YY YZ ZZ MX MY MZ M.
        slope_q: (samples, joints) takes dH/dq.
        slope_qd: (samples, joints) takes dH/dqd.
    """
    samples, joints = q.shape
    turn, origin = np.empty((joints, 3, 3)), np.empty((joints, 3))
    speed, lift = np.empty((joints, 6)), np.empty((joints, 6))
    momentum, weight = np.empty((joints, 6)), np.empty((joints, 6))
    ground, up = np.zeros(6), np.zeros(6)
    up[3:] = -tree.gravity
    for t in range(samples):
        for j in range(joints):
            parent = tree.antecedent[j]
            _place(tree, j, q[t, j], turn[j], origin[j])
            _carry(turn[j], origin[j], speed[parent] if parent >= 0 else ground, speed[j])
            _carry(turn[j], origin[j], lift[parent] if parent >= 0 else up, lift[j])
            speed[j, 5 if tree.prismatic[j] else 2] += qd[t, j]
        momentum[:] = 0.0
        weight[:] = 0.0
        for j in range(joints - 1, -1, -1):
            _add_inertia(links[t, j], speed[j], 1.0, momentum[j])
            _add_inertia(links[t, j], lift[j], 1.0, weight[j])
            axis = 5 if tree.prismatic[j] else 2
            slope_qd[t, j] += momentum[j, axis]
            slope_q[t, j] += weight[j, axis] + _along(tree.prismatic[j], speed[j], momentum[j])
            parent = tree.antecedent[j]
            if parent >= 0:
                _carry_back(turn[j], origin[j], momentum[j], momentum[parent])
                _carry_back(turn[j], origin[j], weight[j], weight[parent])
