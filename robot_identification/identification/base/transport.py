"""Inertial parameters of a rigid body in another frame, for numbers and for symbols alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

# Numbers are float arrays; symbols are object arrays of polynomials.
Values = Any

_TENSOR = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def transported(
    tensor: Values, first_moments: Values, mass: Values, rotation: Values, origin: Values
) -> list[Values]:
    """Return the ten inertial parameters of a body in the frame that carries its own.

    Args:
        tensor: (3, 3) inertia tensor at the origin of the body's frame and in it.
        first_moments: (3,) mass times centre of mass.
        mass: mass.
        rotation: (3, 3) orientation of the body's frame in the other frame.
        origin: (3,) origin of the body's frame in the other frame.

    Returns:
        XX XY XZ YY YZ ZZ MX MY MZ M in the other frame.
    """
    turned = rotation @ tensor @ rotation.T
    moments = rotation @ first_moments
    square = 2 * (origin @ moments) + mass * (origin @ origin)
    result = []
    for i, k in _TENSOR:
        moved = turned[i, k] - origin[i] * moments[k] - moments[i] * origin[k]
        moved = moved - mass * (origin[i] * origin[k])
        result.append(moved + square if i == k else moved)
    return [*result, *(moments + mass * origin), mass]


def unit_body(*entries: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], float]:
    """Return tensor, first moments and mass of a body with the given parameters equal to 1.

    Args:
        entries: places among XX XY XZ YY YZ ZZ MX MY MZ M.
    """
    tensor, moments, mass = np.zeros((3, 3)), np.zeros(3), 0.0
    for entry in entries:
        if entry < len(_TENSOR):
            i, k = _TENSOR[entry]
            tensor[i, k] = tensor[k, i] = 1.0
        elif entry < 9:
            moments[entry - 6] = 1.0
        else:
            mass = 1.0
    return tensor, moments, mass


def carried(entries: Sequence[int], rotation: Values, origin: Values) -> list[Values]:
    """Return :func:`transported` of :func:`unit_body`."""
    return transported(*unit_body(*entries), rotation, origin)
