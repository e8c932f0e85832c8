"""Workspace of the tool point: a box in the base frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Workspace:
    """A box that the tool point must not leave.

    Attributes:
        lower: smallest coordinates in the base frame, in m.
        upper: largest coordinates.
        tool: the tool point in the frame of the last joint, in m.
    """

    lower: tuple[float, float, float]
    upper: tuple[float, float, float]
    tool: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def contains(self, last_frame: FloatArray) -> npt.NDArray[np.bool_]:
        """Tell for every frame (samples, 4, 4) of the last joint whether the tool is inside."""
        place = last_frame[..., :3, :3] @ np.array(self.tool) + last_frame[..., :3, 3]
        inside: npt.NDArray[np.bool_] = ((place >= self.lower) & (place <= self.upper)).all(axis=-1)
        return inside
