"""Compiled bounds of how far bodies move over ranges of joint positions.

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

from robot_identification.collision.kernels.forward_kinematics import dot
from robot_identification.compiled import compiled


@compiled()
def _reach(n, point, origin):
    """Return how far a point is from an origin along a direction."""
    far = 0.0
    for row in range(3):
        far += n[row] * (point[row] - origin[row])
    return far


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
def sinks(ends, radius, sign, n, lowest, joint, stop, h, antecedent, prismatic, turned, placed):
    """Return by how much the lowest point of a body may sink; joints as in `_displacement`.

    Down is against the direction ``sign * n``, along which ``lowest`` is one of the lowest points.
    """
    head, tail, second, far = 0.0, 0.0, 0.0, 0.0
    k = joint
    m = np.empty(3)
    while k != stop:
        axis = turned[k, :, 2]
        if prismatic[k]:
            head += h[k] * abs(dot(n, axis))
            tail += h[k] * abs(dot(n, axis))
            far += h[k]
        else:
            # n . (z x p) = (n x z) . p
            m[0] = n[1] * axis[2] - n[2] * axis[1]
            m[1] = n[2] * axis[0] - n[0] * axis[2]
            m[2] = n[0] * axis[1] - n[1] * axis[0]
            wide = radius * np.sqrt(dot(m, m))
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
def apart_less(a, b, stop, h, joint, radius, world, robot, turned, placed):
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
def nearer(a, b, stop, n, pa, pb, h, joint, radius, world, robot, turned, placed):
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
        far += sinks(
            world[body], radius[body], sign, n, lowest, joint[body], stop, h,
            antecedent, prismatic, turned, placed,
        )  # fmt: skip
    return far
