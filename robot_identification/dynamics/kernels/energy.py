"""Compiled energy functions of the links, block by block.

With w and v (angular velocity of link j and velocity of the origin of its frame), g (gravity) in
frame j and p the origin in the base frame, link j has the total energy

    H = 1/2 w.J w + MS . (v x w) + 1/2 M v.v - g . (M p + MS),

which is linear in its ten inertial parameters (Gautier 1991, eq. 10).
"""

from __future__ import annotations

import numpy as np

from robot_identification.compiled import compiled
from robot_identification.dynamics.kernels.frames import (
    BLOCK,
    OPTIONS,
    elements_of,
    load_block,
    turned,
)
from robot_identification.dynamics.kernels.terms import ACCELERATION
from robot_identification.robot.parameters import LINK_PARAMETERS

_STATE = 10  # w, v and g in frame j, then g . p


@compiled(**OPTIONS)
def _move(rotation, frame, before, state, count):
    """Carry the state of the antecedent to frame j, as if the joint stood still."""
    r = elements_of(rotation)
    for t in range(count):
        w0, w1, w2 = before[t], before[BLOCK + t], before[2 * BLOCK + t]
        p0, p1, p2 = frame[2 * BLOCK + t], frame[3 * BLOCK + t], frame[4 * BLOCK + t]
        g0, g1, g2 = before[6 * BLOCK + t], before[7 * BLOCK + t], before[8 * BLOCK + t]
        v0 = before[3 * BLOCK + t] + w1 * p2 - w2 * p1
        v1 = before[4 * BLOCK + t] + w2 * p0 - w0 * p2
        v2 = before[5 * BLOCK + t] + w0 * p1 - w1 * p0
        state[9 * BLOCK + t] = before[9 * BLOCK + t] + g0 * p0 + g1 * p1 + g2 * p2
        c, s = frame[t], frame[BLOCK + t]
        w0, w1, w2 = turned(r, c, s, w0, w1, w2)
        v0, v1, v2 = turned(r, c, s, v0, v1, v2)
        g0, g1, g2 = turned(r, c, s, g0, g1, g2)
        state[t], state[BLOCK + t], state[2 * BLOCK + t] = w0, w1, w2
        state[3 * BLOCK + t], state[4 * BLOCK + t], state[5 * BLOCK + t] = v0, v1, v2
        state[6 * BLOCK + t], state[7 * BLOCK + t], state[8 * BLOCK + t] = g0, g1, g2


@compiled(**OPTIONS)
def _energies(state, entries, count):
    """Fill the ten energy functions XX XY XZ YY YZ ZZ MX MY MZ M of one link for a block."""
    for t in range(count):
        w0, w1, w2 = state[t], state[BLOCK + t], state[2 * BLOCK + t]
        v0, v1, v2 = state[3 * BLOCK + t], state[4 * BLOCK + t], state[5 * BLOCK + t]
        entries[t] = 0.5 * w0 * w0
        entries[BLOCK + t] = w0 * w1
        entries[2 * BLOCK + t] = w0 * w2
        entries[3 * BLOCK + t] = 0.5 * w1 * w1
        entries[4 * BLOCK + t] = w1 * w2
        entries[5 * BLOCK + t] = 0.5 * w2 * w2
        entries[6 * BLOCK + t] = v1 * w2 - v2 * w1 - state[6 * BLOCK + t]
        entries[7 * BLOCK + t] = v2 * w0 - v0 * w2 - state[7 * BLOCK + t]
        entries[8 * BLOCK + t] = v0 * w1 - v1 * w0 - state[8 * BLOCK + t]
        entries[9 * BLOCK + t] = 0.5 * (v0 * v0 + v1 * v1 + v2 * v2) - state[9 * BLOCK + t]


@compiled(**OPTIONS)
def _drive_energies(terms, j, qd, start, count, quadratic, slots, out):
    """Fill the energy of drive inertias that belong to joint j and no other for a block."""
    for i in range(terms.size):
        row = slots[j * (LINK_PARAMETERS + terms.size) + LINK_PARAMETERS + i]
        if terms[i] == ACCELERATION and row >= 0:
            for t in range(count):
                out[row, start + t] += 0.5 * qd[j, t] * qd[j, t]
    for i in range(quadratic.joint.size):
        row = slots[quadratic.column[i]]
        if quadratic.joint[i] != j or row < 0:
            continue
        for t in range(count):
            total = 0.0
            for k in range(qd.shape[0]):
                total += quadratic.motion[i, k] * qd[k, t]
            out[row, start + t] += 0.5 * quadratic.gain[i] * qd[j, t] * total


@compiled(**OPTIONS)
def energy_rows(tree, quadratic, q, qd, slots, out):
    """Fill the selected energy functions for all samples.

    Args:
        tree: kinematic tree.
        quadratic: inertia couplings: term i adds 1/2 gain qd[joint] (motion . qd) to its column.
        q: (joints, samples) positions, each joint's samples side by side.
        qd: (joints, samples) velocities.
        slots: (full columns,) row of ``out`` that takes a column; -1 where it is not wanted.
        out: (rows, samples) result; rows of drive inertias must hold zeros on entry.
    """
    joints, samples = q.shape
    states = np.empty((joints, _STATE * BLOCK))
    frame = np.empty(5 * BLOCK)
    entries = np.empty(LINK_PARAMETERS * BLOCK)
    qd_block = np.zeros((joints, BLOCK))
    base = np.zeros(_STATE * BLOCK)
    for axis in range(3):
        base[(6 + axis) * BLOCK : (7 + axis) * BLOCK] = tree.gravity[axis]
    for start in range(0, samples, BLOCK):
        count = min(BLOCK, samples - start)
        for j in range(joints):
            for t in range(count):
                qd_block[j, t] = qd[j, start + t]
        for j in range(joints):
            state = states[j]
            load_block(tree, j, q, start, count, frame)
            before = base if tree.antecedent[j] < 0 else states[tree.antecedent[j]]
            _move(tree.rotation[j], frame, before, state, count)
            axis = 5 if tree.prismatic[j] else 2
            for t in range(count):
                state[axis * BLOCK + t] += qd_block[j, t]
            _energies(state, entries, count)
            for i in range(LINK_PARAMETERS):
                row = slots[j * (LINK_PARAMETERS + tree.terms.size) + i]
                if row >= 0:
                    for t in range(count):
                        out[row, start + t] = entries[i * BLOCK + t]
            _drive_energies(tree.terms, j, qd_block, start, count, quadratic, slots, out)
