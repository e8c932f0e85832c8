"""Compiled direct dynamic model: triangular factors of the mass matrix, accelerations.

Mass matrix and bias of a state come from :mod:`.kernels.plant`.
"""

from __future__ import annotations

import numpy as np

from robot_identification.compiled import IN_ANY_ORDER, INLINED, compiled
from robot_identification.dynamics.kernels.load import loaded_actions
from robot_identification.dynamics.kernels.plant import headings, mass_and_bias, workspace

_OPTIONS = {"fastmath": IN_ANY_ORDER}


@compiled(**INLINED)
def factor(mass):
    """Replace a mass matrix by its triangular factors L U; tell whether it was regular.

    Without pivoting: a mass matrix has a positive definite symmetric part, and couplings may be
    declared on one side only, so that it need not be symmetric.  The diagonal gets its inverse.
    """
    joints = mass.shape[0]
    for k in range(joints):
        if not mass[k, k] > 0.0:
            return False
        inverse = 1.0 / mass[k, k]
        mass[k, k] = inverse
        for i in range(k + 1, joints):
            multiple = mass[i, k] * inverse
            mass[i, k] = multiple
            for j in range(k + 1, joints):
                mass[i, j] -= multiple * mass[k, j]
    return True


@compiled(**INLINED)
def solve(factors, x):
    """Replace x by the solution of mass times solution = x, column by column of the factors.

    Zeros ahead of the first effort, as where one joint alone is pushed, cost nothing.
    """
    joints = factors.shape[0]
    for k in range(joints):
        known = x[k]
        if known != 0.0:
            for i in range(k + 1, joints):
                x[i] -= factors[i, k] * known
    for k in range(joints - 1, -1, -1):
        known = x[k] * factors[k, k]
        x[k] = known
        for i in range(k):
            x[i] -= factors[i, k] * known


@compiled(**_OPTIONS)
def accelerations(plant, q, qd, effort, out):
    """Fill out (samples, joints) with joint accelerations; return the first sample that has none.

    Coulomb friction follows the sign of the velocities, as in the inverse model.

    Returns:
        -1, or the index of the first sample whose mass matrix is not positive definite.
    """
    samples, joints = q.shape
    work = workspace(plant)
    mass = np.empty((joints, joints))
    bias = np.empty(joints)
    action = np.empty_like(plant.action)
    slip = np.empty(plant.motion.shape[0])
    room = np.empty((3, joints))
    for t in range(samples):
        headings(plant, qd[t], slip)
        loaded_actions(plant, q[t], qd[t], effort[t], slip, work, mass, room, action)
        mass_and_bias(plant, q[t], qd[t], work, mass, bias)
        for i in range(joints):
            out[t, i] = effort[t, i] - bias[i]
        for e in range(slip.size):
            for j in range(joints):
                out[t, j] -= action[e, j] * slip[e]
        if not factor(mass):
            return t
        solve(mass, out[t])
    return -1


@compiled(**_OPTIONS)
def driving_efforts(plant, q, qd, effort, slip, out):
    """Fill out (samples, joints) with the efforts that Coulomb friction leaves.

    Args:
        plant: the robot.
        q: (samples, joints) positions.
        qd: (samples, joints) velocities.
        effort: (samples, joints) efforts of the drives.
        slip: (samples, elements) shares of their sliding forces that the elements take.
        out: (samples, joints) result.
    """
    work = workspace(plant)
    mass = np.empty((q.shape[1], q.shape[1]))
    room = np.empty((3, q.shape[1]))
    action = np.empty_like(plant.action)
    for t in range(q.shape[0]):
        loaded_actions(plant, q[t], qd[t], effort[t], slip[t], work, mass, room, action)
        for j in range(q.shape[1]):
            out[t, j] = effort[t, j]
            for e in range(action.shape[0]):
                out[t, j] -= action[e, j] * slip[t, e]


@compiled(**_OPTIONS)
def mass_matrices(plant, q, qd, mass, bias):
    """Fill mass (samples, joints, joints) and bias (samples, joints) of every state."""
    work = workspace(plant)
    for t in range(q.shape[0]):
        mass_and_bias(plant, q[t], qd[t], work, mass[t], bias[t])
