"""Lower bounds of the distance of two bodies over the positions of the one or two joints between.

Neighbouring links of a wrist are near each other in every posture, and a motion passes the same
positions of these joints again and again, above all while braking from everywhere on it.  Their
distance depends on these positions alone, so that it is bounded once: over cells of the positions,
each cut into halves along every joint where its bound is not enough and somebody asks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np
import numpy.typing as npt

from robot_identification.collision.arrays import SceneArrays
from robot_identification.collision.scene import Indices
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel

_MOST_JOINTS = 2
_TURN = 2.0 * np.pi  # rad; covered of joints without limits
_BEYOND = 0.2  # rad or m; robots may be off their reference
_DEPTH = 11  # halvings of a range of positions
_MOST_CELLS = 100_000
_NONE = -1

Bounds = Callable[[Array, Array], tuple[Array, Array]]
"""From centres (cells, joints) and half widths (joints,) of cells to the distances at the centres
and lower bounds of those in the cells, each (cells,) in m."""

Around = Callable[[Array, Array, Indices], tuple[Array, Array]]
""":meth:`robot_identification.collision.clearance.ClearanceCheck.bounds`."""


class PairMaps:
    """The maps of the pairs of a scene, each made when it is first asked.

    Args:
        robot: the robot.
        arrays: robot and scene.
        around: distances of pairs at postures, and bounds around these.
    """

    def __init__(self, robot: RobotModel, arrays: SceneArrays, around: Around) -> None:
        self._robot, self._arrays, self._around = robot, arrays, around
        between = [len(arrays.between(pair)) for pair in range(len(arrays.pairs))]
        self._known = np.array([0 < count <= _MOST_JOINTS for count in between], dtype=np.bool_)
        self._maps: dict[int, PairMap] = {}

    def knows(self, pairs: Indices) -> npt.NDArray[np.bool_]:
        """Tell which (rows,) pairs have so few joints between that there is a map of them."""
        return self._known[pairs]

    def prove(
        self, posture: Array, spread: Array, pairs: Indices, wanted: float
    ) -> npt.NDArray[np.bool_]:
        """Tell (rows,) whether a pair keeps a distance; not, where there is no map of it.

        Args:
            posture: (rows, joints) in rad or m.
            spread: (rows, joints) how far around each, either way.
            pairs: (rows,) indices of pairs.
            wanted: distance to be kept, in m.
        """
        return np.asarray(self.least(posture, spread, pairs, wanted, np.inf) >= wanted)

    def least(
        self, posture: Array, spread: Array, pairs: Indices, within: float, resolution: float
    ) -> Array:
        """Return (rows,) lower bounds of distances in m; -inf where there is no map of a pair.

        Args:
            posture: (rows, joints) in rad or m.
            spread: (rows, joints) how far around each, either way.
            pairs: (rows,) indices of pairs.
            within: distance in m beyond which nobody asks: bounds are no larger.
            resolution: as for :meth:`PairMap.least`.
        """
        found = np.full(len(pairs), -np.inf)
        for pair in np.unique(pairs[self.knows(pairs)]).tolist():
            joints, own = self._arrays.between(pair), pairs == pair
            centre, half = posture[own][:, joints], spread[own][:, joints]
            asked = self._map(pair, joints)
            found[own] = asked.least(centre - half, centre + half, within, resolution)
        return found

    def _map(self, pair: int, joints: list[int]) -> PairMap:
        """Return the map of a pair, over the limits of its joints and a little beyond."""
        if pair not in self._maps:
            limits = [self._robot.joints[j].limits for j in joints]
            low = [-_TURN if x.lower is None else x.lower - _BEYOND for x in limits]
            high = [_TURN if x.upper is None else x.upper + _BEYOND for x in limits]
            bounds = partial(self._bounds, pair, joints)
            self._maps[pair] = PairMap(np.array(low), np.array(high), bounds)
        return self._maps[pair]

    def _bounds(
        self, pair: int, joints: list[int], centres: Array, half: Array
    ) -> tuple[Array, Array]:
        """Return distances of a pair at positions, and bounds of those around; all other joints 0.

        Args:
            pair: the pair.
            joints: those between its bodies.
            centres: (cells, joints between) positions.
            half: (joints between,) how far around.
        """
        postures = np.zeros((len(centres), len(self._robot.joints)))
        spread = np.zeros_like(postures)
        postures[:, joints], spread[:, joints] = centres, half
        rows = np.column_stack([np.arange(len(centres)), np.full(len(centres), pair)])
        return self._around(postures, spread, rows)


class PairMap:
    """Distances of one pair.

    Args:
        low: (joints,) lowest positions, in rad or m.
        high: (joints,) highest positions.
        bounds: of cells.
    """

    def __init__(self, low: Array, high: Array, bounds: Bounds) -> None:
        self._low, self._high, self._bounds = low, high, bounds
        self._sides = np.array(list(product((-0.5, 0.5), repeat=len(low))))
        self._centres = np.empty((0, len(low)))
        self._distances, self._least = np.empty((2, 0))
        self._children = np.empty(0, dtype=np.int64)
        self._add((low + high)[None] / 2.0, 0)

    def least(self, begin: Array, end: Array, within: float, resolution: float) -> Array:
        """Return (boxes,) lower bounds of the distances at all positions of boxes, in m.

        -inf for what goes beyond the positions that are covered.

        Args:
            begin: (boxes, joints) lowest positions.
            end: (boxes, joints) highest positions.
            within: distance in m beyond which nobody asks: bounds are no larger.
            resolution: by how much a bound below ``within`` may be off, in m; infinite: it is
                enough that it is below.
        """
        fits = np.asarray(((begin >= self._low) & (end <= self._high)).all(axis=1))
        least = np.where(fits, within, -np.inf)
        met = np.full(len(least), within)  # smallest distances that were computed
        box = np.flatnonzero(fits)
        cell = np.zeros(len(box), dtype=np.int64)
        for level in range(_DEPTH + 1):
            half, centres = self._half(level), self._centres[cell]
            meets = ((centres + half >= begin[box]) & (centres - half <= end[box])).all(axis=1)
            box, cell, centres = box[meets], cell[meets], centres[meets]
            inside = ((centres >= begin[box]) & (centres <= end[box])).all(axis=1)
            np.minimum.at(met, box[inside], self._distances[cell[inside]])
            far = self._least[cell] >= within
            told = (met[box] < within) & (self._least[cell] >= met[box] - resolution)
            open_ = ~(far | told)
            last = level == _DEPTH or not self._cut(np.unique(cell[open_]), level)
            known = ~far if last else told & ~far
            np.minimum.at(least, box[known], self._least[cell[known]])
            if last or not open_.any():
                break
            box, cell = box[open_], cell[open_]
            first = self._children[cell]
            cell = (first[:, None] + np.arange(len(self._sides))).ravel()
            box = np.repeat(box, len(self._sides))
        return least

    def _half(self, level: int) -> Array:
        """Return (joints,) half widths of cells."""
        return (self._high - self._low) / 2.0 ** (level + 1)

    def _cut(self, cells: Indices, level: int) -> bool:
        """Give cells children that have none; return False where there are too many cells."""
        bare = cells[self._children[cells] == _NONE]
        count = len(bare) * len(self._sides)
        if len(self._centres) + count > _MOST_CELLS:
            return False
        self._children[bare] = len(self._centres) + len(self._sides) * np.arange(len(bare))
        steps = self._sides * self._half(level)
        self._add((self._centres[bare, None] + steps).reshape(count, len(self._low)), level + 1)
        return True

    def _add(self, centres: Array, level: int) -> None:
        if not len(centres):
            return
        distances, least = self._bounds(centres, self._half(level))
        self._centres = np.vstack([self._centres, centres])
        self._distances = np.append(self._distances, distances)
        self._least = np.append(self._least, least)
        self._children = np.append(self._children, np.full(len(centres), _NONE))
