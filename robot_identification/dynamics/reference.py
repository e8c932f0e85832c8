"""The reference of a closed loop: pieces of polynomials of degree five, one set per joint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from robot_identification.dynamics.tree import Floats
from robot_identification.errors import ShapeError

DEGREE = 5
_POWERS = np.arange(DEGREE + 1.0)


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


def through(times: npt.ArrayLike, positions: npt.ArrayLike) -> Reference:
    """Return the cubic spline through sampled positions.

    Args:
        times: (samples,) strictly increasing, in s; at least two.
        positions: (samples, joints) in rad or m.

    Raises:
        ShapeError: if the arrays do not fit, or there are fewer than two samples.
    """
    knots = np.array(times, dtype=np.float64)
    values = np.asarray(positions, dtype=np.float64)
    if knots.ndim != 1 or len(knots) < 2:
        raise ShapeError("times", knots.shape, "(2 or more,)")
    if values.ndim != 2 or len(values) != len(knots):
        raise ShapeError("positions", values.shape, f"({len(knots)}, joints)")
    spline = scipy.interpolate.CubicSpline(knots, values)
    coefficients = np.zeros((len(knots) - 1, values.shape[1], DEGREE + 1))
    coefficients[:, :, : len(spline.c)] = np.moveaxis(spline.c[::-1], 0, 2)
    return Reference(knots, coefficients)


def in_sequence(parts: Sequence[tuple[float, Reference]]) -> Reference:
    """Return references that replace one another, each from its start on.

    Between the end of one and the start of the next the reference stands still.

    Args:
        parts: starts in s, in rising order, and what begins there at its own time 0.

    Raises:
        ShapeError: if there is no part.
    """
    if not parts:
        raise ShapeError("parts", (0,), "(1 or more,)")
    knots: list[Floats] = []
    coefficients: list[Floats] = []
    for i, (start, part) in enumerate(parts):
        until = parts[i + 1][0] if i + 1 < len(parts) else np.inf
        own = part.knots + start
        used = np.flatnonzero(own[:-1] < until)
        knots.append(own[used])
        coefficients.append(part.coefficients[used])
        if own[-1] < until:
            end = sample(part, part.knots[-1:])[0]
            knots.append(own[-1:])
            coefficients.append(hold(end[0]).coefficients)
    last = max(knots[-1][-1], parts[-1][0])
    return Reference(np.append(np.concatenate(knots), last), np.concatenate(coefficients))


def sample(reference: Reference, times: npt.ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Return positions, velocities and accelerations (samples, joints) of a reference.

    Args:
        reference: what to evaluate.
        times: (samples,) on the clock of its knots, in s.
    """
    wanted = np.atleast_1d(np.asarray(times, dtype=np.float64))
    knots, coefficients, _, _ = reference
    piece = np.clip(np.searchsorted(knots, wanted, side="right") - 1, 0, len(coefficients) - 1)
    u = (np.clip(wanted, knots[0], knots[-1]) - knots[piece])[:, None]
    moving = ((wanted >= knots[0]) & (wanted < knots[-1]))[:, None]
    c = coefficients[piece]
    position = np.zeros(c.shape[:2])
    velocity, acceleration = np.zeros_like(position), np.zeros_like(position)
    for power in range(DEGREE, -1, -1):
        acceleration = acceleration * u + 2.0 * velocity
        velocity = velocity * u + position
        position = position * u + c[..., power]
    return position, np.where(moving, velocity, 0.0), np.where(moving, acceleration, 0.0)


def position_at(reference: Reference, time: float) -> Floats:
    """Return the (joints,) positions of a reference at one time, as :func:`sample` does.

    Args:
        reference: what to evaluate.
        time: on the clock of its knots, in s.
    """
    knots, coefficients, _, _ = reference
    within = min(max(time, knots[0]), knots[-1])
    piece = min(max(int(knots.searchsorted(time, side="right")) - 1, 0), len(coefficients) - 1)
    position: Floats = coefficients[piece] @ (within - knots[piece]) ** _POWERS
    return position
