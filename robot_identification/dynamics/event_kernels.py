"""Compiled search for the events inside a step of a closed loop.

- A sliding element whose velocity passes through zero.
- A resting element that would need more than its sliding force.
- The friction that computed torque feeds forward changes its sign.

The first two are located on the polynomial of the step, the third along the reference.
"""

from __future__ import annotations

from robot_identification.compiled import compiled
from robot_identification.dynamics.closed_loop_kernels import APART, copy, rates, within
from robot_identification.dynamics.compiler_options import INLINED, OPTIONS, PART
from robot_identification.dynamics.control_kernels import follow
from robot_identification.dynamics.dormand_prince_kernels import (
    NODES,
    STAGES,
    blend,
    state_inside,
)
from robot_identification.dynamics.settling_kernels import AT_REST
from robot_identification.dynamics.stick_kernels import element_velocity

AFTER = 1e-9
RELEASE = 1e-8
TARGET = 1.5e-8
LOOKS = 8
MOST_GUESSES = 100


@compiled(**PART)
def find_event(loop, time, step, mode, heading, scratch, resting, tally):
    """Return the share of the step at which the first event is, 2 if there is none.

    ``resting`` gets which elements are at rest there, those that are released included.
    """
    direction = mode[0]
    joints = scratch.torque.size
    first, which = 2.0, -1
    for e in range(direction.size):
        resting[e] = direction[e] == 0.0
        if not resting[e] and _may_cross(loop.plant, e, direction[e], scratch, joints):
            u = _crossing(loop.plant, e, direction[e], scratch.inside, joints, scratch.quartic)
            if u < first:
                first, which = u, e
    if mode[2][1] > 0:
        u = _release(loop, time, step, mode, heading, scratch, first, tally)
        if u < first:
            return u
    if which >= 0:
        resting[which] = True
    return first


@compiled(**INLINED)
def _may_cross(plant, e, sign, scratch, joints):
    """Tell from both ends of a step whether a sliding element can come to zero velocity in it."""
    moving = slice(joints, 2 * joints)
    if sign * element_velocity(plant, e, scratch.trial[moving]) < 0.0:
        return True
    begins = sign * element_velocity(plant, e, scratch.slopes[0, moving])
    ends = sign * element_velocity(plant, e, scratch.slopes[STAGES - 1, moving])
    return begins < 0.0 and ends > 0.0


@compiled(**OPTIONS)
def _crossing(plant, e, sign, inside, joints, c):
    """Return the share of the step at which a sliding element comes to rest; 2 if it does not.

    An element that has just been released starts at zero velocity; that is no event.
    """
    for i in range(5):
        c[i] = 0.0
    for j in range(joints):
        for i in range(5):
            c[i] += sign * plant.motion[e, j] * inside[i, joints + j]
    look = 1
    while look <= LOOKS and blend(c[0], c[1], c[2], c[3], c[4], look / LOOKS) >= 0.0:
        look += 1
    if look > LOOKS:
        return 2.0
    low, high = (look - 1) / LOOKS, look / LOOKS
    if look == 1 and c[0] <= AT_REST:
        low = 0.5 * high
        while blend(c[0], c[1], c[2], c[3], c[4], low) <= 0.0:
            high = low
            low *= 0.5
            if low < 1e-10:
                return 0.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if blend(c[0], c[1], c[2], c[3], c[4], middle) < 0.0:
            high = middle
        else:
            low = middle
    return high


@compiled(**PART)
def _release(loop, time, step, mode, heading, scratch, latest, tally):
    """Return the share of the step at which a resting element is released; 2 if none is.

    Only what comes before ``latest`` counts.
    """
    low, below, high, above = 0.0, scratch.excess[0] - TARGET, 2.0, 0.0
    stage, side = 0, 0
    for _ in range(STAGES + MOST_GUESSES):
        if high > 1.0:
            stage += 1
            if stage == STAGES or low >= latest:
                return 2.0
            u = NODES[stage]
            if not scratch.excess[stage] > RELEASE:
                continue
        else:
            if (high - low) * step < APART or above < RELEASE:
                break
            u = (low * above - high * below) / (above - below)
        tally[5] += 1
        value = _excess_inside(loop, time, step, u, mode, heading, scratch)
        if value > RELEASE:
            below *= 0.5 if side == 1 else 1.0
            side = 1 if high <= 1.0 else 0
            high, above = u, value - TARGET
        else:
            above *= 0.5 if side == -1 else 1.0
            side = -1 if high <= 1.0 else 0
            low, below = u, value - TARGET
    return high


@compiled(**PART)
def _excess_inside(loop, time, step, u, mode, heading, scratch):
    """Return by how much the largest share of a resting element exceeds 1 inside a step."""
    state, slope, share = scratch.spare, scratch.slopes[STAGES], scratch.shares[STAGES]
    copy(scratch.shares[0], share)
    state_inside(scratch.inside, u, state)
    at = within(time + u * step, time, step)
    return rates(loop, at, state, mode, heading, scratch, slope, share)


@compiled(**PART)
def until_heading_turns(loop, time, step, heading, target):
    """Return the step that ends where the friction fed forward changes its sign, if it does."""
    for e in range(heading.size):
        for part in (0.5, 1.0):
            high = part * step
            if heading[e] * _pace(loop, e, within(time + high, time, step), target) >= 0.0:
                continue
            low = 0.0
            while high - low > 0.1 * APART:
                middle = 0.5 * (low + high)
                if heading[e] * _pace(loop, e, time + middle, target) < 0.0:
                    high = middle
                else:
                    low = middle
            if high > 2.0 * AFTER:
                step = high
                break
    return step


@compiled(**INLINED)
def _pace(loop, e, time, target):
    """Return the velocity of a friction element of the nominal robot along the reference."""
    follow(loop.reference, time, target)
    return element_velocity(loop.nominal, e, target[1])
