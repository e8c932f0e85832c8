"""Compiled affine forms: what a quantity can be in a cell, to first order and with what is left.

A cell has four symbols, each anywhere in [-1, 1].  A quantity x is a form of six numbers
c, g1, g2, g3, g4, r: for every choice of the symbols e

    |x(e) - c - g1 e1 - g2 e2 - g3 e3 - g4 e4| <= r.

Sums keep this exactly.  A product leaves what is of second order; its squares e^2 lie in [0, 1], so
that half of them goes to the middle (J. Stolfi and L. H. de Figueiredo, "Self-validated numerical
methods and applications", 1997, ch. 3).  What is left shrinks with the square of the cell.
Rounding is not counted: it is some 1e-14 of the largest numbers that enter.
"""

from __future__ import annotations

import math

from robot_identification.compiled import IN_ANY_ORDER, compiled

FORM = 6
"""Numbers of a form."""

LANES = 8
"""Cells side by side; loops over them have a constant length and become vector instructions."""

PART = {"fastmath": IN_ANY_ORDER, "forceinline": True, "_nrt": False}


@compiled(**PART)
def get(x, form, t):
    """Return a form of one cell; x holds (forms, 6, LANES) in one row."""
    i = form * FORM * LANES + t
    return (
        x[i], x[i + LANES], x[i + 2 * LANES], x[i + 3 * LANES], x[i + 4 * LANES], x[i + 5 * LANES]
    )  # fmt: skip


@compiled(**PART)
def put(x, form, t, y):
    """Fill a form of one cell."""
    i = form * FORM * LANES + t
    x[i] = y[0]
    x[i + LANES] = y[1]
    x[i + 2 * LANES] = y[2]
    x[i + 3 * LANES] = y[3]
    x[i + 4 * LANES] = y[4]
    x[i + 5 * LANES] = y[5]


@compiled(**PART)
def get3(x, form, t):
    """Return three forms in a row."""
    return get(x, form, t), get(x, form + 1, t), get(x, form + 2, t)


@compiled(**PART)
def put3(x, form, t, y):
    """Fill three forms in a row."""
    put(x, form, t, y[0])
    put(x, form + 1, t, y[1])
    put(x, form + 2, t, y[2])


@compiled(**PART)
def constant(c):
    """Return the form of a number."""
    return c, 0.0, 0.0, 0.0, 0.0, 0.0


@compiled(**PART)
def between(low, high):
    """Return the form of anything in an interval."""
    return 0.5 * (low + high), 0.0, 0.0, 0.0, 0.0, 0.5 * (high - low)


@compiled(**PART)
def plus(x, y):
    """Return the sum of two forms."""
    return x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3], x[4] + y[4], x[5] + y[5]


@compiled(**PART)
def minus(x, y):
    """Return the difference of two forms."""
    return x[0] - y[0], x[1] - y[1], x[2] - y[2], x[3] - y[3], x[4] - y[4], x[5] + y[5]


@compiled(**PART)
def scaled(a, x):
    """Return a number times a form."""
    return a * x[0], a * x[1], a * x[2], a * x[3], a * x[4], abs(a) * x[5]


@compiled(**PART)
def wider(x, r):
    """Return a form with more left."""
    return x[0], x[1], x[2], x[3], x[4], x[5] + r


@compiled(**PART)
def linear(x):
    """Return how far the first order goes."""
    return abs(x[1]) + abs(x[2]) + abs(x[3]) + abs(x[4])


@compiled(**PART)
def radius(x):
    """Return how far from its middle a form goes at most."""
    return linear(x) + x[5]


@compiled(**PART)
def times(x, y):
    """Return the product of two forms."""
    s1, s2, s3, s4 = x[1] * y[1], x[2] * y[2], x[3] * y[3], x[4] * y[4]
    mixed = abs(x[1] * y[2] + x[2] * y[1]) + abs(x[1] * y[3] + x[3] * y[1])
    mixed += abs(x[1] * y[4] + x[4] * y[1]) + abs(x[2] * y[3] + x[3] * y[2])
    mixed += abs(x[2] * y[4] + x[4] * y[2]) + abs(x[3] * y[4] + x[4] * y[3])
    squares = abs(s1) + abs(s2) + abs(s3) + abs(s4)
    left = (abs(x[0]) + linear(x) + x[5]) * y[5] + (abs(y[0]) + linear(y)) * x[5]
    return (
        x[0] * y[0] + 0.5 * (s1 + s2 + s3 + s4),
        x[0] * y[1] + y[0] * x[1],
        x[0] * y[2] + y[0] * x[2],
        x[0] * y[3] + y[0] * x[3],
        x[0] * y[4] + y[0] * x[4],
        left + mixed + 0.5 * squares,
    )


@compiled(**PART)
def along(x, value, slope, bend):
    """Return a function of a form.

    Args:
        x: the form.
        value: of the function at the middle of x.
        slope: there.
        bend: no less than the second derivative anywhere in x, as an absolute value.
    """
    reach = radius(x)
    left = abs(slope) * x[5] + 0.5 * bend * reach * reach
    return value, slope * x[1], slope * x[2], slope * x[3], slope * x[4], left


@compiled(**PART)
def magnitude(x):
    """Return the absolute value of a form: where the sign is open, between |x| and its chord."""
    reach = radius(x)
    low, high = x[0] - reach, x[0] + reach
    if low >= 0.0:
        return x
    if high <= 0.0:
        return scaled(-1.0, x)
    y, half = scaled(x[0] / reach, x), -low * high / (high - low)
    return y[0] + half, y[1], y[2], y[3], y[4], y[5] + half


@compiled(**PART)
def turn(x):
    """Return cosine and sine of a form in rad."""
    c, s = math.cos(x[0]), math.sin(x[0])
    reach = radius(x)
    square, cube = 0.25 * reach * reach, reach * reach * reach / 6.0
    # cos(c + d) = cos c - d sin c - d^2 / 2 cos c + ..., and d^2 / 2 lies in [0, reach^2 / 2].
    a, b = along(x, c, -s, 0.0), along(x, s, c, 0.0)
    a = (a[0] - square * c, a[1], a[2], a[3], a[4], a[5] + square * abs(c) + cube)
    b = (b[0] - square * s, b[1], b[2], b[3], b[4], b[5] + square * abs(s) + cube)
    return a, b


@compiled(**PART)
def turned(c, s, x):
    """Return a vector of a frame that has turned about z, in the frame as it was before."""
    return minus(times(c, x[0]), times(s, x[1])), plus(times(s, x[0]), times(c, x[1])), x[2]


@compiled(**PART)
def product(r, x):
    """Return the product of a matrix of numbers and a vector of forms."""
    return (
        dot((r[0, 0], r[0, 1], r[0, 2]), x),
        dot((r[1, 0], r[1, 1], r[1, 2]), x),
        dot((r[2, 0], r[2, 1], r[2, 2]), x),
    )


@compiled(**PART)
def plus3(x, y):
    """Return the sum of two vectors of forms."""
    return plus(x[0], y[0]), plus(x[1], y[1]), plus(x[2], y[2])


@compiled(**PART)
def dot(p, x):
    """Return the product of a vector of numbers and one of forms."""
    return plus(plus(scaled(p[0], x[0]), scaled(p[1], x[1])), scaled(p[2], x[2]))


@compiled(**PART)
def cross(p, x):
    """Return the vector product of a vector of numbers and one of forms."""
    return (
        minus(scaled(p[1], x[2]), scaled(p[2], x[1])),
        minus(scaled(p[2], x[0]), scaled(p[0], x[2])),
        minus(scaled(p[0], x[1]), scaled(p[1], x[0])),
    )
