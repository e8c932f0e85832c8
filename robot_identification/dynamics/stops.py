"""Where a reference jumps, so that an integration must end a step there."""

from __future__ import annotations

import math

import numpy as np

from robot_identification.dynamics.reference import DEGREE, Reference
from robot_identification.dynamics.tree import Floats
from robot_identification.robot.model import Array

_JUMP = 1e-9
_CLOSE = 5e-3
_ORDERS = 4


def stops_of(reference: Reference, start: float, end: float) -> Floats:
    """Return the times between ``start`` and ``end``, and ``end`` itself, where a step must end.

    These are the knots at which position, velocity or acceleration jumps, and those at which the
    jerk does, unless a neighbour is closer than 5 ms: then the control of the step deals with it.

    Args:
        reference: what is followed; it stands still outside of its knots.
        start: begin of the integration on the clock of the reference, in s.
        end: end of it.
    """
    knots = reference.knots
    jumps = np.zeros((_ORDERS, len(knots)))
    jumps[:, [0, -1]] = 1.0
    jumps[:, 1:-1] = _jumps(knots, np.moveaxis(reference.coefficients, 2, 0))
    gaps = np.concatenate([[np.inf], np.diff(knots), [np.inf]])
    spacing = np.minimum(gaps[:-1], gaps[1:])
    must = (jumps[:3] > _JUMP).any(axis=0) | ((jumps[3] > _JUMP) & (spacing >= _CLOSE))
    return np.append(knots[must & (knots > start) & (knots < end)], end)


def _jumps(knots: Array, c: Array) -> Array:
    """Return (4, inner knots) jumps of position, velocity, acceleration and jerk.

    Args:
        knots: (pieces + 1,) times.
        c: (6, pieces, joints) coefficients by rising powers.
    """
    u = np.diff(knots)[:-1, None]
    jumps = np.zeros((_ORDERS, len(knots) - 2))
    for order in range(_ORDERS):
        before = np.zeros(c[0, 1:].shape)
        for power in range(DEGREE, order - 1, -1):
            before = before * u + math.perm(power, order) * c[power, :-1]
        after = math.factorial(order) * c[order, 1:]
        size = 1.0 + np.abs(after).max(initial=0.0)
        jumps[order] = np.abs(after - before).max(axis=1, initial=0.0) / size
    return jumps
