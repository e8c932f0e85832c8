"""Rows of a robot with loops: those of its tree, projected onto the joints that are driven.

The tree moves by q = G q_a + c with a constant G, so that virtual work gives for the efforts of the
active joints, whatever the efforts of the tree are made of,

    tau_a = G^T W(G q_a + c, G qd_a, G qdd_a) chi

(Gautier 1991, "Application to Graph-Structured Robots").  Friction, drive inertia and offset of a
joint that follows act through G like everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from robot_identification.robot.arrays import Array
from robot_identification.robot.loops import loop_matrix, loop_offset
from robot_identification.robot.model import RobotModel

TreeRows = Callable[[Array, Array, Array], Array]

_SEED = 1991
_STATES = 16
# Friction that fades within a speed is nothing beyond some times that: half of the states are slow.
_SLOWEST = 1e-6
# Entries whose parts cancel to less than this share, at every one of many random states, are zero
# for all motions: rounding leaves 1e-15 of the parts, what does not cancel is of their size.
_CANCELLED = 1e-9


class LoopProjection:
    """Which rows of a tree's compact regressor make those of the active joints.

    Args:
        robot: with loops.
        entries: for every joint of the tree the columns of its rows.
        tree_rows: takes (joints, samples) positions, velocities and accelerations of the tree to
            its compact regressor, whose rows are those of one joint after the other.
        spare: rows left free behind those of each active joint.

    Attributes:
        entries: for every active joint the columns of its rows; what cancels has none.
        first: for every active joint the first of its rows.
        compact_rows: number of rows, spare ones included.
    """

    def __init__(
        self,
        robot: RobotModel,
        entries: Sequence[npt.NDArray[np.intp]],
        tree_rows: TreeRows,
        spare: int,
    ) -> None:
        self._matrix, self._offset = loop_matrix(robot), loop_offset(robot)
        starts = np.cumsum([0, *map(len, entries)])
        found: list[npt.NDArray[np.intp]] = []
        firsts: list[int] = []
        self._parts: list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], float]] = []
        first = 0
        at_random = self._rows_at_random_states(tree_rows)
        for active in range(self._matrix.shape[1]):
            own = np.flatnonzero(self._matrix[:, active]).tolist()
            columns = _not_cancelled(
                [entries[j] for j in own],
                [self._matrix[j, active] * at_random[starts[j] : starts[j + 1]] for j in own],
            )
            place = {int(column): first + i for i, column in enumerate(columns)}
            for j in own:
                kept = [i for i, column in enumerate(entries[j]) if int(column) in place]
                target = np.array([place[int(entries[j][i])] for i in kept], dtype=np.intp)
                source = starts[j] + np.array(kept, dtype=np.intp)
                self._parts.append((target, source, float(self._matrix[j, active])))
            found.append(columns)
            firsts.append(first)
            first += len(columns) + spare
        self.entries, self.first, self.compact_rows = tuple(found), tuple(firsts), first
        self._filled = np.concatenate(
            [begin + np.arange(len(own)) for begin, own in zip(firsts, found, strict=True)]
        )

    def motion(self, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array, Array]:
        """Return (joints, samples) signals of the tree for (active, samples) ones."""
        matrix = self._matrix
        return matrix @ q + self._offset[:, None], matrix @ qd, matrix @ qdd

    def put(self, tree: Array, out: Array) -> None:
        """Fill the rows of the active joints from those of the tree; spare ones stay.

        Args:
            tree: (rows of the tree, samples) its compact regressor.
            out: (compact_rows, samples) result.
        """
        out[self._filled] = 0.0
        for target, source, factor in self._parts:
            out[target] += factor * tree[source]

    def _rows_at_random_states(self, tree_rows: TreeRows) -> Array:
        rng = np.random.default_rng(_SEED)
        q, qd, qdd = rng.uniform(-np.pi, np.pi, (3, self._matrix.shape[1], _STATES))
        slow = qd * np.geomspace(0.1, _SLOWEST, _STATES)
        states = np.concatenate([[q, qd, qdd], [q, slow, qdd]], axis=2)
        return tree_rows(*self.motion(*states))


def _not_cancelled(
    entries: Sequence[npt.NDArray[np.intp]], rows: Sequence[Array]
) -> npt.NDArray[np.intp]:
    """Return the columns whose parts do not cancel, in rising order.

    Args:
        entries: for every joint that moves with the active one the columns of its rows.
        rows: their entries at random states, times the joint's rate.
    """
    size = 1 + max((int(own.max(initial=-1)) for own in entries), default=-1)
    total = np.zeros((size, 2 * _STATES))
    parts = np.zeros((size, 2 * _STATES))
    for own, values in zip(entries, rows, strict=True):
        total[own] += values
        parts[own] += np.abs(values)
    remain = np.abs(total).max(axis=1) > _CANCELLED * parts.max(axis=1)
    return np.flatnonzero(remain)
