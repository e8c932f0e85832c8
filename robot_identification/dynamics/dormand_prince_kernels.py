"""Compiled method of Dormand and Prince of order 5(4): tables, local error, state inside a step.

J. R. Dormand and P. J. Prince, "A family of embedded Runge-Kutta formulae", 1980.  The polynomial
of order 4 inside a step needs no further stage.
"""

from __future__ import annotations

import numpy as np

from robot_identification.compiled import compiled
from robot_identification.dynamics.compiler_options import INLINED, OPTIONS, PART

STAGES = 7
NODES = np.array([0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0])
WEIGHTS = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1 / 5, 0.0, 0.0, 0.0, 0.0, 0.0],
        [3 / 40, 9 / 40, 0.0, 0.0, 0.0, 0.0],
        [44 / 45, -56 / 15, 32 / 9, 0.0, 0.0, 0.0],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0.0, 0.0],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0.0],
        [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ]
)
ERROR = np.array([71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])
# The polynomial inside a step (L. F. Shampine, "Some practical Runge-Kutta formulas", 1986).
INSIDE = np.array(
    [
        -12715105075 / 11282082432,
        0.0,
        87487479700 / 32700410799,
        -10690763975 / 1880347072,
        701980252875 / 199316789632,
        -1453857185 / 822651844,
        69997945 / 29380423,
    ]
)
SAFETY, SMALLEST_FACTOR, LARGEST_FACTOR = 0.9, 0.2, 5.0
GAIN, MEMORY = 0.17, 0.04


@compiled(**PART)
def largest_error(step, y, scratch):
    """Return the largest local error of the state, each relative to 1 + its size."""
    largest = 0.0
    for i in range(y.size):
        error = 0.0
        for s in range(STAGES):
            error += ERROR[s] * scratch.slopes[s, i]
        size = 1.0 + max(abs(y[i]), abs(scratch.trial[i]))
        error = abs(step * error) / size
        if not np.isfinite(error):
            return np.inf
        largest = max(largest, error)
    return largest


@compiled(**PART)
def prepare_inside(step, y, scratch):
    """Fill the polynomial of the state inside a step."""
    inside, slopes = scratch.inside, scratch.slopes
    for i in range(y.size):
        change = scratch.trial[i] - y[i]
        first = step * slopes[0, i] - change
        total = 0.0
        for s in range(STAGES):
            total += INSIDE[s] * slopes[s, i]
        inside[0, i] = y[i]
        inside[1, i] = change
        inside[2, i] = first
        inside[3, i] = change - step * slopes[STAGES - 1, i] - first
        inside[4, i] = step * total


@compiled(**INLINED)
def blend(c0, c1, c2, c3, c4, u):
    """Return the polynomial inside a step at a share u of it."""
    w = 1.0 - u
    return c0 + u * (c1 + w * (c2 + u * (c3 + w * c4)))


@compiled(**INLINED)
def state_inside(inside, u, out):
    """Fill the state at a share u of the step."""
    for i in range(out.size):
        out[i] = blend(inside[0, i], inside[1, i], inside[2, i], inside[3, i], inside[4, i], u)


@compiled(**OPTIONS)
def next_step(step, taken, share, memory):
    """Return the next step and what the controller of steps remembers.

    Args:
        step: the step that was wanted.
        taken: the step that was tried, shorter where something cut it.
        share: its largest error as a share of the tolerance.
        memory: that of the step before.
    """
    share = max(share, 1e-10)
    growth = SAFETY * share**-GAIN * memory**MEMORY
    following = taken * min(max(growth, SMALLEST_FACTOR), LARGEST_FACTOR)
    if taken < step:
        following = max(following, step)
    return following, max(share, 1e-4)
