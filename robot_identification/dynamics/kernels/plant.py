"""Compiled mass matrix and bias of a plant: its tree, its friction, its loops.

The mass matrix and the bias of the rigid tree come from :mod:`.mass`; here are what acts on the
joints besides, but for jumps at rest, and the projection of a robot with loops.
"""

from __future__ import annotations

import math

import numpy as np

from robot_identification.compiled import IN_ANY_ORDER, INLINED, compiled
from robot_identification.dynamics.kernels.mass import BIAS, POSITION, RATE, fill, lane
from robot_identification.dynamics.kernels.springs import add_springs
from robot_identification.dynamics.kernels.terms import STRIBECK, of_rate

_OPTIONS = {"fastmath": IN_ANY_ORDER}

# Positions beyond are brought within a turn first; rounding of the position itself is larger.
_LARGEST_ANGLE = 1e5


@compiled(**INLINED)
def element_velocities(plant, qd, out):
    """Fill out (elements,) with the velocities of friction elements."""
    for e in range(out.size):
        out[e] = 0.0
        for j in range(qd.size):
            out[e] += plant.motion[e, j] * qd[j]


@compiled(**INLINED)
def headings(plant, qd, out):
    """Fill out (elements,) with the signs of the friction elements' velocities."""
    element_velocities(plant, qd, out)
    for e in range(out.size):
        out[e] = np.sign(out[e])


@compiled(**INLINED)
def add_curved(plant, qd, bias):
    """Add friction that is neither constant nor linear, but for jumps at rest."""
    curved = plant.curved
    for e in range(curved.kind.size):
        rate = 0.0
        for j in range(qd.size):
            rate += curved.motion[e, j] * qd[j]
        value = of_rate(curved.kind[e], rate, curved.shape[e, 0], curved.shape[e, 1])
        if curved.kind[e] == STRIBECK:
            value -= np.sign(rate)
        for j in range(qd.size):
            bias[j] += curved.action[e, j] * value


@compiled(**INLINED)
def _tree_mass_and_bias(plant, q, qd, work, mass, bias):
    """Fill mass matrix (joints, joints) and bias (joints,) of the tree, loops cut open."""
    for j in range(q.size):
        own = work[lane(j) :]
        place = q[j]
        if not abs(place) < _LARGEST_ANGLE and not plant.tree.prismatic[j]:
            place = math.atan2(math.sin(place), math.cos(place))
        own[POSITION] = place
        own[RATE] = qd[j]
    fill(plant.tree.antecedent, work, mass)
    for j in range(q.size):
        bias[j] = work[lane(j) + BIAS]
    for j, k in plant.coupled:
        mass[j, k] += plant.drive[j, k]
        bias[j] += plant.viscous[j, k] * qd[k]
    for j in range(q.size):
        bias[j] += plant.stiffness[j] * q[j]
    if plant.springs.length.size > 0:
        add_springs(plant.springs, plant.tree.antecedent, work, bias)
    add_curved(plant, qd, bias)


@compiled(**INLINED)
def mass_and_bias(plant, q, qd, work, mass, bias):
    """Fill mass matrix (joints, joints) and bias (joints,) of one state, drives included.

    The bias holds gravity, velocity terms, friction and offsets, but for Coulomb friction.
    ``work`` is the :func:`workspace` of the plant.

    With loops, the joints are the active ones: where the tree moves by q = G q_a + c, G constant,
    its mass matrix M and bias h become G^T M G and G^T h.
    """
    lanes, place, rate, whole, efforts = work
    if plant.follow.size == 0:
        _tree_mass_and_bias(plant, q, qd, lanes, mass, bias)
        return
    for j in range(place.size):
        place[j] = plant.closing[j]
        rate[j] = 0.0
        for a in range(q.size):
            place[j] += plant.follow[j, a] * q[a]
            rate[j] += plant.follow[j, a] * qd[a]
    _tree_mass_and_bias(plant, place, rate, lanes, whole, efforts)
    for a in range(q.size):
        bias[a] = 0.0
        for j in range(place.size):
            bias[a] += plant.follow[j, a] * efforts[j]
        for b in range(q.size):
            mass[a, b] = 0.0
    for j in range(place.size):
        for a in range(q.size):
            if plant.follow[j, a] != 0.0:
                for k in range(place.size):
                    moved = plant.follow[j, a] * whole[j, k]
                    for b in range(q.size):
                        mass[a, b] += moved * plant.follow[k, b]


@compiled(**_OPTIONS)
def workspace(plant):
    """Return what :func:`mass_and_bias` works with; no other plant may use it."""
    joints = plant.follow.shape[0]
    return (
        plant.lanes.copy(),
        np.empty(joints),
        np.empty(joints),
        np.empty((joints, joints)),
        np.empty(joints),
    )
