"""Compiled friction and other terms of joints in cells of motions, as affine forms.

All that has the sign of a velocity, Coulomb friction with Stribeck's and what follows the load, is
one sum times that sign: where the sign is open they act together, one way or the other.  Where a
velocity is zero, this sum is what friction may hold either way.

Functions of the rate that bend, g(|v|), are told by their slopes, as long as the velocity has one
direction in the cell: with these in [a, b] they differ from the line of the slope (a + b) / 2
through the middle by (b - a) / 2 times the reach of the velocity at most, which is of second order.
Where that is more than all that the function changes, or the direction is open, they are anything
between their values at the ends.
"""

from __future__ import annotations

import math

from robot_identification.compiled import compiled
from robot_identification.dynamics.kernels.ranges.affine import (
    LANES,
    PART,
    along,
    between,
    constant,
    get,
    magnitude,
    plus,
    put,
    radius,
    scaled,
    times,
    wider,
)
from robot_identification.dynamics.kernels.terms import (
    ACCELERATION,
    COULOMB,
    GRAVITY_LOAD,
    LOAD,
    MAGNITUDE,
    ONE,
    POSITION,
    ROOT,
    SMOOTH,
    STRIBECK,
    VISCOUS,
    of_rate,
)

Q, RATE, QD, QDD, SIGN, STATE = 0, 1, 2, 3, 4, 5
"""Forms of a joint: position, velocity over speed, velocity, acceleration, sign of velocity."""

EFFORT, LOADED, WEIGHT, SLIDING, ACTING = 0, 1, 2, 3, 4
"""Forms of what acts on a joint: the effort; its part of bodies, drive inertias and springs between
links; that at rest; what has the sign of the velocity."""

_OPTIONS = {**PART, "forceinline": False}


@compiled(**PART)
def sign(x):
    """Return what the sign of a form can be; at zero it can be any."""
    reach = radius(x)
    if x[0] - reach > 0.0:
        return constant(1.0)
    return constant(-1.0) if x[0] + reach < 0.0 else between(-1.0, 1.0)


@compiled(**PART)
def _rests(x):
    """Tell whether a velocity is zero throughout."""
    return x[0] == 0.0 and radius(x) == 0.0


@compiled(**PART)
def _powered(x, sign_of_x, power):
    """Return sign(v) |v|^p of a velocity for p = 2, 3 and so on."""
    magnitude_of_x, y = times(sign_of_x, x), x
    for _ in range(power - 1):
        y = times(y, magnitude_of_x)
    return y


@compiled(**PART)
def _of_speed(code, speed, first, second):
    """Return g(|v|) of a bent function; Stribeck's without the sign, 1 at rest."""
    if code == STRIBECK:
        return math.exp(-((speed / first) ** second))
    return of_rate(code, speed, first, second)


@compiled(**PART)
def _slope(code, speed, first, second):
    """Return the derivative of g at a speed above 0."""
    if code == ROOT:
        return 0.5 / math.sqrt(speed)
    if code == SMOOTH:
        value = math.tanh(speed / first)
        return (1.0 - value * value) / first
    part = (speed / first) ** second
    return -second / speed * part * math.exp(-part)


@compiled(**PART)
def _steepest(code, slow, fast, first, second):
    """Return the speed of a range at which Stribeck's law falls most; the others are so at ends."""
    if code != STRIBECK or second <= 1.0:
        return slow
    return min(max(first * ((second - 1.0) / second) ** (1.0 / second), slow), fast)


@compiled(**PART)
def _anything(a, b):
    """Return the form of anything between two values."""
    return between(min(a, b), max(a, b))


@compiled(**_OPTIONS)
def bent(code, v, sign_of_v, first, second):
    """Return a function of a rate, sign(v) g(|v|); of Stribeck's law g(|v|) alone.

    Args:
        code: ROOT, SMOOTH or STRIBECK.
        v: form of the rate.
        sign_of_v: form of its sign.
        first: shape parameter, as for :func:`~.terms.of_rate`.
        second: the same.
    """
    reach, even = radius(v), code == STRIBECK
    low, high = v[0] - reach, v[0] + reach
    if low <= 0.0 <= high:
        if sign_of_v[0] > 0.5:
            low = 0.0
        elif sign_of_v[0] < -0.5:
            high = 0.0
        if even:
            return between(_of_speed(code, max(-low, high), first, second), 1.0)
        return between(-_of_speed(code, -low, first, second), _of_speed(code, high, first, second))
    side = 1.0 if low > 0.0 else -1.0
    slow, fast = min(abs(low), abs(high)), max(abs(low), abs(high))
    ends = _of_speed(code, slow, first, second), _of_speed(code, fast, first, second)
    slopes = _slope(code, slow, first, second), _slope(code, fast, first, second)
    middle = _slope(code, _steepest(code, slow, fast, first, second), first, second)
    least, most = min(slopes[0], slopes[1], middle), max(slopes[0], slopes[1])
    left, acting = 0.5 * (most - least) * reach, 1.0 if even else side
    if left >= 0.5 * abs(ends[1] - ends[0]):
        return _anything(acting * ends[0], acting * ends[1])
    value = acting * _of_speed(code, abs(v[0]), first, second)
    return wider(along(v, value, acting * side * 0.5 * (least + most), 0.0), left)


@compiled(**_OPTIONS)
def _factor(code, shape, state, effort, t):
    """Return what a term multiplies; where that has the sign of the velocity, without the sign."""
    if code in (ONE, COULOMB):
        return constant(1.0)
    if code == VISCOUS:
        return get(state, QD, t)
    if code == POSITION:
        return get(state, Q, t)
    if code == LOAD:
        return magnitude(get(effort, LOADED, t))
    if code == GRAVITY_LOAD:
        return magnitude(get(effort, WEIGHT, t))
    v, sign_of_v = get(state, QD, t), get(state, SIGN, t)
    if code == MAGNITUDE:
        return scaled(sign_of_v[0], v) if abs(sign_of_v[0]) > 0.5 else magnitude(v)
    if code > VISCOUS:
        return _powered(v, sign_of_v, code)
    return bent(code, v, sign_of_v, shape[0], shape[1])


@compiled(**_OPTIONS)
def add_terms(codes, shapes, own, state, effort, held):
    """Fill the effort of a joint but for couplings, given what it hands on.

    Args:
        codes: (terms,) what the terms of the joint multiply.
        shapes: (terms, SHAPES) shape parameters of these functions.
        own: (terms,) their parameters.
        state: forms of the joint.
        effort: (ACTING * FORM * LANES,) forms of what acts on it.
        held: (LANES,) friction at rest.
    """
    for t in range(LANES):
        put(effort, EFFORT, t, get(effort, LOADED, t))
        put(effort, SLIDING, t, constant(0.0))
    for i in range(codes.size):
        if own[i] == 0.0 or codes[i] == ACCELERATION:
            continue
        slides = codes[i] in (COULOMB, STRIBECK, LOAD, GRAVITY_LOAD)
        form = SLIDING if slides else EFFORT
        for t in range(LANES):
            y = scaled(own[i], _factor(codes[i], shapes[i], state, effort, t))
            put(effort, form, t, plus(get(effort, form, t), y))
    for t in range(LANES):
        y, slides = get(effort, EFFORT, t), get(effort, SLIDING, t)
        held[t] = 0.0
        if _rests(get(state, RATE, t)):
            held[t] = abs(slides[0])
            y = wider(y, radius(slides))
        else:
            y = plus(y, times(get(state, SIGN, t), slides))
        put(effort, EFFORT, t, y)


@compiled(**PART)
def combined(motion, form, states, t):
    """Return a form of a combination of joints."""
    total = constant(0.0)
    for j in range(states.shape[0]):
        if motion[j] != 0.0:
            total = plus(total, scaled(motion[j], get(states[j], form, t)))
    return total


@compiled(**_OPTIONS)
def add_couplings(coupling, values, states, efforts, held):
    """Add the contributions of couplings but for drive inertias to the efforts of joints."""
    for i in range(coupling.joint.size):
        gain, kind = coupling.gain[i] * values[coupling.column[i]], coupling.kind[i]
        if kind == ACCELERATION:
            continue
        joint = coupling.joint[i]
        for t in range(LANES):
            total = combined(coupling.motion[i], RATE if kind == COULOMB else QD, states, t)
            if kind == COULOMB:
                if _rests(total):
                    held[joint, t] += abs(gain)
                    continue
                total = sign(total)
            elif kind > VISCOUS:
                total = _powered(total, sign(total), kind)
            y = plus(get(efforts[joint], EFFORT, t), scaled(gain, total))
            put(efforts[joint], EFFORT, t, y)
