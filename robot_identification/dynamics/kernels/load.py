"""Compiled Coulomb friction that follows the load: what the elements of a state take in sliding."""

from __future__ import annotations

import numpy as np

from robot_identification.compiled import BARE, compiled
from robot_identification.dynamics.kernels.plant import add_curved, mass_and_bias


@compiled(**BARE)
def _add_other(plant, q, qd, out):
    """Add what acts on the joints beside bodies, drives and Coulomb elements."""
    for j in range(q.size):
        out[j] += plant.offset[j] + plant.stiffness[j] * q[j]
        for k in range(q.size):
            out[j] += plant.viscous[j, k] * qd[k]
    add_curved(plant, qd, out)


@compiled(**BARE)
def loaded_actions(plant, q, qd, effort, slip, work, mass, room, action):
    """Fill the efforts of Coulomb elements in sliding where some follow the load.

    The effort of bodies and drives is what all other friction leaves of a joint's effort, u, less
    its own: T = u - c s |T| with the share c of the load and the slip s, so that
    |T| = |u| / (1 + c s sign(u)).

    Args:
        plant: the robot.
        q: (joints,) positions.
        qd: (joints,) velocities.
        effort: (joints,) efforts of the drives.
        slip: (elements,) shares of their sliding forces that the elements take.
        work: the :func:`~.mass.workspace` of the plant.
        mass: (joints, joints) room for a mass matrix.
        room: (3, joints) room for efforts.
        action: (elements, joints) result.
    """
    for e in range(slip.size):
        for j in range(q.size):
            action[e, j] = plant.action[e, j]
    load = plant.load
    if not load.present:
        return
    weight, other, rest = room[0], room[1], room[2]
    rest[:] = 0.0
    other[:] = 0.0
    _add_other(plant, q, rest, other)
    mass_and_bias(plant, q, rest, work, mass, weight)
    for j in range(q.size):
        weight[j] -= other[j]
    other[:] = 0.0
    _add_other(plant, q, qd, other)
    for j in range(q.size):
        own = load.element[j]
        if own < 0:
            continue
        held = load.gravity_share[j] * abs(weight[j])
        left = effort[j] - other[j] - held * slip[own]
        for e in range(slip.size):
            left -= plant.action[e, j] * slip[e]
        carried = abs(left) / (1.0 + load.share[j] * slip[own] * np.sign(left))
        action[own, j] += held + load.share[j] * carried
