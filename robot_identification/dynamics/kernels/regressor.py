"""Compiled regressor of the inverse dynamic model, block by block.

For link j let w, l (angular velocity and acceleration) and a (acceleration of the origin, gravity
included) be known in frame j, and let joint k, which moves the link, have the unit motion (u, v)
there: u is its axis for a revolute joint (0 for a prismatic one) and v the velocity that it gives
to the origin of frame j.  The force and moment that move the link are

    f = M a + (S(l) + S(w) S(w)) MS,    n = J l + w x J w + MS x a,

and the effort of joint k is v . f + u . n.  With c = u x w the factors of the ten inertial
parameters follow; for example u . (w x J w) = c . J w.  Indices below turn cyclically: of the
first moments, MX is (i, j, k) = (0, 1, 2), MY is (1, 2, 0), and so on.

Each factor has a loop of its own, which writes its row and nothing else.  Factors that nobody
wants (those that are not of base parameters, say) so cost nothing, and no row is copied.
"""

from __future__ import annotations

import numpy as np

from robot_identification.compiled import compiled
from robot_identification.dynamics.kernels.frames import (
    BLOCK,
    INLINED,
    OPTIONS,
    elements_of,
    load_block,
    turned,
)
from robot_identification.dynamics.kernels.terms import ACCELERATION, joint_rows, signed_power
from robot_identification.robot.parameters import LINK_PARAMETERS

# Quantities of a link, three each: angular velocity, angular and linear acceleration.
_W, _L, _A = 0, 3, 6
_MOTION = 9
# Those of the unit motion of a joint: rotation and velocity of the link's origin.
_U, _V = 0, 3
_SCREW = 6


@compiled(**OPTIONS)
def _move(rotation, frame, before, motion, count):
    """Carry the motion of the antecedent to frame j, as if the joint stood still."""
    r = elements_of(rotation)
    for t in range(count):
        w0, w1, w2 = before[t], before[BLOCK + t], before[2 * BLOCK + t]
        l0, l1, l2 = before[3 * BLOCK + t], before[4 * BLOCK + t], before[5 * BLOCK + t]
        p0, p1, p2 = frame[2 * BLOCK + t], frame[3 * BLOCK + t], frame[4 * BLOCK + t]
        v0 = w1 * p2 - w2 * p1
        v1 = w2 * p0 - w0 * p2
        v2 = w0 * p1 - w1 * p0
        a0 = before[6 * BLOCK + t] + l1 * p2 - l2 * p1 + w1 * v2 - w2 * v1
        a1 = before[7 * BLOCK + t] + l2 * p0 - l0 * p2 + w2 * v0 - w0 * v2
        a2 = before[8 * BLOCK + t] + l0 * p1 - l1 * p0 + w0 * v1 - w1 * v0
        c, s = frame[t], frame[BLOCK + t]
        w0, w1, w2 = turned(r, c, s, w0, w1, w2)
        l0, l1, l2 = turned(r, c, s, l0, l1, l2)
        a0, a1, a2 = turned(r, c, s, a0, a1, a2)
        motion[t], motion[BLOCK + t], motion[2 * BLOCK + t] = w0, w1, w2
        motion[3 * BLOCK + t], motion[4 * BLOCK + t], motion[5 * BLOCK + t] = l0, l1, l2
        motion[6 * BLOCK + t], motion[7 * BLOCK + t], motion[8 * BLOCK + t] = a0, a1, a2


@compiled(**OPTIONS)
def _add_joint_motion(prismatic, qd, qdd, motion):
    """Add the joint's own motion about or along z to the motion of a block."""
    if prismatic:
        for t in range(qd.size):
            motion[6 * BLOCK + t] += 2.0 * motion[BLOCK + t] * qd[t]
            motion[7 * BLOCK + t] -= 2.0 * motion[t] * qd[t]
            motion[8 * BLOCK + t] += qdd[t]
    else:
        for t in range(qd.size):
            motion[3 * BLOCK + t] += motion[BLOCK + t] * qd[t]
            motion[4 * BLOCK + t] -= motion[t] * qd[t]
            motion[5 * BLOCK + t] += qdd[t]
            motion[2 * BLOCK + t] += qd[t]


@compiled(**OPTIONS)
def _carry_screw(rotation, frame, before, screw, count):
    """Carry the unit motion (u, v) of an ancestor from the antecedent's frame into frame j."""
    r = elements_of(rotation)
    for t in range(count):
        u0, u1, u2 = before[t], before[BLOCK + t], before[2 * BLOCK + t]
        p0, p1, p2 = frame[2 * BLOCK + t], frame[3 * BLOCK + t], frame[4 * BLOCK + t]
        v0 = before[3 * BLOCK + t] + u1 * p2 - u2 * p1
        v1 = before[4 * BLOCK + t] + u2 * p0 - u0 * p2
        v2 = before[5 * BLOCK + t] + u0 * p1 - u1 * p0
        c, s = frame[t], frame[BLOCK + t]
        u0, u1, u2 = turned(r, c, s, u0, u1, u2)
        v0, v1, v2 = turned(r, c, s, v0, v1, v2)
        screw[t], screw[BLOCK + t], screw[2 * BLOCK + t] = u0, u1, u2
        screw[3 * BLOCK + t], screw[4 * BLOCK + t], screw[5 * BLOCK + t] = v0, v1, v2


@compiled(**INLINED)
def _of(quantities, number, t):
    """Return a quantity of sample t of a block."""
    return quantities[number * BLOCK + t]


@compiled(**INLINED)
def _moment_of_inertia(motion, screw, i, j, k, row):
    """Fill the factor of XX, YY or ZZ: u_i l_i + c_i w_i."""
    for t in range(row.size):
        wi, wj, wk = _of(motion, _W + i, t), _of(motion, _W + j, t), _of(motion, _W + k, t)
        ui, uj, uk = _of(screw, _U + i, t), _of(screw, _U + j, t), _of(screw, _U + k, t)
        row[t] = ui * _of(motion, _L + i, t) + (uj * wk - uk * wj) * wi


@compiled(**INLINED)
def _product_of_inertia(motion, screw, i, j, k, row):
    """Fill the factor of XY, YZ or ZX: u_i l_j + u_j l_i + c_i w_j + c_j w_i."""
    for t in range(row.size):
        wi, wj, wk = _of(motion, _W + i, t), _of(motion, _W + j, t), _of(motion, _W + k, t)
        ui, uj, uk = _of(screw, _U + i, t), _of(screw, _U + j, t), _of(screw, _U + k, t)
        ci, cj = uj * wk - uk * wj, uk * wi - ui * wk
        li, lj = _of(motion, _L + i, t), _of(motion, _L + j, t)
        row[t] = ui * lj + uj * li + ci * wj + cj * wi


@compiled(**INLINED)
def _first_moment(motion, screw, i, j, k, row):
    """Fill the factor of MX, MY or MZ: (a x u)_i and column i of S(l) + S(w) S(w), times v."""
    for t in range(row.size):
        wi, wj, wk = _of(motion, _W + i, t), _of(motion, _W + j, t), _of(motion, _W + k, t)
        lj, lk = _of(motion, _L + j, t), _of(motion, _L + k, t)
        aj, ak = _of(motion, _A + j, t), _of(motion, _A + k, t)
        uj, uk = _of(screw, _U + j, t), _of(screw, _U + k, t)
        vi, vj, vk = _of(screw, _V + i, t), _of(screw, _V + j, t), _of(screw, _V + k, t)
        column = (wi * wj + lk) * vj + (wi * wk - lj) * vk - (wj * wj + wk * wk) * vi
        row[t] = aj * uk - ak * uj + column


@compiled(**INLINED)
def _mass(motion, screw, row):
    """Fill the factor of M: v . a."""
    for t in range(row.size):
        total = _of(screw, _V, t) * _of(motion, _A, t)
        total += _of(screw, _V + 1, t) * _of(motion, _A + 1, t)
        row[t] = total + _of(screw, _V + 2, t) * _of(motion, _A + 2, t)


@compiled(**OPTIONS)
def _inertial_rows(motion, screw, slots, block, out):
    """Fill the rows of XX XY XZ YY YZ ZZ MX MY MZ M of one link that are wanted, for a block."""
    if slots[0] >= 0:
        _moment_of_inertia(motion, screw, 0, 1, 2, out[slots[0], block])
    if slots[1] >= 0:
        _product_of_inertia(motion, screw, 0, 1, 2, out[slots[1], block])
    if slots[2] >= 0:
        _product_of_inertia(motion, screw, 2, 0, 1, out[slots[2], block])
    if slots[3] >= 0:
        _moment_of_inertia(motion, screw, 1, 2, 0, out[slots[3], block])
    if slots[4] >= 0:
        _product_of_inertia(motion, screw, 1, 2, 0, out[slots[4], block])
    if slots[5] >= 0:
        _moment_of_inertia(motion, screw, 2, 0, 1, out[slots[5], block])
    if slots[6] >= 0:
        _first_moment(motion, screw, 0, 1, 2, out[slots[6], block])
    if slots[7] >= 0:
        _first_moment(motion, screw, 1, 2, 0, out[slots[7], block])
    if slots[8] >= 0:
        _first_moment(motion, screw, 2, 0, 1, out[slots[8], block])
    if slots[9] >= 0:
        _mass(motion, screw, out[slots[9], block])


@compiled(**OPTIONS)
def _first_screws(antecedent):
    """Return, for each joint, which screw is that of its antecedent; those further up follow.

    Behind the last joint stands the number of screws.
    """
    first = np.zeros(antecedent.size + 1, dtype=np.int64)
    for j in range(antecedent.size):
        first[j + 1] = first[j]
        k = antecedent[j]
        while k >= 0:
            first[j + 1] += 1
            k = antecedent[k]
    return first


@compiled(**OPTIONS)
def _link_rows(tree, j, block, motion, own, screws, first, frame, slots, out):
    """Fill the rows that the inertial parameters of link j enter, for one block of samples.

    Args:
        tree: kinematic tree.
        j: the link.
        block: slice of the samples.
        motion: motion of the link.
        own: unit motions of a revolute and of a prismatic joint in its own frame.
        screws: unit motions of the ancestors of each joint in its frame, from its antecedent up.
        first: from :func:`_first_screws`.
        frame: placement of the joint.
        slots: (joints, 10) rows of the factors.
        out: (rows, samples) result.
    """
    _inertial_rows(motion, own[int(tree.prismatic[j])], slots[j], block, out)
    parent = tree.antecedent[j]
    k, above = parent, 0
    while k >= 0:
        screw = screws[first[j] + above]
        before = own[int(tree.prismatic[k])] if above == 0 else screws[first[parent] + above - 1]
        _carry_screw(tree.rotation[j], frame, before, screw, block.stop - block.start)
        _inertial_rows(motion, screw, slots[k], block, out)
        k = tree.antecedent[k]
        above += 1


@compiled(**OPTIONS)
def _coupling_rows(coupling, qd, qdd, slots, block, out):
    """Add the contributions of couplings for one block of samples."""
    for i in range(coupling.joint.size):
        row = slots[coupling.joint[i], coupling.column[i]]
        if row < 0:
            continue
        for t in range(block.start, block.stop):
            total = 0.0
            for j in range(qd.shape[0]):
                rate = qdd[j, t] if coupling.kind[i] == ACCELERATION else qd[j, t]
                total += coupling.motion[i, j] * rate
            if coupling.kind[i] != ACCELERATION:
                total = signed_power(total, coupling.kind[i])
            out[row, t] += coupling.gain[i] * total


@compiled(**OPTIONS)
def regressor_rows(tree, coupling, q, qd, qdd, slots, out):
    """Fill the selected entries of the inverse dynamic regressor for all samples.

    Args:
        tree: kinematic tree.
        coupling: coupling terms; a row that only couplings enter must hold zeros on entry.
        q: (joints, samples) positions, each joint's samples side by side.
        qd: (joints, samples) velocities.
        qdd: (joints, samples) accelerations.
        slots: (joints, full columns) row of ``out`` that takes the entry of joint k and a column
            of the full regressor; -1 where it is not wanted.
        out: (rows, samples) result.
    """
    joints, samples = q.shape
    per_joint = LINK_PARAMETERS + tree.terms.size
    first = _first_screws(tree.antecedent)
    motions = np.empty((joints, _MOTION * BLOCK))
    screws = np.empty((first[joints], _SCREW * BLOCK))
    frame = np.empty(5 * BLOCK)
    base = np.zeros(_MOTION * BLOCK)
    own = np.zeros((2, _SCREW * BLOCK))
    own[0, (_U + 2) * BLOCK : (_U + 3) * BLOCK] = 1.0
    own[1, (_V + 2) * BLOCK : (_V + 3) * BLOCK] = 1.0
    for axis in range(3):
        base[(_A + axis) * BLOCK : (_A + axis + 1) * BLOCK] = -tree.gravity[axis]
    for start in range(0, samples, BLOCK):
        count = min(BLOCK, samples - start)
        block = slice(start, start + count)
        for j in range(joints):
            load_block(tree, j, q, start, count, frame)
            parent = tree.antecedent[j]
            before = base if parent < 0 else motions[parent]
            _move(tree.rotation[j], frame, before, motions[j], count)
            _add_joint_motion(tree.prismatic[j], qd[j, block], qdd[j, block], motions[j])
            begin = j * per_joint
            middle, end = begin + LINK_PARAMETERS, begin + per_joint
            own_slots = slots[:, begin:middle]
            _link_rows(tree, j, block, motions[j], own, screws, first, frame, own_slots, out)
            joint_rows(
                tree.terms, tree.shapes[j], q[j, block], qd[j, block], qdd[j, block],
                slots[j, middle:end], block, out,
            )  # fmt: skip
        _coupling_rows(coupling, qd, qdd, slots, block, out)
