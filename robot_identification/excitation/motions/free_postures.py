"""Postures in which the robot touches nothing."""

from __future__ import annotations

import numpy as np

from robot_identification.collision.model import CollisionModel
from robot_identification.errors import NotCertifiedError
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.robot.model import Array

WIDEST_UNIT = np.pi
"""Distances of joints are told in half their position range, or in this many rad or m if less."""

_ROOM = 0.05
"""Distance in m beyond the clearance that a posture to start from has, where that can be.

Bodies of some robots are nearer than that wherever the joints are; then it is a share of the room
that the best posture has.
"""

_OF_BEST = 0.5

_NEAR, _ANYWHERE = 2000, 2000  # random postures
_SHARE = 0.8  # of the position ranges, around their middle


def nearest_free(
    collisions: CollisionModel, limits: MotionLimits, wanted: Array, off: Array
) -> Array:
    """Return a posture, or the free one nearest to it among many random ones.

    Near is what is near in shares of half the position ranges, or of half a turn where that is
    less.  Half of the random postures are spread around the wanted one, denser towards it: of a
    joint that turns more than once, a posture that is found far away may be one turn off, and the
    floor be in the way there.

    Args:
        collisions: what the robot must not touch.
        limits: of the positions.
        wanted: (joints,) the posture, in rad or m.
        off: (joints,) by how much the robot may be off it.

    Raises:
        NotCertifiedError: none is free.
    """
    unit = np.minimum(limits.half_range, WIDEST_UNIT)
    postures = np.vstack([wanted, _around(limits, wanted, unit), _anywhere(limits)])
    away = np.linalg.norm((postures - wanted) / unit, axis=1)
    postures = postures[np.argsort(away, kind="stable")]
    clear = collisions.check.margins(postures, off, collisions.clearance + _ROOM)
    room = float(clear.max()) - collisions.clearance
    if room < 0.0:
        raise NotCertifiedError(
            "obstacles",
            f"no posture is farther than {collisions.clearance:g} m from everything: of "
            f"{_NEAR + _ANYWHERE} random ones the best has {clear.max():.4f} m; look at the cell "
            "file and at the pairs that are checked (excite --view)",
        )
    least = collisions.clearance + (room if room >= _ROOM else _OF_BEST * room)
    return np.array(postures[np.flatnonzero(clear >= least)[0]])


def _around(limits: MotionLimits, wanted: Array, unit: Array) -> Array:
    """Return random postures (postures, joints) at distances up to a unit, all alike in number."""
    rng, edge = np.random.default_rng(1), _SHARE * limits.half_range
    reach = np.linspace(0.0, 1.0, _NEAR + 1)[1:, None] * unit
    drawn = wanted + reach * rng.uniform(-1.0, 1.0, (_NEAR, len(wanted)))
    return np.clip(drawn, limits.middle - edge, limits.middle + edge)


def _anywhere(limits: MotionLimits) -> Array:
    """Return random postures (postures, joints) in the position ranges."""
    rng = np.random.default_rng(0)
    drawn = rng.uniform(-_SHARE, _SHARE, (_ANYWHERE, len(limits.middle)))
    return np.array(limits.middle + limits.half_range * drawn)
