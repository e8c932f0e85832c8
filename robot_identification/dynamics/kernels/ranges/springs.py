"""Compiled efforts of springs between links in cells of motions, as affine forms.

The ends of a spring are carried to the frame of the link nearest to them that bears both.  With the
way n from one end to the other there, its length l and the force F that pulls them together, the
second end takes the force F n / l to be held, and a joint on its side that times the way it moves
by: (F / l) n . (z x r) about its axis z, with the arm r, and (F / l) n . z along it.
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
    minus,
    plus,
    plus3,
    product,
    put,
    radius,
    scaled,
    times,
    turned,
)
from robot_identification.dynamics.kernels.ranges.terms import LOADED, WEIGHT, Q

_OPTIONS = {**PART, "forceinline": False}
_SHORT = 0.1
"""Share of the largest square of a length below which its direction counts as open."""


@compiled(**PART)
def _fixed(x):
    """Return a vector of numbers as one of forms."""
    return constant(x[0]), constant(x[1]), constant(x[2])


@compiled(**PART)
def _minus3(x, y):
    """Return the difference of two vectors of forms."""
    return minus(x[0], y[0]), minus(x[1], y[1]), minus(x[2], y[2])


@compiled(**PART)
def _inner(x, y):
    """Return the product of two vectors of forms."""
    return plus(plus(times(x[0], y[0]), times(x[1], y[1])), times(x[2], y[2]))


@compiled(**PART)
def _outer(x, y):
    """Return the vector product of two vectors of forms."""
    return (
        minus(times(x[1], y[2]), times(x[2], y[1])),
        minus(times(x[2], y[0]), times(x[0], y[2])),
        minus(times(x[0], y[1]), times(x[1], y[0])),
    )


@compiled(**_OPTIONS)
def _direction_at(tree, links, turning, j, top, x, t):
    """Return a direction of frame j in the frame of the joint ``top``, or of the base."""
    while j != top:
        if not tree.prismatic[j]:
            x = turned(get(links[j], turning, t), get(links[j], turning + 1, t), x)
        x = product(tree.rotation[j], x)
        j = tree.antecedent[j]
    return x


@compiled(**_OPTIONS)
def _point_at(tree, states, links, turning, j, top, x, t):
    """Return a point of frame j in the frame of the joint ``top``, or of the base."""
    while j != top:
        if tree.prismatic[j]:
            x = x[0], x[1], plus(x[2], get(states[j], Q, t))
        else:
            x = turned(get(links[j], turning, t), get(links[j], turning + 1, t), x)
        p = tree.translation[j]
        x = plus3(_fixed((p[0], p[1], p[2])), product(tree.rotation[j], x))
        j = tree.antecedent[j]
    return x


@compiled(**_OPTIONS)
def pulled(n, preload, stiffness, length):
    """Return (3 forms) the force F n / l of a spring whose ends are the way n apart.

    Where n may be so short that its direction is open, that is anything of length 1.

    Args:
        n: vector of forms, in m.
        preload: F where l is ``length``, in N.
        stiffness: change of F, in N/m.
        length: in m.
    """
    square = _inner(n, n)
    reach = radius(square)
    least, most = square[0] - reach, square[0] + reach
    if least <= _SHORT * most:
        short, far = math.sqrt(max(least, 0.0)), math.sqrt(max(most, 0.0))
        ends = preload + stiffness * (short - length), preload + stiffness * (far - length)
        force = max(abs(ends[0]), abs(ends[1]))
        return between(-force, force), between(-force, force), between(-force, force)
    middle = 1.0 / math.sqrt(square[0])
    inverse = along(square, middle, -0.5 * middle / square[0], 0.75 * least**-2.5)
    ends = 1.0 / math.sqrt(most), 1.0 / math.sqrt(least)
    if inverse[5] > 0.5 * (ends[1] - ends[0]):
        inverse = between(ends[0], ends[1])
    tension = scaled(preload - stiffness * length, inverse)
    tension = plus(constant(stiffness), tension)
    return times(tension, n[0]), times(tension, n[1]), times(tension, n[2])


@compiled(**_OPTIONS)
def _hold(tree, states, links, turning, j, top, point, force, gain, efforts, t):
    """Add to joints from j to ``top`` what holds a force on a point times a gain."""
    while j != top:
        r, p, before = tree.rotation[j], tree.translation[j], tree.antecedent[j]
        z = _fixed((r[0, 2], r[1, 2], r[2, 2]))
        z = _direction_at(tree, links, turning, before, top, z, t)
        if not tree.prismatic[j]:
            o = _fixed((p[0], p[1], p[2]))
            o = _point_at(tree, states, links, turning, before, top, o, t)
            z = _outer(z, _minus3(point, o))
        y = scaled(gain, _inner(force, z))
        put(efforts[j], LOADED, t, plus(get(efforts[j], LOADED, t), y))
        put(efforts[j], WEIGHT, t, plus(get(efforts[j], WEIGHT, t), y))
        j = before


@compiled(**_OPTIONS)
def add_springs(tree, springs, states, links, turning, efforts):
    """Add to what joints hand on, moving and at rest, what holds against springs.

    Args:
        tree: kinematic tree.
        springs: the springs.
        states: (joints, STATE * FORM * LANES) forms of the joints.
        links: (joints + 1, LINK * FORM * LANES) forms of the links.
        turning: which of them is the cosine of the joint; the sine is next.
        efforts: (joints, ACTING * FORM * LANES) raised.
    """
    for s in range(springs.length.size):
        first, second, top = springs.joint[s, 0], springs.joint[s, 1], springs.top[s]
        x, y = springs.point[s, 0], springs.point[s, 1]
        for t in range(LANES):
            a = _point_at(tree, states, links, turning, first, top, _fixed((x[0], x[1], x[2])), t)
            b = _point_at(tree, states, links, turning, second, top, _fixed((y[0], y[1], y[2])), t)
            force = pulled(
                _minus3(b, a), springs.preload[s], springs.stiffness[s], springs.length[s]
            )
            _hold(tree, states, links, turning, first, top, a, force, -1.0, efforts, t)
            _hold(tree, states, links, turning, second, top, b, force, 1.0, efforts, t)
