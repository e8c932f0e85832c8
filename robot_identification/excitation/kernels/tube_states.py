"""Compiled states of a motion at every speed, and on the way to rest from everywhere on it.

A robot that follows a motion at the share k of its speed has the velocity k v and the acceleration
k^2 a at q.  Told to brake there, it first lets its acceleration fall to zero in the time u: at the
part x of that it has the acceleration k^2 a (1 - x), the velocity k v + k^2 a u (x - x^2 / 2) and
the position q + k v u x + k^2 a u^2 (x^2 / 2 - x^3 / 6).  Then every joint brakes from its velocity
w = k d, d = v + k a u / 2, in its own time T, as in
:mod:`robot_identification.excitation.motions.braking`: at the part y of T it has the velocity w (1
- 3 y^2 + 2 y^3), the acceleration -(w / T) 6 (y - y^2) and has gone on by w T (y - y^3 + y^4 / 2).

A cell is a piece of the motion and ranges of a time, of k, and of the way s to rest.  From -1 to 0
the acceleration falls, x = 1 + s, and the time is that of the order to brake.  From 0 to 1 all
joints brake, and s is the part of a time that is no shorter than the longest T of those whose jerk
is not limited: it is proportional to k, so that how far each of them is does not depend on k.  From
1 to 2 these are at rest, and s - 1 is the part of what the others still need at most.  While joints
brake, the cell's time is half of k u later than the order, where the path has the velocity d but
for a term of second order: the velocities at which joints turn back do not depend on k.

The first three symbols of the affine forms of a state
(:mod:`robot_identification.dynamics.kernels.ranges.affine`) are these ranges.  The fourth is the
sign of the velocity of the one joint that may brake from either side at full acceleration: the two
go together, and the acceleration is against friction.  Where a velocity may be zero, its sign may
be any.
"""

from __future__ import annotations

import numpy as np

from robot_identification.compiled import compiled
from robot_identification.dynamics.kernels.ranges.affine import (
    PART,
    between,
    constant,
    plus,
    put,
    radius,
    scaled,
    times,
    wider,
)
from robot_identification.dynamics.kernels.ranges.terms import QD, QDD, RATE, SIGN, Q, sign
from robot_identification.excitation.kernels.stopping import (
    deceleration_of,
    reciprocal,
    shape_of,
    speed_of,
    way_of,
    within,
)

SHORTEST = 1e-3
"""Time in s, over k, in which a joint comes to rest at least; at full speed as braking does it."""

_OPTIONS = {**PART, "forceinline": False}
_NEARLY = 2.0
"""Times to rest up to so many times SHORTEST are treated as about the same."""


@compiled(**PART)
def _polynomial(c, degree, time, moved):
    """Return the form of a polynomial, by its coefficients, at a time m + a e1 + b e2."""
    m, a, b = time
    for k in range(degree + 1):
        moved[k] = c[k]
    for k in range(degree):
        for i in range(degree - 1, k - 1, -1):
            moved[i] += m * moved[i + 1]
    reach = abs(a) + abs(b)
    left, power = 0.0, reach * reach * reach
    for k in range(3, degree + 1):
        left += abs(moved[k]) * power
        power *= reach
    square = 0.5 * moved[2] * (a * a + b * b)
    left += abs(square) + 2.0 * abs(moved[2] * a * b)
    return moved[0] + square, moved[1] * a, moved[1] * b, 0.0, 0.0, left


@compiled(**_OPTIONS)
def _releasing(q, v, a, k, x, release, state, t):
    """Fill the state of a joint while its acceleration falls to zero."""
    square, ka = times(x, x), times(k, a)
    bend = plus(scaled(0.5, square), scaled(-1.0 / 6.0, times(square, x)))
    further = plus(times(v, x), scaled(release, times(ka, bend)))
    rate = plus(v, scaled(release, times(ka, plus(x, scaled(-0.5, square)))))
    put(state, Q, t, plus(q, scaled(release, times(k, further))))
    put(state, RATE, t, rate)
    put(state, QD, t, times(k, rate))
    put(state, QDD, t, times(times(k, ka), plus(constant(1.0), scaled(-1.0, x))))
    put(state, SIGN, t, sign(rate))


@compiled(**PART)
def _put_on_the_way(q, k, d, step, speed, way, state, t):
    """Fill position and velocity of a joint that brakes."""
    rate = times(d, speed)
    put(state, Q, t, plus(q, times(step, way)))
    put(state, RATE, t, rate)
    put(state, QD, t, times(k, rate))


@compiled(**_OPTIONS)
def _put_rest(q, state, t):
    """Fill the state of a joint at rest."""
    put(state, Q, t, q)
    for form in (RATE, QD, QDD, SIGN):
        put(state, form, t, constant(0.0))


@compiled(**PART)
def _either_way(low, high):
    """Return the sign of a velocity in an interval that may end at rest, where it can be any."""
    if low > 0.0:
        return constant(1.0)
    return constant(-1.0) if high < 0.0 else between(-1.0, 1.0)


@compiled(**_OPTIONS)
def _braking_within(q, d, k, pushed, passed, soonest, latest, pace, state, t):
    """Fill the state of a joint whose time to rest lies between two that are about the same.

    Args:
        q: form of the position where it begins to brake.
        d: form of the velocity, over k.
        k: form of the share of the speed.
        pushed: what times d is the velocity, over the unit of these times: k, or 1 where they are
            over k; what times that, d and the time to rest is twice the way: 1, or k^2.
        passed: form of the time that has passed.
        soonest: the least time to rest; above 0.
        latest: the most.
        pace: velocity that it loses in a second at most, on average.
        state: forms of the joint.
        t: cell of the block.
    """
    w, per_time = times(pushed[0], d), between(1.0 / latest, 1.0 / soonest)
    y, reach = times(passed, per_time), radius(d)
    far = radius(y)
    low, high = max(y[0] - far, 0.0), y[0] + far
    step = times(pushed[1], times(w, between(soonest, latest)))
    if low >= 1.0:
        _put_rest(plus(q, scaled(0.5, step)), state, t)
        return
    deceleration, speed, way = shape_of(y, low, high)
    _put_on_the_way(q, k, d, step, speed, way, state, t)
    rate = times(w, per_time)
    wide = radius(rate)
    rate = within(rate, max(rate[0] - wide, -pace), min(rate[0] + wide, pace))
    put(state, QDD, t, scaled(-1.5, times(rate, deceleration)))
    known = high < 1.0
    put(state, SIGN, t, _either_way(d[0] - reach, d[0] + reach) if known else between(-1.0, 1.0))


@compiled(**_OPTIONS)
def _braking_from_either_side(q, k, kk, least, most, low, pace, pace_most, free, state, t):
    """Fill the state of a joint whose velocity has any sign; tell whether it took the symbol.

    Near zero it may be anywhere on its way to rest.

    Args:
        q: form of the position where it begins to brake.
        k: form of the share of the speed.
        kk: form of its square.
        least: velocity, over k, that is below zero.
        most: velocity, over k, that is above zero.
        low: least part of its way to rest.
        pace: velocity that it loses in a second, on average, where SHORTEST does not matter.
        pace_most: the most that it loses in a second.
        free: whether the fourth symbol is free.
        state: forms of the joint.
        t: cell of the block.
    """
    d, speed, way = between(least, most), between(0.0, speed_of(low)), between(way_of(low), 0.5)
    step = times(kk, between(-least * least / pace, most * most / pace))
    _put_on_the_way(q, k, d, step, speed, way, state, t)
    half = 0.75 * pace_most * deceleration_of(max(low, 0.5))
    if not free:
        put(state, SIGN, t, between(-1.0, 1.0))
        put(state, QDD, t, between(-2.0 * half, 2.0 * half))
        return False
    put(state, SIGN, t, (0.0, 0.0, 0.0, 0.0, 1.0, 0.0))
    put(state, QDD, t, (0.0, 0.0, 0.0, 0.0, -half, half))
    return True


@compiled(**_OPTIONS)
def _braking_quickly(q, d, k, passed, pace, free, state, t):
    """Fill the state of a joint that brakes as quickly as it may; tell whether it took the symbol.

    Its time to rest, over k, is |d| over the pace, or SHORTEST where that is longer.

    Args:
        q: form of the position where it begins to brake.
        d: form of the velocity, over k.
        k: form of the share of the speed.
        passed: form of the time that has passed, over k, the least of it, and the most; infinite
            where the joint is at rest.
        pace: velocity that it loses in a second at most, on average.
        free: whether the fourth symbol is free.
        state: forms of the joint.
        t: cell of the block.
    """
    part, soonest, latest = passed
    reach, kk, side = radius(d), times(k, k), 1.0 if d[0] > 0.0 else -1.0
    least, most = d[0] - reach, d[0] + reach
    fast, slow = max(abs(least), abs(most)), max(least, -most)
    first, last = max(slow, 0.0) / pace, fast / pace
    low = soonest / max(last, SHORTEST)
    if fast == 0.0:
        _put_rest(q, state, t)
        return False
    if first < SHORTEST and last < _NEARLY * SHORTEST and latest < np.inf:
        pushed = constant(1.0), kk
        first, last = max(first, SHORTEST), max(last, SHORTEST)
        _braking_within(q, d, k, pushed, part, first, last, pace, state, t)
        return False
    share = 1.0
    if first < SHORTEST:
        # Where SHORTEST is longer than |d| over the pace, it goes on further by less than this.
        q = wider(q, 0.125 * pace * SHORTEST * SHORTEST)
        share = min(first / SHORTEST, 1.0)
    if slow < 0.0 and low < 1.0:
        pace_most = pace * min(last / SHORTEST, 1.0)
        return _braking_from_either_side(
            q, k, kk, least, most, low, pace, pace_most, free, state, t
        )
    step = times(kk, scaled(side / pace, times(d, d)))
    if low >= 1.0:
        if slow < 0.0:
            step = times(kk, between(-least * least / pace, most * most / pace))
        _put_rest(plus(q, scaled(0.5, step)), state, t)
        return False
    y, high = between(low, 2.0), 2.0  # further than rest is rest
    if slow > 0.0 and latest < np.inf:
        high = min(high, latest * pace / slow)
        y = between(low, high)
        if share == 1.0:
            form = scaled(pace, times(part, reciprocal(scaled(side, d), slow)))
            far = radius(form)
            if far < 0.75 * (high - low):
                y, low, high = form, max(low, form[0] - far), form[0] + far
    deceleration, speed, way = shape_of(y, low, high)
    if share < 1.0:
        deceleration = times(between(share, 1.0), deceleration)
    _put_on_the_way(q, k, d, step, speed, way, state, t)
    put(state, QDD, t, scaled(-side * 1.5 * pace, deceleration))
    known = high < 1.0 and slow > 0.0
    put(state, SIGN, t, constant(side) if known else between(-1.0, 1.0))
    return False


@compiled(**PART)
def _note_widths(d, told, soonest, latest, pace, parts):
    """Add by how much of its way to rest a joint may differ inside a cell, by range of the cell.

    Args:
        d: form of the velocity, over k.
        told: form of the time of the order to brake.
        soonest: least time that has passed, over k.
        latest: most time that has passed, over k.
        pace: velocity that the joint loses in a second, on average.
        parts: (3,) raised.
    """
    fast = abs(d[0]) + radius(d)
    slow = max(abs(d[0]) - radius(d), 0.0)
    if fast == 0.0:
        return
    begin, middle = min(soonest * pace / fast, 1.0), min(latest * pace / fast, 1.0)
    end = min(latest * pace / slow, 1.0) if slow > 0.0 else 1.0
    # What is left of the velocity is of second order in the time of the order.
    share = abs(told[1]) / (abs(told[1]) + abs(told[2]) + 1e-300)
    by_time, by_speed = abs(d[1]) + share * d[5] + 1e-300, abs(d[2]) + (1.0 - share) * d[5]
    parts[0] += (end - middle) * by_time / (by_time + by_speed)
    parts[1] += (end - middle) * by_speed / (by_time + by_speed)
    parts[2] += middle - begin


@compiled(**PART)
def _at(coefficients, time, work):
    """Return the forms of position, velocity and acceleration of a joint at full speed."""
    rates, moved = work[0], work[1]
    q = _polynomial(coefficients, 5, time, moved)
    for i in range(5):
        rates[i] = (i + 1) * coefficients[i + 1]
    v = _polynomial(rates, 4, time, moved)
    for i in range(4):
        rates[i] = (i + 1) * rates[i + 1]
    return q, v, _polynomial(rates, 3, time, moved)


@compiled(**_OPTIONS)
def states_of(cell, motion, law, work, states, t, parts):
    """Fill the forms of the states of one cell.

    Args:
        cell: (7,) piece, range of a time since it began, range of the share of the speed, range of
            the way to rest, which is before 0 or behind it.
        motion: coefficients (pieces, joints, 6) by rising powers of that time, and (pieces, 3)
            times a, b and c in s: joints whose jerk is not limited brake from a piece in a k at
            most, the others in a k + b + c k.
        law: time in which the acceleration falls to zero, in s; (joints,) shortest braking times of
            joints whose jerk is limited, in s, else 0; (joints,) accelerations.
        work: (2, 6) workspace.
        states: (joints, STATE * FORM * LANES) result.
        t: place of the cell in the block.
        parts: (3,) raised by how much of their ways to rest joints may differ, by range of the
            cell.
    """
    coefficients, longest = motion
    release, fixed, accelerations = law
    piece = int(cell[0])
    k = (0.5 * (cell[3] + cell[4]), 0.0, 0.5 * (cell[4] - cell[3]), 0.0, 0.0, 0.0)
    s = (0.5 * (cell[5] + cell[6]), 0.0, 0.0, 0.5 * (cell[6] - cell[5]), 0.0, 0.0)
    x = plus(s, constant(1.0))
    quick, b, c = longest[piece]
    at_rest = cell[5] >= 1.0  # all joints whose jerk is not limited
    # The time that has passed, and the same over k for those joints.
    time, passed = times(s, scaled(quick, k)), (scaled(quick, s), quick * cell[5], quick * cell[6])
    if at_rest:
        left = times(plus(s, constant(-1.0)), plus(constant(b), scaled(c, k)))
        time, passed = plus(scaled(quick, k), left), (constant(0.0), np.inf, np.inf)
    told = 0.5 * (cell[1] + cell[2]), 0.5 * (cell[2] - cell[1]), 0.0
    if cell[6] > 0.0:
        told = told[0] - 0.5 * release * k[0], told[1], -0.5 * release * k[2]
    free = True
    for j in range(coefficients.shape[1]):
        state, pace = states[j], accelerations[j] / 1.5
        q, v, a = _at(coefficients[piece, j], told, work)
        if cell[6] <= 0.0:
            _releasing(q, v, a, k, x, release, state, t)
            continue
        d = v
        if release > 0.0:
            ka = times(k, a)
            d = plus(v, scaled(0.5 * release, ka))
            further = plus(v, scaled(release / 3.0, ka))
            q = plus(q, scaled(release, times(k, further)))
        if fixed[j] > 0.0:
            parts[1] += time[2] / fixed[j]
            parts[2] += time[3] / fixed[j]
            most = cell[4] * (abs(d[0]) + radius(d)) / pace
            pushed = k, constant(1.0)
            _braking_within(q, d, k, pushed, time, fixed[j], max(fixed[j], most), pace, state, t)
        else:
            if not at_rest:
                _note_widths(d, told, passed[1], passed[2], pace, parts)
            took = _braking_quickly(q, d, k, passed, pace, free, state, t)
            free = free and not took
