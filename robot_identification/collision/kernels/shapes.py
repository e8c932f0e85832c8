"""Compiled lower bounds of the distances of capsules from capsules, boxes and half-spaces."""

from __future__ import annotations

import numpy as np

from robot_identification.compiled import compiled

_BOX_PARTS = 4  # spheres by which a capsule is seen from a box


@compiled()
def _nearest_of_segments(a, b, pa, pb):
    """Fill the nearest points of two segments (2, 3) (Ericson 2005, section 5.1.9)."""
    aa = ee = ff = cc = bb = 0.0
    for row in range(3):
        d1, d2, r = a[1, row] - a[0, row], b[1, row] - b[0, row], a[0, row] - b[0, row]
        aa, ee, bb = aa + d1 * d1, ee + d2 * d2, bb + d1 * d2
        cc, ff = cc + d1 * r, ff + d2 * r
    s = t = 0.0
    tiny = 1e-18
    if aa <= tiny and ee > tiny:
        t = min(max(ff / ee, 0.0), 1.0)
    elif aa > tiny and ee <= tiny:
        s = min(max(-cc / aa, 0.0), 1.0)
    elif aa > tiny:
        denominator = aa * ee - bb * bb
        if denominator > tiny:
            s = min(max((bb * ff - cc * ee) / denominator, 0.0), 1.0)
        t = (bb * s + ff) / ee
        if t < 0.0:
            t, s = 0.0, min(max(-cc / aa, 0.0), 1.0)
        elif t > 1.0:
            t, s = 1.0, min(max((bb - cc) / aa, 0.0), 1.0)
    for row in range(3):
        pa[row] = a[0, row] + s * (a[1, row] - a[0, row])
        pb[row] = b[0, row] + t * (b[1, row] - b[0, row])


@compiled()
def apart(a, b):
    """Return the distance of two points."""
    total = 0.0
    for row in range(3):
        total += (a[row] - b[row]) ** 2
    return np.sqrt(total)


@compiled()
def _from_box(ends, radius, turn, place, half, pa, n):
    """Return a lower bound of the distance of a capsule from a box: by spheres along it.

    Fills the nearest of their centres, and the direction to it from the box.
    """
    length = 0.0
    for row in range(3):
        length += (ends[1, row] - ends[0, row]) ** 2
    wider = radius + 0.5 * np.sqrt(length) / _BOX_PARTS
    nearest = np.inf
    for part in range(_BOX_PARTS):
        share = (part + 0.5) / _BOX_PARTS
        total, inside = 0.0, np.inf
        for column in range(3):
            along = 0.0
            for row in range(3):
                p = ends[0, row] + share * (ends[1, row] - ends[0, row]) - place[row]
                along += turn[row, column] * p
            beyond = max(abs(along) - half[column], 0.0)
            total += beyond * beyond
            inside = min(inside, half[column] - abs(along))
        distance = np.sqrt(total) - wider if total > 0.0 else -inside - wider
        if distance < nearest:
            nearest = distance
            for row in range(3):
                pa[row] = ends[0, row] + share * (ends[1, row] - ends[0, row])
    _out_of_box(pa, turn, place, half, n)
    return nearest


@compiled()
def _out_of_box(point, turn, place, half, n):
    """Fill the unit vector out of a box to a point; of one inside, through the nearest face."""
    local = np.empty(3)
    total, face = 0.0, 0
    for column in range(3):
        along = 0.0
        for row in range(3):
            along += turn[row, column] * (point[row] - place[row])
        local[column] = along
        if abs(along) - half[column] > abs(local[face]) - half[face]:
            face = column
    for column in range(3):
        beyond = max(abs(local[column]) - half[column], 0.0)
        local[column] = np.copysign(beyond, local[column])
        total += beyond * beyond
    if total == 0.0:
        sign = 1.0
        for row in range(3):
            sign += turn[row, face] * (point[row] - place[row])
        for row in range(3):
            n[row] = turn[row, face] if sign > 1.0 else -turn[row, face]
        return
    for row in range(3):
        n[row] = 0.0
        for column in range(3):
            n[row] += turn[row, column] * local[column] / np.sqrt(total)


@compiled()
def _from_half_space(ends, radius, normal, place, pa):
    """Return the distance of a capsule from a half-space; fills the lower end of its segment."""
    nearest = np.inf
    for i in range(2):
        height = 0.0
        for row in range(3):
            height += normal[row] * (ends[i, row] - place[row])
        if height - radius < nearest:
            nearest = height - radius
            for row in range(3):
                pa[row] = ends[i, row]
    return nearest


@compiled()
def pair_distance(a, b, bodies, world, pa, pb, n):
    """Return a lower bound of the distance of two bodies, by the shapes around them.

    Fills points of both, and the direction from the second to the first.
    """
    _, kind, _, radius, turn, place, size = bodies
    if kind[b] == 2:
        for row in range(3):
            n[row] = size[b, row]
        return _from_half_space(world[a], radius[a], size[b], place[b], pa)
    if kind[b] == 1:
        return _from_box(world[a], radius[a], turn[b], place[b], size[b], pa, n)
    _nearest_of_segments(world[a], world[b], pa, pb)
    gap = apart(pa, pb)
    for row in range(3):
        n[row] = (pa[row] - pb[row]) / gap if gap > 0.0 else 0.0
    return gap - radius[a] - radius[b]
