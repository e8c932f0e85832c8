"""Compiled bounds of how far bodies move and how near they come over ranges of joint positions.

A cell is a box of joint positions: a centre q and half widths h.  Every posture in it is reached
from the centre by moving the joints one after the other, the last of a chain first.  Joint k then
moves points that are D away from where they are at the centre by at most h_k (r_k + D), where r_k
is their largest distance from its axis at the centre.  So a body is displaced by at most D_1, with

    D_k = D_(k+1) + h_k (r_k + D_(k+1))        (a prismatic joint: D_k = D_(k+1) + h_k)

Along a direction n it moves by at most sum h_k g_k + E_1, with the lever arms
g_k = max |n . (z_k x p)| over its points p, seen from the axis, and what is of second order,

    E_k = E_(k+1) + h_k D_(k+1) + h_k^2 (r_k + D_(k+1)) / 2.

The points of a body lie in a capsule, over which distances from an axis and lever arms, both convex
functions, are largest at its ends.

Two bodies are apart along n by what the lowest point of the first is above the highest of the
second.  A point that is higher than the lowest by a height may sink by as much before it counts: so
far ends of a long link, which move most, do not count where they are far away.  Along the capsule
the bound of how far points sink is linear and the height, never below 0, is convex, so that their
difference is largest at an end, or where the height begins to be above 0.
"""

from __future__ import annotations

import numpy as np

from robot_identification.collision.kernels.shapes import apart, pair_distance
from robot_identification.compiled import compiled


@compiled()
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled()
def _frames(q, antecedent, rotation, translation, prismatic, turned, placed):
    """Fill the frames of all joints at a posture, in the base frame."""
    for j in range(len(antecedent)):
        c, s = np.cos(q[j]), np.sin(q[j])
        if prismatic[j]:
            c, s = 1.0, 0.0
        k = antecedent[j]
        for row in range(3):
            x = rotation[j, row, 0] * c + rotation[j, row, 1] * s
            y = rotation[j, row, 1] * c - rotation[j, row, 0] * s
            turned[j, row, 0], turned[j, row, 1] = x, y
            turned[j, row, 2] = rotation[j, row, 2]
            placed[j, row] = translation[j, row]
            if prismatic[j]:
                placed[j, row] += q[j] * rotation[j, row, 2]
        if k >= 0:
            own, place = turned[j].copy(), placed[j].copy()
            for row in range(3):
                for column in range(3):
                    turned[j, row, column] = (
                        turned[k, row, 0] * own[0, column]
                        + turned[k, row, 1] * own[1, column]
                        + turned[k, row, 2] * own[2, column]
                    )
                placed[j, row] = placed[k, row] + _dot(turned[k, row], place)


@compiled()
def _reach(n, point, origin):
    """Return how far a point is from an origin along a direction."""
    far = 0.0
    for row in range(3):
        far += n[row] * (point[row] - origin[row])
    return far


@compiled()
def _carry(ends, joint, turned, placed, out):
    """Fill the ends of a capsule in the base frame."""
    for i in range(2):
        for row in range(3):
            if joint < 0:
                out[i, row] = ends[i, row]
            else:
                out[i, row] = placed[joint, row] + _dot(turned[joint, row], ends[i])


@compiled()
def _from_axis(point, origin, axis):
    """Return the distance of a point from an axis."""
    x, y, z = point[0] - origin[0], point[1] - origin[1], point[2] - origin[2]
    along = x * axis[0] + y * axis[1] + z * axis[2]
    return np.sqrt(max(x * x + y * y + z * z - along * along, 0.0))


@compiled()
def _displacement(ends, radius, joint, stop, h, antecedent, prismatic, turned, placed):
    """Return D of a capsule by the joints from its own back to, and without, the joint ``stop``."""
    far = 0.0
    k = joint
    while k != stop:
        if prismatic[k]:
            far += h[k]
        else:
            axis = turned[k, :, 2]
            r = max(_from_axis(ends[0], placed[k], axis), _from_axis(ends[1], placed[k], axis))
            far += h[k] * (r + radius + far)
        k = antecedent[k]
    return far


@compiled()
def _sinks(ends, radius, sign, n, lowest, joint, stop, h, antecedent, prismatic, turned, placed):
    """Return by how much the lowest point of a body may sink; joints as in `_displacement`.

    Down is against the direction ``sign * n``, along which ``lowest`` is one of the lowest points.
    """
    head, tail, second, far = 0.0, 0.0, 0.0, 0.0
    k = joint
    m = np.empty(3)
    while k != stop:
        axis = turned[k, :, 2]
        if prismatic[k]:
            head += h[k] * abs(_dot(n, axis))
            tail += h[k] * abs(_dot(n, axis))
            far += h[k]
        else:
            # n . (z x p) = (n x z) . p
            m[0] = n[1] * axis[2] - n[2] * axis[1]
            m[1] = n[2] * axis[0] - n[0] * axis[2]
            m[2] = n[0] * axis[1] - n[1] * axis[0]
            wide = radius * np.sqrt(_dot(m, m))
            head += h[k] * (abs(_reach(m, ends[0], placed[k])) + wide)
            tail += h[k] * (abs(_reach(m, ends[1], placed[k])) + wide)
            r = max(_from_axis(ends[0], placed[k], axis), _from_axis(ends[1], placed[k], axis))
            second += h[k] * far + 0.5 * h[k] * h[k] * (r + radius + far)
            far += h[k] * (r + radius + far)
        k = antecedent[k]
    above = sign * _reach(n, ends[0], lowest) - radius
    beyond = sign * _reach(n, ends[1], lowest) - radius
    most = max(head - max(above, 0.0), tail - max(beyond, 0.0))
    if above * beyond < 0.0:
        share = above / (above - beyond)
        most = max(most, head + share * (tail - head))
    return min(max(most, 0.0) + second, far)


@compiled()
def _apart_less(a, b, stop, h, joint, radius, world, robot, turned, placed):
    """Return by how much two bodies may approach each other, in whatever direction."""
    antecedent, _, _, prismatic = robot
    far = 0.0
    for body in (a, b):
        if joint[body] >= 0:
            far += _displacement(
                world[body], radius[body], joint[body], stop, h,
                antecedent, prismatic, turned, placed,
            )  # fmt: skip
    return far


@compiled()
def _nearer(a, b, stop, n, pa, pb, h, joint, radius, world, robot, turned, placed):
    """Return by how much the shapes around two bodies may approach each other along a direction.

    Their segments are nearest at two points.
    """
    antecedent, _, _, prismatic = robot
    lowest, far = np.empty(3), 0.0
    for side in range(2):
        body, sign = (a, 1.0) if side == 0 else (b, -1.0)
        if joint[body] < 0:
            continue
        for row in range(3):
            centre = pa[row] if side == 0 else pb[row]
            lowest[row] = centre - sign * radius[body] * n[row]
        far += _sinks(
            world[body], radius[body], sign, n, lowest, joint[body], stop, h,
            antecedent, prismatic, turned, placed,
        )  # fmt: skip
    return far


@compiled()
def _gap(pair, h, bodies, world, pa, pb, n, robot, turned, placed):
    """Return a lower bound of the distance of a pair over a cell, its bodies carried there."""
    joint, kind, _, radius, _, _, _ = bodies
    a, b, stop = pair[0], pair[1], pair[2]
    nearest = pair_distance(a, b, bodies, world, pa, pb, n)
    # A half-space has one direction, which holds everywhere; others turn with the bodies.
    if kind[b] == 2:
        return nearest - _nearer(
            a, b, stop, n, pa, pb, h, joint, radius, world, robot, turned, placed
        )
    return nearest - _apart_less(a, b, stop, h, joint, radius, world, robot, turned, placed)


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
        _frames(q[cell], antecedent, rotation, translation, prismatic, turned, placed)
        for b in range(count):
            _carry(ends[b], joint[b], turned, placed, world[b])
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
        _frames(q[cell], antecedent, rotation, translation, prismatic, turned, placed)
        pair = pairs[chosen[cell]]
        for b in pair[:2]:
            _carry(ends[b], joint[b], turned, placed, world[b])
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
            _frames(q[cell], antecedent, rotation, translation, prismatic, turned, placed)
            last = cell
        total = 0.0
        for side in range(2):
            b = pairs[p, side]
            if joint[b] >= 0 and joint[b] != pairs[p, 2]:
                _carry(ends[b], joint[b], turned, placed, one)
                total += _sinks(
                    one, radius[b], 1.0 - 2.0 * side, normals[row], points[row, side],
                    joint[b], pairs[p, 2], h[cell], antecedent, prismatic, turned, placed,
                )  # fmt: skip
        out[row] = total


@compiled()
def frames(q, robot, turned, placed):
    """Fill the frames of all joints, (cells, joints, 3, 3) and (cells, joints, 3), at postures."""
    antecedent, rotation, translation, prismatic = robot
    for cell in range(len(q)):
        _frames(q[cell], antecedent, rotation, translation, prismatic, turned[cell], placed[cell])


@compiled()
def _push(point, joint, stop, n, slope, antecedent, prismatic, turned, placed, out):
    """Add to a gradient over the joints what a body's point makes of a slope along a direction."""
    k = joint
    while k >= 0 and k != stop:
        axis = turned[k, :, 2]
        if prismatic[k]:
            out[k] += slope * _dot(n, axis)
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
        robot: as for :func:`gaps`.
        bodies: as for :func:`gaps`.
        pairs: as for :func:`gaps`.
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
        _frames(q[i], antecedent, rotation, translation, prismatic, turned, placed)
        for b in range(count):
            _carry(ends[b], joint[b], turned, placed, world[b])
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
                distance -= _nearer(
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
