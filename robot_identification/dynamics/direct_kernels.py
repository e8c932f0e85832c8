"""Compiled direct dynamic model of one state: mass matrix, bias, accelerations.

The composite-rigid-body algorithm and the recursive Newton-Euler algorithm at zero acceleration
share one outward and one inward pass.  Links enter with mass, first moments MS and inertia J at
the origin of their frame, so everything is linear in the standard parameters.  Moved by w, l
(angular velocity and acceleration) and a (acceleration of the origin, gravity included),

    f = M a + (S(l) + S(w) S(w)) MS,    n = J l + w x J w + MS x a,

and a link carried by joint j at p, turned by R, is to its antecedent a body with

    M,    R MS + M p,    R J R^T + (2 p.m + M p.p) 1 - (p m^T + m p^T) - M p p^T,    m = R MS.
"""

from __future__ import annotations

import math

import numba
import numpy as np

_OPTIONS = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "nsz", "reassoc"},
}
# Functions that make no arrays need not count references to those that they are given.
_BARE = {**_OPTIONS, "_nrt": False}
_INLINED = {**_BARE, "forceinline": True}
LINK_MOTION = 9
BODY = 10


@numba.njit(**_INLINED)
def place_joints(tree, q, frames):
    """Fill frames (joints, 12): rotation row by row and origin of frame j in its antecedent."""
    for j in range(q.size):
        r = tree.rotation[j]
        p = tree.translation[j]
        if tree.prismatic[j]:
            for i in range(3):
                frames[j, 3 * i] = r[i, 0]
                frames[j, 3 * i + 1] = r[i, 1]
                frames[j, 3 * i + 2] = r[i, 2]
                frames[j, 9 + i] = p[i] + r[i, 2] * q[j]
        else:
            c, s = math.cos(q[j]), math.sin(q[j])
            for i in range(3):
                frames[j, 3 * i] = c * r[i, 0] + s * r[i, 1]
                frames[j, 3 * i + 1] = c * r[i, 1] - s * r[i, 0]
                frames[j, 3 * i + 2] = r[i, 2]
                frames[j, 9 + i] = p[i]


@numba.njit(**_INLINED)
def _into(frame, x, y, z):
    """Turn a vector from the antecedent's frame into the joint's."""
    return (
        frame[0] * x + frame[3] * y + frame[6] * z,
        frame[1] * x + frame[4] * y + frame[7] * z,
        frame[2] * x + frame[5] * y + frame[8] * z,
    )


@numba.njit(**_INLINED)
def _out_of(frame, x, y, z):
    """Turn a vector from the joint's frame into the antecedent's."""
    return (
        frame[0] * x + frame[1] * y + frame[2] * z,
        frame[3] * x + frame[4] * y + frame[5] * z,
        frame[6] * x + frame[7] * y + frame[8] * z,
    )


@numba.njit(**_INLINED)
def _move_link(tree, frames, j, rate, motion):
    """Fill motion[j]: w, l and a of link j in its own frame at zero joint acceleration."""
    parent = tree.antecedent[j]
    frame = frames[j]
    g = tree.gravity
    w0, w1, w2, l0, l1, l2, a0, a1, a2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -g[0], -g[1], -g[2]
    if parent >= 0:
        m = motion[parent]
        w0, w1, w2 = m[0], m[1], m[2]
        l0, l1, l2 = m[3], m[4], m[5]
        p0, p1, p2 = frame[9], frame[10], frame[11]
        v0, v1, v2 = w1 * p2 - w2 * p1, w2 * p0 - w0 * p2, w0 * p1 - w1 * p0
        a0 = m[6] + l1 * p2 - l2 * p1 + w1 * v2 - w2 * v1
        a1 = m[7] + l2 * p0 - l0 * p2 + w2 * v0 - w0 * v2
        a2 = m[8] + l0 * p1 - l1 * p0 + w0 * v1 - w1 * v0
        w0, w1, w2 = _into(frame, w0, w1, w2)
        l0, l1, l2 = _into(frame, l0, l1, l2)
    a0, a1, a2 = _into(frame, a0, a1, a2)
    if tree.prismatic[j]:
        a0 += 2.0 * w1 * rate
        a1 -= 2.0 * w0 * rate
    else:
        l0 += w1 * rate
        l1 -= w0 * rate
        w2 += rate
    m = motion[j]
    m[0], m[1], m[2] = w0, w1, w2
    m[3], m[4], m[5] = l0, l1, l2
    m[6], m[7], m[8] = a0, a1, a2


@numba.njit(**_INLINED)
def _push_link(link, m, wrench):
    """Fill the wrench (f, n) that moves a link."""
    w0, w1, w2 = m[0], m[1], m[2]
    l0, l1, l2 = m[3], m[4], m[5]
    a0, a1, a2 = m[6], m[7], m[8]
    xx, xy, xz, yy, yz, zz = link[0], link[1], link[2], link[3], link[4], link[5]
    x, y, z = link[6], link[7], link[8]
    v0, v1, v2 = w1 * z - w2 * y, w2 * x - w0 * z, w0 * y - w1 * x
    wrench[0] = link[9] * a0 + l1 * z - l2 * y + w1 * v2 - w2 * v1
    wrench[1] = link[9] * a1 + l2 * x - l0 * z + w2 * v0 - w0 * v2
    wrench[2] = link[9] * a2 + l0 * y - l1 * x + w0 * v1 - w1 * v0
    h0 = xx * w0 + xy * w1 + xz * w2
    h1 = xy * w0 + yy * w1 + yz * w2
    h2 = xz * w0 + yz * w1 + zz * w2
    wrench[3] = xx * l0 + xy * l1 + xz * l2 + w1 * h2 - w2 * h1 + y * a2 - z * a1
    wrench[4] = xy * l0 + yy * l1 + yz * l2 + w2 * h0 - w0 * h2 + z * a0 - x * a2
    wrench[5] = xz * l0 + yz * l1 + zz * l2 + w0 * h1 - w1 * h0 + x * a1 - y * a0


@numba.njit(**_INLINED)
def _carry_wrench(frame, wrench, target, add):
    """Carry a wrench from the joint's frame into the antecedent's; add it or put it there."""
    f0, f1, f2 = _out_of(frame, wrench[0], wrench[1], wrench[2])
    n0, n1, n2 = _out_of(frame, wrench[3], wrench[4], wrench[5])
    p0, p1, p2 = frame[9], frame[10], frame[11]
    n0 += p1 * f2 - p2 * f1
    n1 += p2 * f0 - p0 * f2
    n2 += p0 * f1 - p1 * f0
    if add:
        f0, f1, f2 = f0 + target[0], f1 + target[1], f2 + target[2]
        n0, n1, n2 = n0 + target[3], n1 + target[4], n2 + target[5]
    target[0], target[1], target[2] = f0, f1, f2
    target[3], target[4], target[5] = n0, n1, n2


@numba.njit(**_INLINED)
def _carry_body(frame, body, target):
    """Add a body, given in the joint's frame, to another one in the antecedent's frame."""
    xx, xy, xz, yy, yz, zz = body[0], body[1], body[2], body[3], body[4], body[5]
    mass = body[9]
    m0, m1, m2 = _out_of(frame, body[6], body[7], body[8])
    p0, p1, p2 = frame[9], frame[10], frame[11]
    c0, c1, c2 = _out_of(frame, xx, xy, xz)  # columns of R J
    d0, d1, d2 = _out_of(frame, xy, yy, yz)
    e0, e1, e2 = _out_of(frame, xz, yz, zz)
    b0, b1, b2 = m0 + mass * p0, m1 + mass * p1, m2 + mass * p2
    trace = 2.0 * (p0 * m0 + p1 * m1 + p2 * m2) + mass * (p0 * p0 + p1 * p1 + p2 * p2)
    target[0] += c0 * frame[0] + d0 * frame[1] + e0 * frame[2] + trace - p0 * (m0 + b0)
    target[1] += c0 * frame[3] + d0 * frame[4] + e0 * frame[5] - p0 * b1 - m0 * p1
    target[2] += c0 * frame[6] + d0 * frame[7] + e0 * frame[8] - p0 * b2 - m0 * p2
    target[3] += c1 * frame[3] + d1 * frame[4] + e1 * frame[5] + trace - p1 * (m1 + b1)
    target[4] += c1 * frame[6] + d1 * frame[7] + e1 * frame[8] - p1 * b2 - m1 * p2
    target[5] += c2 * frame[6] + d2 * frame[7] + e2 * frame[8] + trace - p2 * (m2 + b2)
    target[6] += b0
    target[7] += b1
    target[8] += b2
    target[9] += mass


@numba.njit(**_INLINED)
def _mass_column(tree, frames, j, body, wrench, mass):
    """Fill the column of joint j and of the joints before it that carry it."""
    wrench[:] = 0.0
    if tree.prismatic[j]:
        wrench[2] = body[9]
        wrench[3] = body[7]
        wrench[4] = -body[6]
    else:
        wrench[0] = -body[7]
        wrench[1] = body[6]
        wrench[3] = body[2]
        wrench[4] = body[4]
        wrench[5] = body[5]
    k = j
    while True:
        value = wrench[2] if tree.prismatic[k] else wrench[5]
        mass[j, k] += value
        if k != j:
            mass[k, j] += value
        if tree.antecedent[k] < 0:
            return
        _carry_wrench(frames[k], wrench, wrench, False)
        k = tree.antecedent[k]


@numba.njit(**_OPTIONS)
def workspace(joints):
    """Return scratch arrays for :func:`mass_and_bias`."""
    return (
        np.empty((joints, 12)),
        np.empty((joints, LINK_MOTION)),
        np.empty((joints, 6)),
        np.empty((joints, BODY)),
        np.empty(6),
    )


@numba.njit(**_BARE)
def mass_and_bias(plant, q, qd, work, mass, bias):
    """Fill mass matrix (joints, joints) and bias (joints,) of one state, drives included.

    The bias holds gravity, velocity terms, viscous friction and offsets; no Coulomb friction.
    """
    tree = plant.tree
    frames, motion, wrenches, bodies, wrench = work
    place_joints(tree, q, frames)
    for j in range(q.size):
        _move_link(tree, frames, j, qd[j], motion)
        _push_link(plant.links[j], motion[j], wrenches[j])
        for i in range(BODY):
            bodies[j, i] = plant.links[j, i]
    for i in range(q.size):
        bias[i] = plant.offset[i]
        for k in range(q.size):
            mass[i, k] = plant.drive[i, k]
            bias[i] += plant.viscous[i, k] * qd[k]
    for j in range(q.size - 1, -1, -1):
        bias[j] += wrenches[j, 2] if tree.prismatic[j] else wrenches[j, 5]
        _mass_column(tree, frames, j, bodies[j], wrench, mass)
        parent = tree.antecedent[j]
        if parent >= 0:
            _carry_wrench(frames[j], wrenches[j], wrenches[parent], True)
            _carry_body(frames[j], bodies[j], bodies[parent])


@numba.njit(**_INLINED)
def factor(mass):
    """Replace a mass matrix by its triangular factors L U; tell whether it was regular.

    Without pivoting: a mass matrix has a positive definite symmetric part, and couplings may be
    declared on one side only, so that it need not be symmetric.
    """
    for i in range(mass.shape[0]):
        for k in range(i):
            mass[i, k] *= mass[k, k]
            for j in range(k + 1, mass.shape[0]):
                mass[i, j] -= mass[i, k] * mass[k, j]
        if not mass[i, i] > 0.0:
            return False
        mass[i, i] = 1.0 / mass[i, i]
    return True


@numba.njit(**_INLINED)
def solve(factors, x):
    """Replace x by the solution of mass times solution = x."""
    for i in range(x.size):
        for k in range(i):
            x[i] -= factors[i, k] * x[k]
    for i in range(x.size - 1, -1, -1):
        for k in range(i + 1, x.size):
            x[i] -= factors[i, k] * x[k]
        x[i] *= factors[i, i]


@numba.njit(**_OPTIONS)
def accelerations(plant, q, qd, effort, out):
    """Fill out (samples, joints) with joint accelerations; return the first sample that has none.

    Coulomb friction follows the sign of the velocities, as in the inverse model.

    Returns:
        -1, or the index of the first sample whose mass matrix is not positive definite.
    """
    samples, joints = q.shape
    work = workspace(joints)
    mass = np.empty((joints, joints))
    bias = np.empty(joints)
    for t in range(samples):
        mass_and_bias(plant, q[t], qd[t], work, mass, bias)
        for i in range(joints):
            out[t, i] = effort[t, i] - bias[i]
        for e in range(plant.motion.shape[0]):
            rate = 0.0
            for j in range(joints):
                rate += plant.motion[e, j] * qd[t, j]
            for j in range(joints):
                out[t, j] -= plant.action[e, j] * np.sign(rate)
        if not factor(mass):
            return t
        solve(mass, out[t])
    return -1


@numba.njit(**_OPTIONS)
def mass_matrices(plant, q, qd, mass, bias):
    """Fill mass (samples, joints, joints) and bias (samples, joints) of every state."""
    work = workspace(q.shape[1])
    for t in range(q.shape[0]):
        mass_and_bias(plant, q[t], qd[t], work, mass[t], bias[t])
