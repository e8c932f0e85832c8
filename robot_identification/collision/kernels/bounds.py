"""Compiled bounds of how near bodies come over ranges of joint positions.

A cell is a box of joint positions, and bodies move in it by no more than
:mod:`robot_identification.collision.kernels.displacement` says.
"""

from __future__ import annotations

import numpy as np

from robot_identification.collision.kernels.displacement import apart_less, nearer, sinks
from robot_identification.collision.kernels.forward_kinematics import carry, joint_frames
from robot_identification.collision.kernels.shapes import pair_distance
from robot_identification.compiled import compiled


@compiled()
def _gap(pair, h, bodies, world, pa, pb, n, robot, turned, placed):
    """Return a lower bound of the distance of a pair over a cell, its bodies carried there."""
    joint, kind, _, radius, _, _, _ = bodies
    a, b, stop = pair[0], pair[1], pair[2]
    nearest = pair_distance(a, b, bodies, world, pa, pb, n)
    # A half-space has one direction, which holds everywhere; others turn with the bodies.
    if kind[b] == 2:
        return nearest - nearer(
            a, b, stop, n, pa, pb, h, joint, radius, world, robot, turned, placed
        )
    return nearest - apart_less(a, b, stop, h, joint, radius, world, robot, turned, placed)


@compiled()
def gaps(q, h, wanted, robot, bodies, pairs, out):
    """Fill lower bounds of the distances of pairs over cells, less what is wanted.

    Args:
        q: (cells, joints) centres.
        h: (cells, joints) half widths.
        wanted: distance to be kept, in m.
        robot: antecedent (joints,), rotation (joints, 3, 3), translation (joints, 3), prismatic
            (joints,).
        bodies: joint (bodies,), kind (bodies,): 0 a capsule, 1 a box, 2 a half-space; ends
            (bodies, 2, 3), radius (bodies,), rotation (bodies, 3, 3), translation (bodies, 3),
            half size or normal (bodies, 3).
        pairs: (pairs, 3) indices of two bodies, and the last joint that carries both, or -1.
        out: (cells, pairs).
    """
    antecedent, rotation, translation, prismatic = robot
    joint, _, ends, _, _, _, _ = bodies
    joints, count = len(antecedent), len(joint)
    turned, placed = np.empty((joints, 3, 3)), np.empty((joints, 3))
    world, pa, pb, n = np.empty((count, 2, 3)), np.empty(3), np.empty(3), np.empty(3)
    for cell in range(len(q)):
        joint_frames(q[cell], antecedent, rotation, translation, prismatic, turned, placed)
        for b in range(count):
            carry(ends[b], joint[b], turned, placed, world[b])
        for p in range(len(pairs)):
            out[cell, p] = -wanted + _gap(
                pairs[p], h[cell], bodies, world, pa, pb, n, robot, turned, placed
            )


@compiled()
def gaps_of_pairs(q, h, wanted, robot, bodies, pairs, chosen, out):
    """Fill lower bounds of the distance of one pair over each cell, less what is wanted.

    Args:
        q: (cells, joints) centres.
        h: (cells, joints) half widths.
        wanted: distance to be kept, in m.
        robot: as for :func:`gaps`.
        bodies: as for :func:`gaps`.
        pairs: as for :func:`gaps`.
        chosen: (cells,) index of the pair of each.
        out: (cells,).
    """
    antecedent, rotation, translation, prismatic = robot
    joint, _, ends, _, _, _, _ = bodies
    joints, count = len(antecedent), len(joint)
    turned, placed = np.empty((joints, 3, 3)), np.empty((joints, 3))
    world, pa, pb, n = np.empty((count, 2, 3)), np.empty(3), np.empty(3), np.empty(3)
    for cell in range(len(q)):
        joint_frames(q[cell], antecedent, rotation, translation, prismatic, turned, placed)
        pair = pairs[chosen[cell]]
        for b in pair[:2]:
            carry(ends[b], joint[b], turned, placed, world[b])
        out[cell] = -wanted + _gap(pair, h[cell], bodies, world, pa, pb, n, robot, turned, placed)


@compiled()
def travel(q, h, robot, bodies, pairs, chosen, normals, points, out):
    """Fill by how much the distances of some pairs may shrink in their cells.

    Args:
        q: (cells, joints) centres.
        h: (cells, joints) half widths.
        robot: as for :func:`gaps`.
        bodies: as for :func:`gaps`.
        pairs: as for :func:`gaps`.
        chosen: (rows, 2) indices of a cell and a pair, by rising cells.
        normals: (rows, 3) unit vectors from the second body to the first, at the centre.
        points: (rows, 2, 3) where the bodies are nearest there.
        out: (rows,) in m.
    """
    antecedent, rotation, translation, prismatic = robot
    joint, _, ends, radius, _, _, _ = bodies
    joints = len(antecedent)
    turned, placed = np.empty((joints, 3, 3)), np.empty((joints, 3))
    one = np.empty((2, 3))
    last = -1
    for row in range(len(chosen)):
        cell, p = chosen[row, 0], chosen[row, 1]
        if cell != last:
            joint_frames(q[cell], antecedent, rotation, translation, prismatic, turned, placed)
            last = cell
        total = 0.0
        for side in range(2):
            b = pairs[p, side]
            if joint[b] >= 0 and joint[b] != pairs[p, 2]:
                carry(ends[b], joint[b], turned, placed, one)
                total += sinks(
                    one, radius[b], 1.0 - 2.0 * side, normals[row], points[row, side],
                    joint[b], pairs[p, 2], h[cell], antecedent, prismatic, turned, placed,
                )  # fmt: skip
        out[row] = total
