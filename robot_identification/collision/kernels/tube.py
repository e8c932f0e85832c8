"""Compiled ranges of joint positions: a motion, and braking from everywhere on it at every speed.

Told to brake at the time t of a motion that is followed at the share k of its speed, the robot
first lets its acceleration fall to zero, on which way it keeps to its path but for e; then every
joint brakes from its velocity w = k (v - k u a / 2), where u is the time in which the acceleration
falls, as in :mod:`robot_identification.excitation.motions.braking`: at the time s T it has gone on
by w T (s - s^3 + s^4 / 2), where T is the time that it takes from w.  There t is the time at which
braking proper begins.  Its order was given at t - k u, and the velocity w is that of the motion and
half of what the acceleration of that earlier time adds: it differs from k (v - k u a / 2) by k
times the integral of (k u / 2 - x) times the jerk over the time x since the order, hence by no more
than k d (k u)^2 / 8, where d is by how much the jerk changes in that time.

A cell is a range of t inside one piece of the motion, a range of k and a range of the share of the
longest braking time that has passed.  The polynomials are bounded by their Bernstein coefficients
there, and what a joint goes on by grows with its velocity and with the time.
"""

from __future__ import annotations

import numpy as np

from robot_identification.compiled import compiled

_CHOOSE = np.array(
    [
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        [1.0, 2.0, 1.0, 0.0, 0.0, 0.0],
        [1.0, 3.0, 3.0, 1.0, 0.0, 0.0],
        [1.0, 4.0, 6.0, 4.0, 1.0, 0.0],
        [1.0, 5.0, 10.0, 10.0, 5.0, 1.0],
    ]
)


@compiled()
def _range(c, degree, begin, length, moved):
    """Return smallest and largest Bernstein coefficient of a polynomial over a range."""
    for k in range(degree + 1):
        total, power = 0.0, 1.0
        for i in range(k, degree + 1):
            total += _CHOOSE[i, k] * c[i] * power
            power *= begin
        moved[k] = total
    power = 1.0
    for k in range(degree + 1):
        moved[k] *= power
        power *= length
    low, high = np.inf, -np.inf
    for i in range(degree + 1):
        value = 0.0
        for k in range(i + 1):
            value += _CHOOSE[i, k] / _CHOOSE[degree, k] * moved[k]
        low, high = min(low, value), max(high, value)
    return low, high


@compiled()
def _value(c, degree, t):
    total = c[degree]
    for k in range(degree - 1, -1, -1):
        total = total * t + c[k]
    return total


@compiled()
def _braking_time(w, shortest, acceleration):
    """Return the time from a velocity to rest."""
    return max(shortest, 1.5 * abs(w) / acceleration) if abs(w) > 0.0 else 0.0


@compiled()
def _gone_on(w, time, shortest, acceleration):
    """Return by how much a joint has gone on some time after it began to brake from a velocity."""
    own = _braking_time(w, shortest, acceleration)
    if own == 0.0:
        return 0.0
    s = min(time / own, 1.0)
    return w * own * (s - s**3 + 0.5 * s**4)


@compiled()
def _longest(k, fastest, shortest, acceleration):
    """Return the longest braking time of all joints at a share of the speed."""
    longest = 0.0
    for j in range(len(fastest)):
        longest = max(longest, _braking_time(k * fastest[j], shortest[j], acceleration[j]))
    return longest


@compiled()
def boxes(cells, motion, braking, q, h, off, parts):
    """Fill for every cell a posture of the tube and how far the others are from it.

    Args:
        cells: (cells, 7) piece, range of the time since it began, range of the share of the speed,
            range of the share of the braking time.
        motion: coefficients (pieces, joints, 6) by rising powers of that time, and (pieces, joints)
            no less than the velocities from which joints brake in a piece, and than what their
            jerks change by while the acceleration falls before.
        braking: the time in which the acceleration falls to zero, in s; (joints,) shortest braking
            times, of joints whose jerk is limited, else 0; (joints,) accelerations.
        q: (cells, joints) the posture in the middle of the ranges.
        h: (cells, joints) largest distances from it.
        off: (cells, joints) the part of them that is left however small the ranges are.
        parts: (cells, 3, joints) widths that the ranges of time, speed and braking time make.
    """
    coefficients, fastest, spans = motion
    release, shortest, acceleration = braking
    joints = coefficients.shape[1]
    speed, bend, moved = np.empty(6), np.empty(6), np.empty(6)
    for cell in range(len(cells)):
        piece = int(cells[cell, 0])
        begin, length = cells[cell, 1], cells[cell, 2] - cells[cell, 1]
        k0, k1, s0, s1 = cells[cell, 3], cells[cell, 4], cells[cell, 5], cells[cell, 6]
        k, s, t = 0.5 * (k0 + k1), 0.5 * (s0 + s1), begin + 0.5 * length
        first = _longest(k0, fastest[piece], shortest, acceleration)
        last = _longest(k1, fastest[piece], shortest, acceleration)
        now = s * _longest(k, fastest[piece], shortest, acceleration)
        for j in range(joints):
            c, u, a = coefficients[piece, j], shortest[j], acceleration[j]
            for i in range(5):
                speed[i] = (i + 1) * c[i + 1]
            for i in range(4):
                bend[i] = (i + 1) * speed[i + 1]
            low, high = _range(c, 5, begin, length, moved)
            v0, v1 = _range(speed, 4, begin, length, moved)
            a0, a1 = _range(bend, 3, begin, length, moved)
            least = v0 - 0.5 * release * max(k0 * a1, k1 * a1)
            most = v1 - 0.5 * release * min(k0 * a0, k1 * a0)
            w, unknown = 0.5 * (least + most), 0.125 * spans[piece, j] * release * release
            whole = _gone_on(k1 * w, s1 * last, u, a)
            faster = _gone_on(k1 * most, s1 * last, u, a) - _gone_on(k1 * least, s1 * last, u, a)
            parts[cell, 0, j] = high - low + faster
            parts[cell, 1, j] = abs(whole - _gone_on(k0 * w, s1 * first, u, a))
            parts[cell, 2, j] = abs(whole - _gone_on(k1 * w, s0 * last, u, a))
            least -= unknown * k1 * k1
            most += unknown * k1 * k1
            # A joint goes on the further, the faster it is and the more time has passed.
            behind = min(
                _gone_on(k1 * least, s1 * last, u, a), _gone_on(k0 * least, s0 * first, u, a)
            )
            ahead = max(_gone_on(k1 * most, s1 * last, u, a), _gone_on(k0 * most, s0 * first, u, a))
            w = k * (_value(speed, 4, t) - 0.5 * release * k * _value(bend, 3, t))
            way, wide = _gone_on(w, now, u, a), unknown * k * k * k
            q[cell, j] = _value(c, 5, t) + way
            h[cell, j] = max(high + ahead - q[cell, j], q[cell, j] - low - behind)
            off[cell, j] = max(
                _gone_on(w + wide, now, u, a) - way, way - _gone_on(w - wide, now, u, a)
            )
