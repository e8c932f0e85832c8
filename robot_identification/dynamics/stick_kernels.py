"""Compiled stick and slip of Coulomb elements whose velocities are zero.

Element e has the velocity v_e = motion_e . qd and takes action_e times its share s_e from the joint
efforts.  While it slides, s_e is the sign of v_e.  At v_e = 0 the share is whatever keeps it at
rest, as long as that is within [-1, 1]; otherwise the element starts to slide:

    dv/dt = r - W s,   W = motion M^-1 action',   s_e = sign(dv_e/dt) where dv_e/dt is not zero,

with r the accelerations without these elements.  The solution minimises a convex function (Gauss's
principle), so that dv/dt is unique.  It is found by a projected Gauss-Seidel iteration.

Elements may depend on each other: where joints 5 and 6 rest, so does their sum.  Then dv/dt is
still unique, though the shares are not; an independent part of the elements holds the joints, and
the iteration tells whether shares within [-1, 1] exist.
"""

from __future__ import annotations

import math

from robot_identification.compiled import compiled
from robot_identification.dynamics.compiler_options import INLINED, OPTIONS
from robot_identification.dynamics.direct_kernels import factor, solve

SWEEPS = 5000
SHARE_TOLERANCE = 1e-13
DEPENDENT = 1e-9
BEYOND = 1e-9


@compiled(**INLINED)
def element_velocity(plant, e, rates):
    """Return the velocity of element e."""
    velocity = 0.0
    for j in range(rates.size):
        velocity += plant.motion[e, j] * rates[j]
    return velocity


@compiled(**OPTIONS)
def _length(vector):
    total = 0.0
    for j in range(vector.size):
        total += vector[j] * vector[j]
    return math.sqrt(total)


@compiled(**OPTIONS)
def arrange(plant, resting, order, spare):
    """Fill ``order`` with the resting elements, those of independent motions first.

    Args:
        plant: the robot.
        resting: (elements,) whether an element rests.
        order: (elements,) result.
        spare: (elements, joints) scratch.

    Returns:
        the number of independent elements, and that of all that rest.
    """
    count, dependent = 0, resting.size
    for e in range(resting.size):
        if not resting[e]:
            continue
        row = spare[count]
        for j in range(row.size):
            row[j] = plant.motion[e, j]
        size = _length(row)
        for b in range(count):
            overlap = 0.0
            for j in range(row.size):
                overlap += spare[b, j] * row[j]
            for j in range(row.size):
                row[j] -= overlap * spare[b, j]
        left = _length(row)
        if left > DEPENDENT * size:
            for j in range(row.size):
                row[j] /= left
            order[count] = e
            count += 1
        else:
            dependent -= 1
            order[dependent] = e
    total = count
    for a in range(resting.size - 1, dependent - 1, -1):
        order[total] = order[a]
        total += 1
    return count, total


@compiled(**OPTIONS)
def respond(plant, factors, elements, count, give, response):
    """Fill what elements do to joint accelerations, and to those of each other.

    Args:
        plant: the robot.
        factors: factors of its mass matrix.
        elements: which elements; the first ``count`` of the array.
        count: how many.
        give: (>= count, joints) accelerations that the elements take.
        response: (>= count, >= count) what each takes from the motion of each.
    """
    joints = plant.motion.shape[1]
    for a in range(count):
        for j in range(joints):
            give[a, j] = plant.action[elements[a], j]
        solve(factors, give[a])
    for a in range(count):
        for b in range(count):
            total = 0.0
            for j in range(joints):
                total += plant.motion[elements[a], j] * give[b, j]
            response[a, b] = total


@compiled(**OPTIONS)
def balance(response, free, count, share, needed):
    """Solve for the shares of elements at rest.

    Args:
        response: (>= count, >= count) see :func:`respond`.
        free: (>= count,) accelerations of the elements without any of them.
        count: how many.
        share: (>= count,) first guess on entry, shares within [-1, 1] on return.
        needed: (>= count,) shares that would keep each at rest, given the others.
    """
    for _ in range(SWEEPS):
        change = 0.0
        for a in range(count):
            left = free[a]
            for b in range(count):
                if b != a:
                    left -= response[a, b] * share[b]
            if response[a, a] > 0.0:
                needed[a] = left / response[a, a]
                value = min(max(needed[a], -1.0), 1.0)
            else:  # drives instead of braking: it never rests
                value = 1.0 if left >= 0.0 else -1.0
                needed[a] = 2.0 * value
            change = max(change, abs(value - share[a]))
            share[a] = value
        if change <= SHARE_TOLERANCE:
            return


@compiled(**OPTIONS)
def hold(plant, factors, order, counts, share, acceleration, give, response, lines):
    """Take from joint accelerations what keeps resting elements at rest.

    Args:
        plant: the robot.
        factors: factors of its mass matrix.
        order: resting elements, those of independent motions first.
        counts: number of independent elements and of all that rest.
        share: (elements,) those of resting elements are filled.
        acceleration: (joints,) without the resting elements on entry, with them on return.
        give: (elements, joints) scratch.
        response: (elements, elements) scratch.
        lines: (3, elements) scratch.

    Returns:
        by how much the largest share exceeds 1; negative while all can hold.
    """
    count, resting = counts[0], counts[1]
    free, found, needed = lines
    respond(plant, factors, order, resting, give, response)
    for a in range(resting):
        free[a] = element_velocity(plant, order[a], acceleration)
        found[a] = min(max(share[order[a]], -1.0), 1.0)
    excess = -1.0
    if resting > count:
        balance(response, free, resting, found, needed)
        for a in range(resting):
            share[order[a]] = found[a]
            beyond = abs(needed[a]) - 1.0
            if beyond > BEYOND:
                excess = max(excess, beyond)
    if count == 1:
        free[0] /= response[0, 0]
    else:
        small = response[:count, :count]
        factor(small)
        solve(small, free[:count])
    for a in range(count):
        for j in range(acceleration.size):
            acceleration[j] -= give[a, j] * free[a]
        if resting == count:
            share[order[a]] = free[a]
            excess = max(excess, abs(free[a]) - 1.0)
    rest_exactly(plant, order, count, acceleration)
    return excess


@compiled(**OPTIONS)
def rest_exactly(plant, order, count, rates):
    """Put the joints that resting elements hold by themselves to zero, free of rounding."""
    for a in range(count):
        joint, joints = 0, 0
        for j in range(rates.size):
            if plant.motion[order[a], j] != 0.0:
                joint = j
                joints += 1
        if joints == 1:
            rates[joint] = 0.0
