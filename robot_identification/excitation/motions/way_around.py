"""A way around obstacles: a few postures between two, found by sampling (RRT-Connect).

Kuffner and LaValle, "RRT-Connect", ICRA 2000.  What is found here is only proposed: a certificate
decides over the motion that is made of it.
"""

from __future__ import annotations

import numpy as np

from robot_identification.collision.model import CollisionModel
from robot_identification.errors import NotCertifiedError
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.robot.arrays import Array

WIDEST_UNIT = np.pi
"""Distances of joints are told in half their position range, or in this many rad or m if less."""

_POSTURE_ROOM = 0.05
"""Distance in m beyond the clearance that a posture to start from has, where that can be.

Bodies of some robots are nearer than that wherever the joints are; then it is a share of the room
that the best posture has.
"""

_OF_BEST = 0.5

_NEAR, _FAR = 2000, 2000  # random postures
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
    within = collisions.clearance + _POSTURE_ROOM
    clear = collisions.check.margins(postures, off, collisions.clearance, within)
    room = float(clear.max()) - collisions.clearance
    if room < 0.0:
        best = collisions.check.nearest(np.zeros(1), postures[[int(np.argmax(clear))]])
        pair: tuple[str, ...] = () if best is None else best.pair
        between = f" between {pair[0]} and {pair[1]}" if pair else ""
        raise NotCertifiedError(
            "obstacles",
            f"no posture is farther than {collisions.clearance:g} m from everything: of "
            f"{_NEAR + _FAR} random ones the best has {clear.max():.4f} m{between}; "
            f"{_what_to_do(collisions, pair)}",
        )
    least = collisions.clearance + (room if room >= _POSTURE_ROOM else _OF_BEST * room)
    return np.array(postures[np.flatnonzero(clear >= least)[0]])


def _what_to_do(collisions: CollisionModel, pair: tuple[str, ...]) -> str:
    """Return what to do where the two of a pair are too near wherever the joints are."""
    if collisions.assumed_floor and collisions.assumed_floor in pair:
        return (
            f"that {collisions.assumed_floor}, the plane of the base, is assumed: where the robot "
            "does not stand on it, say mounting (none, ceiling, {wall: x} or {pedestal: HEIGHT}) "
            "in a cell file or in the section cell of the robot file"
        )
    return "look at what the cell file says of these: mounting, shapes, clearance"


def _around(limits: MotionLimits, wanted: Array, unit: Array) -> Array:
    """Return random postures (postures, joints) at distances up to a unit, all alike in number."""
    rng, edge = np.random.default_rng(1), _SHARE * limits.half_range
    reach = np.linspace(0.0, 1.0, _NEAR + 1)[1:, None] * unit
    drawn = wanted + reach * rng.uniform(-1.0, 1.0, (_NEAR, len(wanted)))
    return np.clip(drawn, limits.middle - edge, limits.middle + edge)


def _anywhere(limits: MotionLimits) -> Array:
    """Return random postures (postures, joints) in the position ranges."""
    rng = np.random.default_rng(0)
    drawn = rng.uniform(-_SHARE, _SHARE, (_FAR, len(limits.middle)))
    return np.array(limits.middle + limits.half_range * drawn)


_ROOM = 0.005
"""Distance in m beyond the clearance that postures of the way have, if both ends have it."""

_STEP = 0.15  # length of a branch, in units of half the position ranges or half a turn
_CHECKED = 0.02  # distance of the postures that are checked on it
_ASIDE = 0.5  # how far beyond the two ends most places are drawn
_ANYWHERE = 0.2  # share of the places that are drawn from the whole ranges
_MOST = 8000  # branches
_SHORTCUTS = 150


class _Tree:
    """Postures that are reached from one end."""

    def __init__(self, root: Array) -> None:
        self.places, self.parents = [root], [-1]

    def nearest(self, place: Array) -> int:
        away = np.linalg.norm(np.array(self.places) - place, axis=1)
        return int(np.argmin(away))

    def add(self, place: Array, parent: int) -> int:
        self.places.append(place)
        self.parents.append(parent)
        return len(self.places) - 1

    def path(self, index: int) -> list[Array]:
        """Return the way from a place back to the root."""
        found = []
        while index >= 0:
            found.append(self.places[index])
            index = self.parents[index]
        return found


class _Search:
    """Test whether the robot is free; places are postures in units of a measure."""

    def __init__(
        self, collisions: CollisionModel, limits: MotionLimits, off: Array, postures: Array
    ) -> None:
        self._collisions, self._off = collisions, off
        self._middle, self._unit = limits.middle, np.minimum(limits.half_range, WIDEST_UNIT)
        self.ends = (postures - self._middle) / self._unit
        edge = limits.half_range / self._unit
        self._everywhere = -edge, edge
        self._near = (
            np.maximum(self.ends.min(axis=0) - _ASIDE, -edge),
            np.minimum(self.ends.max(axis=0) + _ASIDE, edge),
        )
        least = float(self._margins(self.ends, collisions.clearance + _ROOM).min())
        self._wanted = max(least - 1e-9, collisions.clearance)
        self._rng = np.random.default_rng(0)

    def postures(self, places: Array) -> Array:
        """Return postures in rad or m."""
        return self._middle + self._unit * places

    def drawn(self) -> Array:
        """Return a random place, mostly one that is not far from the ends.

        Joints that turn more than once have many places far away that lead nowhere.
        """
        anywhere = self._rng.random() < _ANYWHERE
        return self._rng.uniform(*(self._everywhere if anywhere else self._near))

    def _margins(self, places: Array, within: float) -> Array:
        least = self._collisions.clearance
        return self._collisions.check.margins(self.postures(places), self._off, least, within)

    def free(self, begin: Array, end: Array) -> bool:
        """Tell whether the postures on the straight way to an end are free."""
        count = max(2, int(np.ceil(np.linalg.norm(end - begin) / _CHECKED)) + 1)
        places = begin + np.linspace(0.0, 1.0, count)[1:, None] * (end - begin)
        return bool((self._margins(places, self._wanted) >= self._wanted).all())

    def extended(self, tree: _Tree, target: Array) -> tuple[int, bool]:
        """Grow a tree towards a target; return the place reached, -1 for none, and whether there.

        A single branch; RRT-Connect repeats it as long as it goes on.
        """
        near = tree.nearest(target)
        way = target - tree.places[near]
        length = float(np.linalg.norm(way))
        there = length <= _STEP
        place = target if there else tree.places[near] + way * (_STEP / length)
        if not self.free(tree.places[near], place):
            return -1, False
        return tree.add(place, near), there

    def connected(self, tree: _Tree, target: Array) -> int:
        """Grow a tree until it is at a target; return its place there, -1 where that fails."""
        while True:
            reached, there = self.extended(tree, target)
            if reached < 0 or there:
                return reached

    def shortened(self, path: list[Array]) -> list[Array]:
        """Return a path without the detours that random shortcuts find."""
        for _ in range(_SHORTCUTS):
            if len(path) < 3:
                break
            i, j = sorted(self._rng.choice(len(path), 2, replace=False))
            if j - i > 1 and self.free(path[i], path[j]):
                path = [*path[: i + 1], *path[j:]]
        return path


def way_around(
    collisions: CollisionModel, limits: MotionLimits, off: Array, begin: Array, end: Array
) -> Array | None:
    """Return postures on a way between two that touches nothing, both ends included.

    Args:
        collisions: what the robot must not touch.
        limits: of the positions.
        off: (joints,) by how much the robot may be off its reference, in rad or m.
        begin: (joints,) where it stands, in rad or m.
        end: (joints,) where it is to go.

    Returns:
        (postures, joints) in rad or m; None where no way was found.
    """
    search = _Search(collisions, limits, off, np.array([begin, end]))
    first, last = search.ends
    if not (search.free(first, first) and search.free(last, last)):
        return None
    own, other, turned = _Tree(first), _Tree(last), False
    for _ in range(_MOST):
        reached, _ = search.extended(own, search.drawn())
        if reached >= 0:
            met = search.connected(other, own.places[reached])
            if met >= 0:
                path = own.path(reached)[::-1] + other.path(met)[1:]
                path = search.shortened(path[::-1] if turned else path)
                postures = search.postures(np.array(path))
                postures[0], postures[-1] = begin, end  # to the last digit
                return postures
        own, other, turned = other, own, not turned
    return None
