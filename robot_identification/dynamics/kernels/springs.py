"""Compiled springs between points of links: lengths, their derivatives, efforts of joints.

A joint moves one end of a spring or none: joints below both ends move both alike.  With the unit
vector n from the first end to the second, dl/dq of a joint is n times the velocity of its end at
rate 1: the axis for a prismatic joint, axis x (end - origin) for a revolute one; for the first end
negated.

Frames are those that :mod:`.mass` fills into lanes.
"""

from __future__ import annotations

import math

from robot_identification.compiled import BARE, IN_ANY_ORDER, INLINED, compiled
from robot_identification.dynamics.kernels.mass import (
    BLOCK,
    FRAME,
    LANES,
    ORIGIN,
    POSITION,
    SLIDES,
    lane,
    place_links,
)

_OPTIONS = {"fastmath": IN_ANY_ORDER}


@compiled(**INLINED)
def _end(springs, s, end, joints, work):
    """Return a point of a spring in the base frame."""
    joint = springs.joint[s, end]
    # The frame of the base stands behind all blocks of joints.
    own = work[lane(joint) if joint >= 0 else (joints + LANES - 1) // LANES * BLOCK :]
    p0, p1, p2 = springs.point[s, end]
    return (
        own[ORIGIN] + own[FRAME] * p0 + own[FRAME + LANES] * p1 + own[FRAME + 2 * LANES] * p2,
        own[ORIGIN + LANES]
        + own[FRAME + 3 * LANES] * p0
        + own[FRAME + 4 * LANES] * p1
        + own[FRAME + 5 * LANES] * p2,
        own[ORIGIN + 2 * LANES]
        + own[FRAME + 6 * LANES] * p0
        + own[FRAME + 7 * LANES] * p1
        + own[FRAME + 8 * LANES] * p2,
    )


@compiled(**INLINED)
def _line(springs, s, joints, work):
    """Return length, direction, first and second end of a spring; no direction at length 0."""
    a0, a1, a2 = _end(springs, s, 0, joints, work)
    b0, b1, b2 = _end(springs, s, 1, joints, work)
    n0, n1, n2 = b0 - a0, b1 - a1, b2 - a2
    length = math.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
    inverse = 1.0 / length if length > 0.0 else 0.0
    return length, (n0 * inverse, n1 * inverse, n2 * inverse), (a0, a1, a2), (b0, b1, b2)


@compiled(**INLINED)
def _pull(springs, s, antecedent, work, end, point, force, efforts):
    """Add to the efforts of joints a force that stretches a spring by moving one of its ends.

    Args:
        springs: all springs.
        s: the spring.
        antecedent: (joints,) joints that carry the joints.
        work: lanes with the frames.
        end: 0 or 1.
        point: its place.
        force: (3,) on the end.
        efforts: (joints,) result.
    """
    f0, f1, f2 = force
    x0, x1, x2 = point
    j = springs.joint[s, end]
    while j != springs.top[s]:
        own = work[lane(j) :]
        z0, z1, z2 = own[FRAME + 2 * LANES], own[FRAME + 5 * LANES], own[FRAME + 8 * LANES]
        if own[SLIDES] > 0.0:
            efforts[j] += z0 * f0 + z1 * f1 + z2 * f2
        else:
            r0, r1, r2 = x0 - own[ORIGIN], x1 - own[ORIGIN + LANES], x2 - own[ORIGIN + 2 * LANES]
            efforts[j] += (
                z0 * (r1 * f2 - r2 * f1) + z1 * (r2 * f0 - r0 * f2) + z2 * (r0 * f1 - r1 * f0)
            )
        j = antecedent[j]


@compiled(**BARE)
def add_springs(springs, antecedent, work, efforts):
    """Add the efforts that hold against the springs of a plant, whose frames are in its lanes."""
    for s in range(springs.length.size):
        length, n, a, b = _line(springs, s, antecedent.size, work)
        force = springs.preload[s] + springs.stiffness[s] * (length - springs.length[s])
        n0, n1, n2 = n[0] * force, n[1] * force, n[2] * force
        _pull(springs, s, antecedent, work, 0, a, (-n0, -n1, -n2), efforts)
        _pull(springs, s, antecedent, work, 1, b, (n0, n1, n2), efforts)


@compiled(**_OPTIONS)
def stretches(springs, antecedent, lanes, q, lengths, rates):
    """Fill lengths of all springs and their derivatives over positions for all samples.

    Args:
        springs: the springs.
        antecedent: (joints,) joints that carry the joints.
        lanes: of the robot, from :func:`~.mass.lanes_of`.
        q: (joints, samples) positions.
        lengths: (springs, samples) result, in m.
        rates: (springs, samples, joints) result.
    """
    work = lanes.copy()
    rates[:] = 0.0
    for t in range(q.shape[1]):
        for j in range(antecedent.size):
            work[lane(j) + POSITION] = q[j, t]
        place_links(antecedent, work)
        for s in range(springs.length.size):
            length, n, a, b = _line(springs, s, antecedent.size, work)
            lengths[s, t] = length
            back = (-n[0], -n[1], -n[2])
            _pull(springs, s, antecedent, work, 0, a, back, rates[s, t])
            _pull(springs, s, antecedent, work, 1, b, n, rates[s, t])
