"""Postures in which the robot touches nothing."""

from __future__ import annotations

import numpy as np

from robot_identification.collision.model import CollisionModel
from robot_identification.errors import NotCertifiedError
from robot_identification.excitation.limits import MotionLimits
from robot_identification.robot.model import Array

_ROOM = 0.05
"""Distance in m beyond the clearance that a posture to start from has, where that can be.

Bodies of some robots are nearer than that wherever the joints are; then it is a share of the room
that the best posture has.
"""

_OF_BEST = 0.5

_DRAWN = 3000
_SHARE = 0.8  # of the position ranges, around their middle


def nearest_free(
    collisions: CollisionModel, limits: MotionLimits, wanted: Array, off: Array
) -> Array:
    """Return a posture, or the free one nearest to it among many random ones.

    Near is what is near in shares of the position ranges.

    Args:
        collisions: what the robot must not touch.
        limits: of the positions.
        wanted: (joints,) the posture, in rad or m.
        off: (joints,) by how much the robot may be off it.

    Raises:
        NotCertifiedError: none is free.
    """
    rng = np.random.default_rng(0)
    drawn = rng.uniform(-_SHARE, _SHARE, (_DRAWN, len(wanted)))
    postures = np.vstack([wanted, limits.middle + limits.half_range * drawn])
    away = np.linalg.norm((postures - wanted) / limits.half_range, axis=1)
    postures = postures[np.argsort(away, kind="stable")]
    clear = collisions.check.margins(postures, off, collisions.clearance + _ROOM)
    room = float(clear.max()) - collisions.clearance
    if room < 0.0:
        raise NotCertifiedError(
            "obstacles",
            f"no posture is farther than {collisions.clearance:g} m from everything: of "
            f"{_DRAWN} random ones the best has {clear.max():.4f} m; look at the cell file and at "
            "the pairs that are checked (excite --view)",
        )
    least = collisions.clearance + (room if room >= _ROOM else _OF_BEST * room)
    return np.array(postures[np.flatnonzero(clear >= least)[0]])
