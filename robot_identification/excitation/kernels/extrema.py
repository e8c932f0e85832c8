"""Compiled extrema of polynomial motions, from the roots of their derivatives.

Between two neighbouring roots of its derivative a polynomial is monotone, so that it has at most
one root there, which a safeguarded Newton iteration finds.  From degree one upwards this gives all
real roots.  A root without change of sign is missed, and does not matter: it is no extremum.
"""

from __future__ import annotations

import numpy as np

from robot_identification.compiled import compiled

_STEPS = 80
_ORDERS = 4


@compiled()
def _value(c, degree, s):
    """Return the polynomial c[0] + c[1] s + ... at s."""
    total = c[degree]
    for k in range(degree - 1, -1, -1):
        total = total * s + c[k]
    return total


@compiled()
def _root_between(c, slope, degree, low, high, at_low):
    """Return the root between two places where the signs differ."""
    s = 0.5 * (low + high)
    for _ in range(_STEPS):
        value = _value(c, degree, s)
        if value == 0.0 or high - low < 1e-16:
            break
        if (value > 0.0) == (at_low > 0.0):
            low = s
        else:
            high = s
        steep = _value(slope, degree - 1, s)
        following = s - value / steep if steep != 0.0 else low
        if not low < following < high:
            following = 0.5 * (low + high)
        if abs(following - s) < 1e-16:
            break
        s = following
    return s


@compiled()
def _roots(c, degree, roots):
    """Fill the roots strictly between 0 and 1 in rising order and return their number."""
    table = np.zeros((degree + 1, degree + 1))  # row d: the derivative of degree d
    for k in range(degree + 1):
        table[degree, k] = c[k]
    for d in range(degree, 0, -1):
        for k in range(d):
            table[d - 1, k] = (k + 1) * table[d, k + 1]
    count = 0
    borders = np.empty(degree + 2)
    for d in range(1, degree + 1):
        borders[0] = 0.0
        for i in range(count):
            borders[i + 1] = roots[i]
        borders[count + 1] = 1.0
        parts, count = count + 1, 0
        at_low = _value(table[d], d, 0.0)
        for i in range(parts):
            at_high = _value(table[d], d, borders[i + 1])
            if (at_low > 0.0 > at_high) or (at_low < 0.0 < at_high):
                roots[count] = _root_between(
                    table[d], table[d - 1], d, borders[i], borders[i + 1], at_low
                )
                count += 1
            elif at_high == 0.0 and borders[i + 1] < 1.0:
                roots[count] = borders[i + 1]
                count += 1
            at_low = at_high
    return count


@compiled()
def _derive(c, order, out):
    """Fill a derivative of a polynomial of degree five and return its degree."""
    for k in range(6 - order):
        factor = 1.0
        for i in range(order):
            factor *= k + order - i
        out[k] = factor * c[k + order]
    return 5 - order


@compiled()
def motion_extrema(coefficients, durations, out):
    """Fill the extrema of position, velocity, acceleration and jerk.

    Args:
        coefficients: (pieces, joints, 6) by rising powers of the time since a piece began.
        durations: (pieces,) in s.
        out: (4, 2, pieces, joints) smallest and largest values.
    """
    pieces, joints, _ = coefficients.shape
    c, curve, slope, roots = np.empty(6), np.empty(6), np.empty(6), np.empty(6)
    for i in range(pieces):
        for j in range(joints):
            power = 1.0
            for k in range(6):
                c[k] = coefficients[i, j, k] * power
                power *= durations[i]
            for order in range(_ORDERS):
                degree = _derive(c, order, curve)
                count = _roots(slope, _derive(c, order + 1, slope), roots)
                low = high = _value(curve, degree, 0.0)
                for r in range(count + 1):
                    value = _value(curve, degree, roots[r] if r < count else 1.0)
                    low, high = min(low, value), max(high, value)
                out[order, 0, i, j] = low / durations[i] ** order
                out[order, 1, i, j] = high / durations[i] ** order


@compiled()
def stopping_extrema(coefficients, durations, per_square, per_speed, out):
    """Fill the extrema of the places where braking at any time would end.

    Braking from q with the velocity v ends at q + per_square v |v| + per_speed v, whose extrema
    are where v = 0 or 1 + (2 per_square |v| + per_speed v) a / v = 0.

    Args:
        coefficients: (pieces, joints, 6) by rising powers of the time since a piece began.
        durations: (pieces,) in s.
        per_square: (joints,) braking distance per squared velocity.
        per_speed: (joints,) braking distance per velocity; one of the two is 0 for every joint.
        out: (2, pieces, joints) smallest and largest places.
    """
    pieces, joints, _ = coefficients.shape
    c, speed, bend, roots = np.empty(6), np.empty(6), np.empty(6), np.empty(6)
    for i in range(pieces):
        u = durations[i]
        for j in range(joints):
            power = 1.0
            for k in range(6):
                c[k] = coefficients[i, j, k] * power
                power *= u
            _derive(c, 1, speed)
            low, high = np.inf, -np.inf
            for case in range(4):
                count = 0
                if case == 0:
                    count = _roots(speed, 4, roots)
                elif case < 3 and per_square[j] > 0.0:  # 1 +- 2 per_square a = 0
                    _derive(c, 2, bend)
                    sign = 1.0 if case == 1 else -1.0
                    bend[0] += sign * u * u / (2.0 * per_square[j])
                    count = _roots(bend, 3, roots)
                elif case == 3 and per_speed[j] > 0.0:  # v + per_speed a = 0
                    _derive(c, 2, bend)
                    for k in range(5):
                        bend[k] = speed[k] + (per_speed[j] / u * bend[k] if k < 4 else 0.0)
                    count = _roots(bend, 4, roots)
                for r in range(-2, count):
                    s = roots[r] if r >= 0 else (0.0 if r == -1 else 1.0)
                    v = _value(speed, 4, s) / u
                    place = _value(c, 5, s) + (per_square[j] * abs(v) + per_speed[j]) * v
                    low, high = min(low, place), max(high, place)
            out[0, i, j] = low
            out[1, i, j] = high
