"""Compiled regressor of the inverse dynamic model, block by block.

For link j let w, l (angular velocity and acceleration) and a (acceleration of the origin, gravity
included) be known in frame j, and let joint k, which moves the link, have the unit motion (u, v)
there: u is its axis for a revolute joint (0 for a prismatic one) and v the velocity that it gives
to the origin of frame j.  The force and moment that move the link are

    f = M a + (S(l) + S(w) S(w)) MS,    n = J l + w x J w + MS x a,

and the effort of joint k is v . f + u . n.  With c = u x w the factors of the ten inertial
parameters follow; for example u . (w x J w) = c . J w.

Samples are taken in blocks of 64, with the samples of one quantity side by side, so that every
loop over a block has a constant length and becomes vector instructions.
"""

from __future__ import annotations

import math

import numba
import numpy as np

BLOCK = 64

_OPTIONS = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "nsz", "reassoc"},
}


@numba.njit(**_OPTIONS)
def load_block(tree, j, q, start, count, frame):
    """Fill the placement of joint j: frame holds cos, sin and origin (3) for a block."""
    p = tree.translation[j]
    if tree.prismatic[j]:
        z = tree.rotation[j, :, 2]
        for t in range(BLOCK):
            x = q[j, start + t] if t < count else 0.0
            frame[t] = 1.0
            frame[BLOCK + t] = 0.0
            frame[2 * BLOCK + t] = p[0] + z[0] * x
            frame[3 * BLOCK + t] = p[1] + z[1] * x
            frame[4 * BLOCK + t] = p[2] + z[2] * x
    else:
        for t in range(BLOCK):
            x = q[j, start + t] if t < count else 0.0
            frame[t] = math.cos(x)
            frame[BLOCK + t] = math.sin(x)
            frame[2 * BLOCK + t] = p[0]
            frame[3 * BLOCK + t] = p[1]
            frame[4 * BLOCK + t] = p[2]


@numba.njit(**_OPTIONS)
def turn(rotation, frame, x, place):
    """Turn the vectors x[place : place + 3] of a block from the antecedent's frame into frame j."""
    r00, r01, r02 = rotation[0, 0], rotation[0, 1], rotation[0, 2]
    r10, r11, r12 = rotation[1, 0], rotation[1, 1], rotation[1, 2]
    r20, r21, r22 = rotation[2, 0], rotation[2, 1], rotation[2, 2]
    o = place * BLOCK
    for t in range(BLOCK):
        x0 = x[o + t]
        x1 = x[o + BLOCK + t]
        x2 = x[o + 2 * BLOCK + t]
        y0 = r00 * x0 + r10 * x1 + r20 * x2
        y1 = r01 * x0 + r11 * x1 + r21 * x2
        c = frame[t]
        s = frame[BLOCK + t]
        x[o + t] = c * y0 + s * y1
        x[o + BLOCK + t] = c * y1 - s * y0
        x[o + 2 * BLOCK + t] = r02 * x0 + r12 * x1 + r22 * x2


@numba.njit(**_OPTIONS)
def _shift_acceleration(frame, motion):
    """Move the acceleration of a block from the antecedent's origin to the origin of frame j."""
    for t in range(BLOCK):
        w0, w1, w2 = motion[t], motion[BLOCK + t], motion[2 * BLOCK + t]
        l0, l1, l2 = motion[3 * BLOCK + t], motion[4 * BLOCK + t], motion[5 * BLOCK + t]
        p0, p1, p2 = frame[2 * BLOCK + t], frame[3 * BLOCK + t], frame[4 * BLOCK + t]
        v0 = w1 * p2 - w2 * p1
        v1 = w2 * p0 - w0 * p2
        v2 = w0 * p1 - w1 * p0
        motion[6 * BLOCK + t] += l1 * p2 - l2 * p1 + w1 * v2 - w2 * v1
        motion[7 * BLOCK + t] += l2 * p0 - l0 * p2 + w2 * v0 - w0 * v2
        motion[8 * BLOCK + t] += l0 * p1 - l1 * p0 + w0 * v1 - w1 * v0


@numba.njit(**_OPTIONS)
def _add_joint_motion(prismatic, qd, qdd, motion):
    """Add the joint's own motion about or along z to the motion of a block."""
    if prismatic:
        for t in range(BLOCK):
            motion[6 * BLOCK + t] += 2.0 * motion[BLOCK + t] * qd[t]
            motion[7 * BLOCK + t] -= 2.0 * motion[t] * qd[t]
            motion[8 * BLOCK + t] += qdd[t]
    else:
        for t in range(BLOCK):
            motion[3 * BLOCK + t] += motion[BLOCK + t] * qd[t]
            motion[4 * BLOCK + t] -= motion[t] * qd[t]
            motion[5 * BLOCK + t] += qdd[t]
            motion[2 * BLOCK + t] += qd[t]


@numba.njit(**_OPTIONS)
def _carry_screw(rotation, frame, screw):
    """Carry the unit motion (u, v) of an ancestor from the antecedent's frame into frame j."""
    for t in range(BLOCK):
        u0, u1, u2 = screw[t], screw[BLOCK + t], screw[2 * BLOCK + t]
        p0, p1, p2 = frame[2 * BLOCK + t], frame[3 * BLOCK + t], frame[4 * BLOCK + t]
        screw[3 * BLOCK + t] += u1 * p2 - u2 * p1
        screw[4 * BLOCK + t] += u2 * p0 - u0 * p2
        screw[5 * BLOCK + t] += u0 * p1 - u1 * p0
    turn(rotation, frame, screw, 0)
    turn(rotation, frame, screw, 3)


@numba.njit(**_OPTIONS)
def _inertial_entries(motion, screw, entries):
    """Fill the ten factors XX XY XZ YY YZ ZZ MX MY MZ M of one link in one row of a block."""
    for t in range(BLOCK):
        w0, w1, w2 = motion[t], motion[BLOCK + t], motion[2 * BLOCK + t]
        l0, l1, l2 = motion[3 * BLOCK + t], motion[4 * BLOCK + t], motion[5 * BLOCK + t]
        u0, u1, u2 = screw[t], screw[BLOCK + t], screw[2 * BLOCK + t]
        c0 = u1 * w2 - u2 * w1
        c1 = u2 * w0 - u0 * w2
        c2 = u0 * w1 - u1 * w0
        entries[t] = u0 * l0 + c0 * w0
        entries[BLOCK + t] = u0 * l1 + u1 * l0 + c0 * w1 + c1 * w0
        entries[2 * BLOCK + t] = u0 * l2 + u2 * l0 + c0 * w2 + c2 * w0
        entries[3 * BLOCK + t] = u1 * l1 + c1 * w1
        entries[4 * BLOCK + t] = u1 * l2 + u2 * l1 + c1 * w2 + c2 * w1
        entries[5 * BLOCK + t] = u2 * l2 + c2 * w2
    for t in range(BLOCK):
        w0, w1, w2 = motion[t], motion[BLOCK + t], motion[2 * BLOCK + t]
        l0, l1, l2 = motion[3 * BLOCK + t], motion[4 * BLOCK + t], motion[5 * BLOCK + t]
        a0, a1, a2 = motion[6 * BLOCK + t], motion[7 * BLOCK + t], motion[8 * BLOCK + t]
        u0, u1, u2 = screw[t], screw[BLOCK + t], screw[2 * BLOCK + t]
        v0, v1, v2 = screw[3 * BLOCK + t], screw[4 * BLOCK + t], screw[5 * BLOCK + t]
        s0, s1, s2 = w0 * w0, w1 * w1, w2 * w2
        xy, xz, yz = w0 * w1, w0 * w2, w1 * w2
        entries[6 * BLOCK + t] = (
            (a1 * u2 - a2 * u1) - (s1 + s2) * v0 + (xy + l2) * v1 + (xz - l1) * v2
        )
        entries[7 * BLOCK + t] = (
            (a2 * u0 - a0 * u2) + (xy - l2) * v0 - (s0 + s2) * v1 + (yz + l0) * v2
        )
        entries[8 * BLOCK + t] = (
            (a0 * u1 - a1 * u0) + (xz + l1) * v0 + (yz - l0) * v1 - (s0 + s1) * v2
        )
        entries[9 * BLOCK + t] = v0 * a0 + v1 * a1 + v2 * a2


@numba.njit(**_OPTIONS)
def _link_rows(tree, j, q, qd, qdd, start, count, motions, screws, frame, entries, slots, out):
    """Fill the rows that the inertial parameters of link j enter, for one block of samples."""
    parent = tree.antecedent[j]
    motion = motions[j]
    if parent < 0:
        motion[:] = 0.0
        for axis in range(3):
            motion[(6 + axis) * BLOCK : (7 + axis) * BLOCK] = -tree.gravity[axis]
    else:
        motion[:] = motions[parent]
    load_block(tree, j, q, start, count, frame)
    _shift_acceleration(frame, motion)
    rotation = tree.rotation[j]
    for place in range(0, 9, 3):
        turn(rotation, frame, motion, place)
    _add_joint_motion(tree.prismatic[j], qd[j], qdd[j], motion)
    k = parent
    while k >= 0:
        screws[j, k] = screws[parent, k]
        _carry_screw(rotation, frame, screws[j, k])
        k = tree.antecedent[k]
    screws[j, j] = 0.0
    axis = 5 if tree.prismatic[j] else 2
    screws[j, j, axis * BLOCK : (axis + 1) * BLOCK] = 1.0
    k = j
    while k >= 0:
        _inertial_entries(motion, screws[j, k], entries)
        for i in range(10):
            row = slots[k, 14 * j + i]
            if row >= 0:
                for t in range(count):
                    out[row, start + t] = entries[i * BLOCK + t]
        k = tree.antecedent[k]


@numba.njit(**_OPTIONS)
def _joint_rows(j, qd, qdd, start, count, slots, out):
    """Fill the columns Ia, Fv, Fc and off of joint j for one block of samples."""
    for i in range(4):
        row = slots[j, 14 * j + 10 + i]
        if row < 0:
            continue
        for t in range(count):
            if i == 0:
                out[row, start + t] = qdd[j, t]
            elif i == 1:
                out[row, start + t] = qd[j, t]
            elif i == 2:
                out[row, start + t] = np.sign(qd[j, t])
            else:
                out[row, start + t] = 1.0


@numba.njit(**_OPTIONS)
def _coupling_rows(coupling, qd, qdd, start, count, slots, out):
    """Add the contributions of couplings for one block of samples."""
    for i in range(coupling.joint.size):
        row = slots[coupling.joint[i], coupling.column[i]]
        if row < 0:
            continue
        for t in range(count):
            total = 0.0
            for j in range(qd.shape[0]):
                rate = qdd[j, t] if coupling.kind[i] == 0 else qd[j, t]
                total += coupling.motion[i, j] * rate
            if coupling.kind[i] == 2:
                total = np.sign(total)
            out[row, start + t] += coupling.gain[i] * total


@numba.njit(**_OPTIONS)
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
    motions = np.empty((joints, 9 * BLOCK))
    screws = np.empty((joints, joints, 6 * BLOCK))
    frame = np.empty(5 * BLOCK)
    entries = np.empty(10 * BLOCK)
    qd_block = np.zeros((joints, BLOCK))
    qdd_block = np.zeros((joints, BLOCK))
    for start in range(0, samples, BLOCK):
        count = min(BLOCK, samples - start)
        for j in range(joints):
            for t in range(count):
                qd_block[j, t] = qd[j, start + t]
                qdd_block[j, t] = qdd[j, start + t]
            _link_rows(
                tree,
                j,
                q,
                qd_block,
                qdd_block,
                start,
                count,
                motions,
                screws,
                frame,
                entries,
                slots,
                out,
            )
            _joint_rows(j, qd_block, qdd_block, start, count, slots, out)
        _coupling_rows(coupling, qd_block, qdd_block, start, count, slots, out)
