"""Compiled penalty of postures whose bodies are too near, with its derivatives, for searches."""

from __future__ import annotations

import numpy as np

from robot_identification.collision.kernels.displacement import nearer
from robot_identification.collision.kernels.forward_kinematics import carry, dot, joint_frames
from robot_identification.collision.kernels.shapes import apart, pair_distance
from robot_identification.compiled import compiled


@compiled()
def _push(point, joint, stop, n, slope, antecedent, prismatic, turned, placed, out):
    """Add to a gradient over the joints what a body's point makes of a slope along a direction."""
    k = joint
    while k >= 0 and k != stop:
        axis = turned[k, :, 2]
        if prismatic[k]:
            out[k] += slope * dot(n, axis)
        else:
            x, y, z = point[0] - placed[k, 0], point[1] - placed[k, 1], point[2] - placed[k, 2]
            out[k] += slope * (
                n[0] * (axis[1] * z - axis[2] * y)
                + n[1] * (axis[2] * x - axis[0] * z)
                + n[2] * (axis[0] * y - axis[1] * x)
            )
        k = antecedent[k]


@compiled()
def intrusion(q, off, margin, beyond, scale, robot, bodies, pairs, gradient):
    """Return the sum of squares of what enclosing shapes lack to their margins.

    Args:
        q: (postures, joints).
        off: (joints,) by how much the robot may be off.
        margin: (pairs,) distances that the shapes are to keep, in m.
        beyond: (pairs,) distances beyond which ``off`` matters no more, in m.
        scale: what counts as 1, in m.
        robot: as for :func:`.bounds.gaps`.
        bodies: as for :func:`.bounds.gaps`.
        pairs: as for :func:`.bounds.gaps`.
        gradient: (postures, joints) filled with the derivatives of the sum; what ``off`` makes of
            them is left out.
    """
    antecedent, rotation, translation, prismatic = robot
    joint, kind, ends, radius, _, _, _ = bodies
    joints, count = len(antecedent), len(joint)
    turned, placed = np.empty((joints, 3, 3)), np.empty((joints, 3))
    world, pa, pb, n = np.empty((count, 2, 3)), np.empty(3), np.empty(3), np.empty(3)
    middle, reach = np.empty((count, 3)), np.empty(count)
    for b in range(count):
        reach[b] = radius[b] + 0.5 * apart(ends[b, 0], ends[b, 1])
    wide = off.max() > 0.0
    total = 0.0
    for i in range(len(q)):
        joint_frames(q[i], antecedent, rotation, translation, prismatic, turned, placed)
        for b in range(count):
            carry(ends[b], joint[b], turned, placed, world[b])
            for row in range(3):
                middle[b, row] = 0.5 * (world[b, 0, row] + world[b, 1, row])
        for j in range(joints):
            gradient[i, j] = 0.0
        for p in range(len(pairs)):
            a, b, stop = pairs[p, 0], pairs[p, 1], pairs[p, 2]
            if kind[b] == 0 and apart(middle[a], middle[b]) - reach[a] - reach[b] > beyond[p]:
                continue
            distance = pair_distance(a, b, bodies, world, pa, pb, n)
            if wide and distance < beyond[p]:
                distance -= nearer(
                    a, b, stop, n, pa, pb, off, joint, radius, world, robot, turned, placed
                )
            if distance >= margin[p]:
                continue
            lack = (margin[p] - distance) / scale
            total += lack * lack
            slope = -2.0 * lack / scale
            _push(pa, joint[a], stop, n, slope, antecedent, prismatic, turned, placed, gradient[i])
            if kind[b] == 0:
                _push(
                    pb, joint[b], stop, n, -slope, antecedent, prismatic, turned, placed,
                    gradient[i],
                )  # fmt: skip
    return total
