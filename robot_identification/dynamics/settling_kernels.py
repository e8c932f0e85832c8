"""Compiled settling of a closed loop: what slides and what rests from an event on.

All elements at zero velocity are solved for together, see :mod:`.stick_kernels`.
"""

from __future__ import annotations

import numpy as np

from robot_identification.compiled import compiled
from robot_identification.dynamics.closed_loop_kernels import rates
from robot_identification.dynamics.compiler_options import PART
from robot_identification.dynamics.direct_kernels import factor, solve
from robot_identification.dynamics.dormand_prince_kernels import STAGES
from robot_identification.dynamics.mass_kernels import mass_and_bias
from robot_identification.dynamics.stick_kernels import (
    arrange,
    balance,
    element_velocity,
    respond,
    rest_exactly,
)

AT_REST = 1e-11
BEYOND = 1e-9


@compiled(**PART)
def settle(loop, time, y, mode, resting, heading, scratch, tally):
    """Find what slides and what rests from now on; set the velocities of what rests to zero.

    Args:
        loop: robot, nominal robot, law and reference.
        time: time of the reference.
        y: state; its velocities change by what they lack to zero.
        mode: directions (elements,) of sliding, 0 for rest; the order of what rests, and counts
            (2,) of the independent elements in it and of all.
        resting: (elements,) which elements have come to zero velocity, or were at rest.
        heading: signs of the friction that computed torque feeds forward.
        scratch: arrays to work with.
        tally: counts of elements that came to rest, were released, or reversed.

    Returns:
        whether the mass matrix is positive definite.
    """
    direction, order, counts = mode
    joints = scratch.torque.size
    qd = y[joints : 2 * joints]
    before = scratch.before
    for e in range(direction.size):
        before[e] = direction[e]
    for e in range(direction.size):
        if resting[e]:
            direction[e] = 0.0
    slope, share = scratch.slopes[STAGES], scratch.shares[STAGES]
    counts[:] = 0
    mass_and_bias(loop.plant, y[:joints], qd, scratch.work, scratch.mass, scratch.bias)
    if not factor(scratch.mass):
        return False
    independent, total = arrange(loop.plant, resting, order, scratch.give)
    _stop(loop.plant, qd, order, independent, scratch)
    _join_resting(loop.plant, qd, direction, resting)
    if np.isnan(rates(loop, time, y, mode, heading, scratch, slope, share)):
        return False
    independent, total = arrange(loop.plant, resting, order, scratch.give)
    respond(loop.plant, scratch.mass, order, total, scratch.give, scratch.response)
    free, found, needed = scratch.lines
    for a in range(total):
        free[a] = element_velocity(loop.plant, order[a], slope[joints : 2 * joints])
        found[a] = min(max(share[order[a]], -1.0), 1.0)
    balance(scratch.response, free, total, found, needed)
    for a in range(total):
        e = order[a]
        share[e] = found[a]
        if abs(needed[a]) > 1.0 + BEYOND:
            resting[e] = False
            direction[e] = 1.0 if needed[a] > 0.0 else -1.0
    counts[0], counts[1] = arrange(loop.plant, resting, order, scratch.give)
    _count(before, direction, tally)
    return True


@compiled(**PART)
def _join_resting(plant, qd, direction, resting):
    """Add the elements whose velocity has become zero because others rest."""
    speed = 1.0
    for j in range(qd.size):
        speed = max(speed, abs(qd[j]))
    for e in range(direction.size):
        if not resting[e] and abs(element_velocity(plant, e, qd)) <= AT_REST * speed:
            resting[e] = True
            direction[e] = 0.0


@compiled(**PART)
def _count(before, after, tally):
    """Count what came to rest, was released, or reversed."""
    for e in range(after.size):
        if before[e] != after[e]:
            change = 0 if after[e] == 0.0 else (1 if before[e] == 0.0 else 2)
            tally[change] += 1


@compiled(**PART)
def _stop(plant, qd, order, count, scratch):
    """Take the velocities of independent elements away, by an impulse of these elements."""
    if count == 0:
        return
    respond(plant, scratch.mass, order, count, scratch.give, scratch.response)
    impulse = scratch.lines[0]
    for a in range(count):
        impulse[a] = element_velocity(plant, order[a], qd)
    small = scratch.response[:count, :count]
    factor(small)
    solve(small, impulse[:count])
    for a in range(count):
        for j in range(qd.size):
            qd[j] -= scratch.give[a, j] * impulse[a]
    rest_exactly(plant, order, count, qd)
