"""What a closed loop follows: pieces of polynomials of degree five, one set per joint."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.tree import Floats

DEGREE = 5


class Reference(NamedTuple):
    """A piecewise polynomial, tied to the clock of a simulation.

    The time of the reference is ``lead`` at the control step ``origin``.  Before the first knot
    and after the last one it stands still where the polynomials begin and end.

    Attributes:
        knots: (pieces + 1,) times at which the pieces begin and end, in s.
        coefficients: (pieces, joints, 6) by rising powers of the time since the piece began.
        origin: control step of the simulation.
        lead: time of the reference at that step, in s.
    """

    knots: Floats
    coefficients: Floats
    origin: int = 0
    lead: float = 0.0


def hold(position: npt.ArrayLike) -> Reference:
    """Return the reference that stands still at a position (joints,)."""
    place = np.atleast_1d(np.asarray(position, dtype=np.float64))
    coefficients = np.zeros((1, place.size, DEGREE + 1))
    coefficients[0, :, 0] = place
    return Reference(knots=np.zeros(2), coefficients=coefficients)
