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
from robot_identification.collision.tube import Cells
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

At = Callable[[Array, Indices], tuple[Array, Array, Array]]
""":meth:`robot_identification.collision.clearance.ClearanceCheck.at`."""


class PairMaps:
    """The maps of the pairs of a scene, each made when it is first asked.

    Args:
        robot: the robot.
        arrays: robot and scene.
        at: exact distances of pairs at postures.
    """

    def __init__(self, robot: RobotModel, arrays: SceneArrays, at: At) -> None:
        self._robot, self._arrays, self._at = robot, arrays, at
        self._maps: dict[int, PairMap] = {}

    def prove(self, cells: Cells, rows: Indices, wanted: float) -> npt.NDArray[np.bool_]:
        """Tell for which cells and pairs the distance is kept; not, where more joints are between.

        Args:
            cells: of a tube.
            rows: (rows, 2) indices of a cell and of a pair.
            wanted: distance to be kept, in m.
        """
        proven = np.zeros(len(rows), dtype=np.bool_)
        for pair in np.unique(rows[:, 1]).tolist():
            joints = self._arrays.between(pair)
            if 0 < len(joints) <= _MOST_JOINTS:
                own = np.flatnonzero(rows[:, 1] == pair)
                posture = cells.posture[np.ix_(rows[own, 0], joints)]
                spread = cells.spread[np.ix_(rows[own, 0], joints)]
                found = self._map(pair, joints).proves(posture - spread, posture + spread, wanted)
                proven[own] = found
        return proven

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
        distance, normals, points = self._at(postures, rows)
        shrinks = self._arrays.travel(postures, spread, rows, normals, points)
        return distance, distance - shrinks


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

    def proves(self, begin: Array, end: Array, wanted: float) -> npt.NDArray[np.bool_]:
        """Tell of which boxes of positions every one keeps a distance.

        Args:
            begin: (boxes, joints) lowest positions.
            end: (boxes, joints) highest positions.
            wanted: the distance, in m.
        """
        fits: npt.NDArray[np.bool_] = (begin >= self._low) & (end <= self._high)
        proven: npt.NDArray[np.bool_] = np.array(fits.all(axis=1))
        box = np.flatnonzero(proven)
        cell = np.zeros(len(box), dtype=np.int64)
        for level in range(_DEPTH + 1):
            half = self._half(level)
            centres = self._centres[cell]
            meets = ((centres + half >= begin[box]) & (centres - half <= end[box])).all(axis=1) & (
                self._least[cell] < wanted
            )
            inside = ((centres >= begin[box]) & (centres <= end[box])).all(axis=1)
            proven[box[meets & inside & (self._distances[cell] < wanted)]] = False
            open_ = meets & proven[box]
            box, cell = box[open_], cell[open_]
            if not len(box):
                break
            if level == _DEPTH or not self._cut(np.unique(cell), level):
                proven[box] = False
                break
            first = self._children[cell]
            cell = (first[:, None] + np.arange(len(self._sides))).ravel()
            box = np.repeat(box, len(self._sides))
        return proven

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
