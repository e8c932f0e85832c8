"""Compiled functions that joint terms and couplings multiply, by the code of their kind.

A code that is not negative is the p of sign(v) |v|^p: 0 Coulomb friction, 1 viscous friction.
"""

from __future__ import annotations

import numpy as np

from robot_identification.compiled import compiled
from robot_identification.dynamics.kernels.frames import INLINED, OPTIONS

ACCELERATION, ONE, COULOMB, VISCOUS = -2, -1, 0, 1


@compiled(**INLINED)
def signed_power(rate, power):
    """Return sign(v) |v|^p of a velocity for p = 0, 1, 2 and so on."""
    if power == 0:
        return np.sign(rate)
    value = rate
    for _ in range(power - 1):
        value *= abs(rate)
    return value


@compiled(**OPTIONS)
def joint_rows(codes, qd, qdd, slots, block, out):
    """Fill the wanted columns of the terms of a joint for one block of samples.

    Args:
        codes: (terms,) what each term multiplies.
        qd: (samples,) velocities of the joint in the block.
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
        else:
            for t in range(row.size):
                row[t] = signed_power(qd[t], codes[i])
