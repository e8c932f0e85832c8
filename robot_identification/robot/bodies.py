"""Rigid bodies: mass, centre of mass and central inertia, and the ten standard parameters.

The inertia matrix holds tensor entries: its off-diagonal ones are XY, XZ, YZ = -(sum of m x y),
and so on, as in a URDF.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.robot.arrays import Array, by_value, checked_vector, read_only
from robot_identification.robot.parameters import LINK_PARAMETERS

_UPPER = np.triu_indices(3)


@by_value
@dataclass(frozen=True)
class Body:
    """A rigid body seen from a frame that is fixed in it.

    Attributes:
        mass: in kg.
        centre: (3,) centre of mass in the frame, in m.
        inertia: (3, 3) inertia about the centre of mass, along the axes of the frame, in kg m^2.
    """

    mass: float
    centre: Array
    inertia: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "mass", float(self.mass))
        object.__setattr__(self, "centre", read_only(self.centre))
        object.__setattr__(self, "inertia", read_only(self.inertia))

    @property
    def standard(self) -> Array:
        """(10,) XX XY XZ YY YZ ZZ MX MY MZ M about the origin of the frame."""
        moment = self.mass * self.centre
        inertia = self.inertia + _shift(self.mass, self.centre)
        return read_only([*inertia[_UPPER], *moment, self.mass])

    def seen_from(self, rotation: Array, translation: Array) -> Body:
        """Return the body in another frame, in which this frame is placed so.

        Args:
            rotation: (3, 3) orientation of this frame in the other.
            translation: (3,) its origin there, in m.
        """
        centre = rotation @ self.centre + translation
        inertia = rotation @ self.inertia @ rotation.T
        return Body(self.mass, centre, (inertia + inertia.T) / 2.0)


def body_of(standard: npt.ArrayLike) -> Body:
    """Return the body that ten standard parameters describe (Gautier and Venture 2013, eq. 36).

    Args:
        standard: (10,) XX XY XZ YY YZ ZZ MX MY MZ M; M must not be 0.

    Raises:
        ShapeError: there are not ten.
    """
    values = checked_vector("standard", standard, LINK_PARAMETERS)
    mass = float(values[9])
    centre = values[6:9] / mass
    return Body(mass, centre, inertia_matrix(values) - _shift(mass, centre))


def inertia_matrix(standard: Array) -> Array:
    """Return the (3, 3) inertia about the origin from standard parameters XX XY XZ YY YZ ZZ ...."""
    inertia = np.zeros((3, 3))
    inertia[_UPPER] = standard[:6]
    return inertia + np.triu(inertia, 1).T


def pseudo_inertia(standard: npt.ArrayLike) -> Array:
    """Return the (4, 4) pseudo-inertia of ten standard parameters.

    It is positive definite exactly where the mass is positive, the central inertia is positive
    definite and its principal moments obey the triangle inequality.

    Args:
        standard: (10,) XX XY XZ YY YZ ZZ MX MY MZ M.
    """
    values = np.asarray(standard, dtype=np.float64)
    inertia = inertia_matrix(values)
    pseudo = np.empty((4, 4))
    pseudo[:3, :3] = np.trace(inertia) / 2.0 * np.eye(3) - inertia
    pseudo[:3, 3] = pseudo[3, :3] = values[6:9]
    pseudo[3, 3] = values[9]
    return pseudo


def _shift(mass: float, centre: Array) -> Array:
    """Return what the distance of the centre of mass adds to the inertia about the origin."""
    return np.asarray(mass * (centre @ centre * np.eye(3) - np.outer(centre, centre)))
