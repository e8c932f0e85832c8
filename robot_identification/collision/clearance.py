"""The clearance of a motion: a lower bound of every distance over all of it and all braking.

The tube of a motion is cut into cells.  In each, bounds by enclosing capsules show that most pairs
of bodies are far apart; of the others the exact distance at one posture of the cell, less what it
may shrink by inside the cell, is a lower bound.  Where that is not enough for a pair, the cell is
cut in two for this pair, where that narrows the joints between its bodies most, until it is, or
until a posture is found that is too near.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_identification.collision.arrays import SceneArrays
from robot_identification.collision.engine import Distances
from robot_identification.collision.pair_maps import PairMaps
from robot_identification.collision.scene import Indices, Scene
from robot_identification.collision.tube import Cells, Tube
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.model import RobotModel

_MOST_CELLS = 1_000_000
_RESOLUTION = 1e-3
"""Distance in m below which "kept" and "not kept" are not told apart: then it is not kept."""

_FINE = 2e-4
"""Resolution of the bounds that maps give, in m."""

_ROUNDING = 1e-9  # m


@by_value
@dataclass(frozen=True)
class Nearest:
    """The smallest distance that was met.

    Attributes:
        distance: in m, negative where bodies overlap.
        pair: names of the two links.
        time: on the clock of the motion, in s.
        posture: (joints,) of the robot then, in rad or m.
        points: (2, 3) where the bodies are nearest, in the base frame, in m.
        braking: whether the robot brakes then.
    """

    distance: float
    pair: tuple[str, str]
    time: float
    posture: Array
    points: Array
    braking: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "posture", read_only(self.posture))
        object.__setattr__(self, "points", read_only(self.points))

    def __str__(self) -> str:
        when = "while it brakes from" if self.braking else "at"
        return f"{self.pair[0]} and {self.pair[1]}: {self.distance:.4f} m, {when} {self.time:.3f} s"


@dataclass(frozen=True)
class Clearance:
    """Distances of a motion from everything that it must keep clear of.

    Attributes:
        kept: whether every distance is at least ``wanted``, everywhere.
        wanted: in m.
        nearest: the smallest distance that was computed; None where enclosing capsules alone were
            enough, and nobody asked further, or no pair must keep apart.  Where distances are kept,
            the true smallest is not below ``wanted``; otherwise this one is below it, or cannot be
            told from it.
        cells: number of cells.
        distances: number of exact distances.
    """

    kept: bool
    wanted: float
    nearest: Nearest | None
    cells: int
    distances: int


class ClearanceCheck:
    """Bounds distances for a robot in a scene.

    Args:
        robot: the robot.
        scene: its bodies and those around it.

    Raises:
        MissingPackageError: coal is not installed.
    """

    def __init__(self, robot: RobotModel, scene: Scene) -> None:
        self.robot, self.scene = robot, scene
        self.arrays = SceneArrays.of(robot, scene)
        self._exact = Distances(scene)
        self._arms = self.arrays.arms_between()
        self._maps = PairMaps(robot, self.arrays, self.bounds)

    def __call__(self, tube: Tube, wanted: float) -> Clearance:
        """Return the clearance of a tube.

        Args:
            tube: the motion, and braking from it.
            wanted: distance to be kept, in m.
        """
        nearest, cells = _Smallest(self.scene, tube), tube.cells(tube.roots())
        rows = np.argwhere(self.arrays.gaps(cells.posture, cells.spread, wanted) < 0.0)
        count, exact = len(cells.ranges), len(rows)
        while len(rows):
            unsure = self._judge(cells, rows, wanted, nearest)
            if unsure is None or count + 2 * len(unsure) > _MOST_CELLS:
                return Clearance(False, wanted, nearest.found, count, exact)
            pairs = np.tile(unsure[:, 1], 2)
            cells = tube.cells(cells.halved(unsure[:, 0], self._arms[unsure[:, 1]]))
            gaps = self.arrays.gaps_of(cells.posture, cells.spread, wanted, pairs)
            near = np.flatnonzero(gaps < 0.0)
            rows = np.column_stack([near, pairs[near]])
            count, exact = count + len(pairs), exact + len(rows)
        return Clearance(True, wanted, nearest.found, count, exact)

    def _judge(
        self, cells: Cells, rows: Indices, wanted: float, nearest: _Smallest
    ) -> Indices | None:
        """Return the rows of cells that must be cut; None where a posture is too near.

        Slack stays as it is however often a cell is cut.  Of few joints between the bodies of a
        pair the map knows the distance with all slack, and better than bounds around a posture.
        """
        distance, normals, points = self.at(cells.posture, rows)
        nearest.look(cells, rows, distance, points)
        shrinks = self.arrays.travel(cells.posture, cells.spread, rows, normals, points)
        unsure = distance - shrinks < wanted
        if not unsure.any():
            return rows[:0]
        if (distance < wanted).any():
            return None
        cell, pair = rows[unsure].T
        unsure[unsure] = ~self._maps.prove(cells.posture[cell], cells.spread[cell], pair, wanted)
        least = self.arrays.travel(
            cells.posture, cells.slack, rows[unsure], normals[unsure], points[unsure]
        )
        near = distance[unsure] - least < wanted
        if (near | (shrinks[unsure] - least < _RESOLUTION)).any():
            return None
        return rows[unsure]

    def bounds(self, postures: Array, spread: Array, rows: Indices) -> tuple[Array, Array]:
        """Return (rows,) distances of pairs at postures, and lower bounds around these, in m.

        Args:
            postures: (postures, joints) in rad or m.
            spread: (postures, joints) how far around each, either way.
            rows: (rows, 2) indices of a posture and of a pair, by rising postures.
        """
        distance, normals, points = self.at(postures, rows)
        return distance, distance - self.arrays.travel(postures, spread, rows, normals, points)

    def mapped(self, postures: Array, spread: Array, rows: Indices, within: float) -> Array:
        """Return (rows,) better bounds than :meth:`bounds`; -inf with many joints between a pair.

        Args:
            postures: (postures, joints) in rad or m.
            spread: (postures, joints) how far around each, either way.
            rows: (rows, 2) indices of a posture and of a pair.
            within: distance in m beyond which nobody asks: bounds are no larger.
        """
        posture, pair = rows.T
        return self._maps.least(postures[posture], spread[posture], pair, within, _FINE)

    def margins(self, postures: Array, off: Array, wanted: float, within: float) -> Array:
        """Return (postures,) bounds of the smallest distances of a robot that may be off, in m.

        Args:
            postures: (postures, joints) in rad or m.
            off: (joints,) by how much it may be off, in rad or m.
            wanted: distance in m below which a bound need not be the best.
            within: distance in m beyond which nobody asks.
        """
        spread = np.broadcast_to(off, postures.shape).copy()
        rows = np.argwhere(self.arrays.gaps(postures, spread, within) < 0.0)
        found = np.full(len(postures), within)
        if len(rows):
            distance, least = self.bounds(postures, spread, rows)
            near = (distance < wanted) | ((least < wanted) & ~self._maps.knows(rows[:, 1]))
            open_ = (least < wanted) & ~np.isin(rows[:, 0], rows[near, 0])
            better = self.mapped(postures, spread, rows[open_], within)
            least[open_] = np.maximum(least[open_], better)
            np.minimum.at(found, rows[:, 0], least)
        return found

    def nearest(self, times: Array, postures: Array) -> Nearest | None:
        """Return the smallest distance at some postures of a motion; None where no pair is kept.

        Args:
            times: (postures,) of the motion, in s.
            postures: (postures, joints) then, in rad or m.
        """
        if not len(self.scene.pairs):
            return None
        bounds = self.arrays.gaps(postures, np.zeros_like(postures), 0.0)
        lowest = np.argwhere(bounds == bounds.min())[:1]
        # Of bodies that overlap the bounds say no more than that they do.
        rows = np.argwhere(bounds <= max(float(self.at(postures, lowest)[0][0]), 0.0) + _ROUNDING)
        distance, _, points = self.at(postures, rows)
        best = int(np.argmin(distance))
        at, pair = rows[best]
        return Nearest(
            distance=float(distance[best]),
            pair=self.scene.names(int(pair)),
            time=float(times[at]),
            posture=postures[at],
            points=points[best],
            braking=False,
        )

    def at(self, postures: Array, rows: Indices) -> tuple[Array, Array, Array]:
        """Return distances, normals and nearest points of pairs at postures.

        Args:
            postures: (postures, joints) in rad or m.
            rows: (rows, 2) indices of a posture and of a pair, by rising postures.

        Returns:
            As :meth:`~robot_identification.collision.engine.Distances.at`.
        """
        used, place = np.unique(rows[:, 0], return_inverse=True)
        turned, placed = self.arrays.frames(postures[used])
        return self._exact.at(np.column_stack([place, rows[:, 1]]), turned, placed)


class _Smallest:
    """Remembers the smallest distance."""

    def __init__(self, scene: Scene, tube: Tube) -> None:
        self._scene, self._tube = scene, tube
        self.found: Nearest | None = None

    def look(self, cells: Cells, rows: Indices, distance: Array, points: Array) -> None:
        """Look at distances of pairs in cells."""
        best = int(np.argmin(distance))
        if self.found is not None and distance[best] >= self.found.distance:
            return
        cell, pair = rows[best]
        ranges = cells.ranges[cell]
        self.found = Nearest(
            distance=float(distance[best]),
            pair=self._scene.names(int(pair)),
            time=self._tube.time(ranges),
            posture=cells.posture[cell],
            points=points[best],
            braking=bool(ranges[3] + ranges[4] > 0.0 and ranges[6] > 0.0 and ranges[5] >= 0.0),
        )
