"""Boxes that must hold the centres of mass of links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from robot_identification.errors import SettingError
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.model import RobotModel

Corners = tuple[Array, Array]
"""Lower and upper corner, (3,) each, in the frame of the joint that moves the link and in m."""


@by_value
@dataclass(frozen=True)
class Box:
    """A box in a frame that is fixed in a link, such as that of the link in a URDF.

    Attributes:
        lower, upper: (3,) its corners in that frame, in m.
        rotation: (3, 3) orientation of the frame in that of the joint that moves the link.
        translation: (3,) its origin there, in m.
    """

    lower: Array
    upper: Array
    rotation: Array
    translation: Array

    def __post_init__(self) -> None:
        for name in ("lower", "upper", "rotation", "translation"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def seen(self, centre: Array) -> Array:
        """Return a (3,) point of the joint's frame in the frame of the box."""
        return np.asarray(self.rotation.T @ (centre - self.translation))

    def bounds(self) -> Iterator[tuple[Array, float]]:
        """Yield (3,) a and b of each side: a . MS + b M is not negative where it holds the centre.

        The first three are of the lower corner.
        """
        origin = self.rotation.T @ self.translation
        for axis in range(3):
            yield self.rotation[:, axis], float(-origin[axis] - self.lower[axis])
        for axis in range(3):
            yield -self.rotation[:, axis], float(origin[axis] + self.upper[axis])


Boxes = Mapping[str, Corners | Box]
"""Link -> box that must hold its centre of mass."""


def checked_boxes(robot: RobotModel, boxes: Boxes) -> dict[str, Box]:
    """Return boxes by link; corners are in the frame of the joint that moves it.

    Raises:
        SettingError: there is no such link, or corners are none.
    """
    links = [joint.link for joint in robot.joints]
    found = {}
    for link, given in boxes.items():
        if link not in links:
            raise SettingError("box", link, f"no such link; links are {', '.join(links)}")
        lower, upper = (given.lower, given.upper) if isinstance(given, Box) else given
        low, high = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
        if low.shape != (3,) or high.shape != (3,) or not (low < high).all():
            raise SettingError("box", link, "three lower corners below three upper ones, in m")
        found[link] = given if isinstance(given, Box) else Box(low, high, np.eye(3), np.zeros(3))
    return found
