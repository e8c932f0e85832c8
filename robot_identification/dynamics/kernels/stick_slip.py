"""Stick and slip of joints in one step of the simulation: exact Coulomb friction.

Every Coulomb element takes a constant force ``slip`` times its sliding force over a step, with slip
in [-1, 1]:

- the element slides through the whole step: slip is the sign of its velocity, exactly;
- it can be brought to rest, or held there: slip is the value that makes its velocity zero at the
  end of the step;
- it reverses: slip is the mean of the two signs, weighted by the time spent before and after.

These conditions couple the elements through the mass matrix; a projected Gauss-Seidel iteration
solves them (Moreau's time stepping).
"""

from __future__ import annotations

import numpy as np

from robot_identification.compiled import INLINED, compiled
from robot_identification.dynamics.kernels.direct import solve

_SWEEPS = 200
_SLIP_TOLERANCE = 1e-12


@compiled(**INLINED)
def solve_slip(start, end, response, slip):
    """Solve for the slip of all friction elements.

    Args:
        start: (elements,) velocities at the start of the step.
        end: (elements,) velocities at its end if no element acted.
        response: (elements, elements) velocity that the sliding force of element f takes from
            element e over the step.
        slip: (elements,) first guess on entry, solution on return.
    """
    for _ in range(_SWEEPS):
        change = 0.0
        for e in range(slip.size):
            own = response[e, e]
            free = end[e]
            for f in range(slip.size):
                if f != e:
                    free -= response[e, f] * slip[f]
            low, high = -1.0, 1.0
            if not own > 0.0:
                low = high = np.sign(start[e])
            elif start[e] > 0.0:
                low = 1.0
                if free < own:
                    low = 2.0 * start[e] / (start[e] - free + own) - 1.0
            elif start[e] < 0.0:
                high = -1.0
                if free > -own:
                    high = 1.0 - 2.0 * start[e] / (start[e] - free - own)
            value = low if high <= low else min(max(free / own, low), high)
            change = max(change, abs(value - slip[e]))
            slip[e] = value
        if change <= _SLIP_TOLERANCE:
            return


@compiled(**INLINED)
def responses(plant, action, factors, step, give, response):
    """Fill give (elements, joints), what elements take from joint velocities, and response."""
    for e in range(give.shape[0]):
        for j in range(give.shape[1]):
            give[e, j] = step * action[e, j]
        solve(factors, give[e])
    for e in range(give.shape[0]):
        for f in range(give.shape[0]):
            response[e, f] = 0.0
            for j in range(give.shape[1]):
                response[e, f] += plant.motion[e, j] * give[f, j]
