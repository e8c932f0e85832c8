"""Compiled functions that joint terms and couplings multiply, by the code of their kind.

A code that is not negative is the p of sign(v) |v|^p: 0 Coulomb friction, 1 viscous friction.
Codes from MAGNITUDE to STRIBECK are other functions of the rate, some with shape parameters.  What
load-dependent friction follows is known to callers only, who fill its rows.
"""

from __future__ import annotations

import math

import numpy as np

from robot_identification.compiled import compiled
from robot_identification.dynamics.kernels.frames import INLINED, OPTIONS

ACCELERATION, ONE, COULOMB, VISCOUS = -2, -1, 0, 1
MAGNITUDE, ROOT, SMOOTH, STRIBECK = -6, -5, -4, -3
POSITION, LOAD, GRAVITY_LOAD = -7, -8, -9
SHAPES = 2
"""Shape parameters that a function has at most."""


@compiled(**INLINED)
def signed_power(rate, power):
    """Return sign(v) |v|^p of a velocity for p = 0, 1, 2 and so on."""
    if power == 0:
        return np.sign(rate)
    value = rate
    for _ in range(power - 1):
        value *= abs(rate)
    return value


@compiled(**INLINED)
def of_rate(code, rate, first, second):
    """Return a function of a rate by its code.

    Args:
        code: not negative, or from MAGNITUDE to STRIBECK.
        rate: velocity.
        first: shape parameter: the speed of a smooth sign, or of Stribeck's law.
        second: the exponent of Stribeck's law.
    """
    if code >= 0:
        return signed_power(rate, code)
    if code == MAGNITUDE:
        return abs(rate)
    if code == ROOT:
        return np.sign(rate) * math.sqrt(abs(rate))
    if code == SMOOTH:
        return math.tanh(rate / first)
    return np.sign(rate) * math.exp(-((abs(rate) / first) ** second))


@compiled(**OPTIONS)
def joint_rows(codes, shapes, q, qd, qdd, slots, block, out):
    """Fill the wanted columns of the terms of a joint for one block of samples.

    Args:
        codes: (terms,) what each term multiplies.
        shapes: (terms, SHAPES) shape parameters.
        q: (samples,) positions of the joint in the block.
        qd: (samples,) velocities.
        qdd: (samples,) accelerations.
        slots: (terms,) rows of ``out``; -1 where a column is not wanted.
        block: slice of the samples.
        out: (rows, samples) result.
    """
    for i in range(codes.size):
        if slots[i] < 0:
            continue
        row = out[slots[i], block]
        if codes[i] == ACCELERATION:
            row[:] = qdd
        elif codes[i] == ONE:
            row[:] = 1.0
        elif codes[i] == VISCOUS:
            row[:] = qd
        elif codes[i] == COULOMB:
            for t in range(row.size):
                row[t] = np.sign(qd[t])
        elif codes[i] == POSITION:
            row[:] = q
        elif codes[i] <= LOAD:
            row[:] = 0.0
        else:
            for t in range(row.size):
                row[t] = of_rate(codes[i], qd[t], shapes[i, 0], shapes[i, 1])
