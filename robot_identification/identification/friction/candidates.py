"""Candidate terms of joints: columns beside those of the model, folded in the same pass.

Candidates with shape parameters stand for a grid of these: speeds from a sixty-fourth to a quarter
of the largest one that the joint reaches, by factors of two.  Slower ones cannot be told from a
jump at rest, faster ones not from viscous friction.  Speeds between those of the grid are told by
the slopes of the columns over their logarithms (:mod:`.shapes`): rows are folded anew with those of
what is chosen, and where these ask for other speeds, so that no other term makes up for the grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.loads import carried_columns
from robot_identification.dynamics.regressor import Regressor
from robot_identification.dynamics.tree import Floats
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.friction.extended import (
    ExtendedRegressor,
    extended_rows,
)
from robot_identification.identification.friction.shapes import log_slope
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.identification.rows.whole_rows import WholeRows
from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.terms.joint_terms import JointTerm, terms_of
from robot_identification.robot.terms.kinds import TermKind
from robot_identification.signals.rows import kept_rows

SPEED_SHARES = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4)
"""Speeds of shapes over the largest speed of the joint."""

Key = tuple[int, int]
"""A joint and a candidate, by their places."""

BLOCKS = 10
"""Blocks of time that are left out in turn.  With five, four degrees of freedom ask for estimates
that are six of their deviations away from zero, and each block takes what is told by a fifth of the
motion with it; blocks of many more would be no longer than the residuals remember."""

SLOW = 1 / 32
"""Speed over the largest one below which rows are near standstill: the middle of the speeds at
which friction may change its law."""


@dataclass(frozen=True)
class Candidate:
    """A term that the model of a joint might have.

    Attributes:
        term: the term.
        share: of the largest speed, where its function has a speed; 0 where it has none.
        replaces: name of the term that it stands in place of; empty where it is added.
    """

    term: JointTerm
    share: float = 0.0
    replaces: str = ""

    @property
    def shaped(self) -> bool:
        """Whether its function has a speed."""
        return self.share > 0.0

    def shape(self, largest_speed: float) -> tuple[float, ...]:
        """Return the shape parameters for a joint with a largest speed."""
        return (self.share * largest_speed, *self.term.kind.nominal_shape[1:])[
            : len(self.term.kind.shapes)
        ]


def every_candidate() -> tuple[Candidate, ...]:
    """Return what is tried at every joint."""
    plain = (TermKind.MAGNITUDE, TermKind.ROOT, TermKind.LOAD)
    coulomb = terms_of(TermKind.COULOMB)[0].name
    return (
        *(Candidate(term) for kind in plain for term in terms_of(kind)),
        *(own for term in terms_of(TermKind.STRIBECK) for own in grid_of(term)),
        *(own for term in terms_of(TermKind.SMOOTH) for own in grid_of(term, coulomb)),
    )


def grid_of(term: JointTerm, replaces: str = "") -> tuple[Candidate, ...]:
    """Return a term with every speed of the grid.

    Args:
        term: with shape parameters, the first of which is a speed.
        replaces: name of the term that it stands in place of; empty where it is added.
    """
    return tuple(Candidate(term, share, replaces) for share in SPEED_SHARES)


def largest_speeds(source: WholeRows) -> Array:
    """Return (joints,) largest speeds of the motion, those of a few odd samples left out."""
    speed = np.concatenate([np.abs(segment.velocity) for segment in source.segments], axis=1)
    found: Array = np.quantile(speed, 0.999, axis=1)
    return np.maximum(found, np.finfo(float).tiny)


def at_speed(source: WholeRows) -> WholeRows:
    """Return a source without rows near standstill."""
    thresholds = np.maximum(SLOW * largest_speeds(source), source.processing.velocity_threshold)
    processing = replace(source.processing, velocity_threshold=tuple(thresholds.tolist()))
    return replace(source, processing=processing)


class CandidateRegressor(ExtendedRegressor):
    """Regressor of base parameters, with the columns of candidates behind the effort of each joint.

    Behind these are the slopes, over the logarithm of the speed, of those that are opened.

    Args:
        base: base parameters.
        candidates: what is tried at every joint.
        opened: places of joint and candidate whose slopes there are.
        speeds: (joints, candidates) largest speeds of the joints, times what shapes were moved by.
        loads: (full columns,) parameters whose efforts friction follows; None: there are none yet.
    """

    def __init__(
        self,
        base: BaseParameters,
        candidates: tuple[Candidate, ...],
        opened: tuple[Key, ...],
        speeds: Array,
        loads: Array | None,
    ) -> None:
        joints = range(len(base.robot.joints))
        self._opened = [[own for at, own in opened if at == joint] for joint in joints]
        super().__init__(base, [len(candidates) + len(own) for own in self._opened])
        self._candidates, self._speeds = candidates, speeds
        carried = carried_columns(base.robot)
        if loads is not None:
            carried = carried[loads[carried] != 0.0]
            self._carried = np.asarray(loads[carried])
        self._inner = None if loads is None else Regressor(base.robot, carried)

    def loads(self, q: Floats, qd: Floats, qdd: Floats) -> Sequence[Floats | None]:
        """Return the efforts that friction follows, (samples,) for each joint."""
        if self._inner is None:
            return super().loads(q, qd, qdd)
        inner = self._inner.compact(q, qd, qdd)
        return [self._carried[own.columns] @ inner[own.rows] for own in self._inner.joint_rows]

    def further(
        self, joint: int, q: Floats, qd: Floats, qdd: Floats, load: Floats | None
    ) -> list[Floats]:
        """Return the columns of the candidates of a joint, then its slopes."""
        shapes = [
            candidate.shape(float(speed))
            for candidate, speed in zip(self._candidates, self._speeds[joint], strict=True)
        ]
        columns = [
            candidate.term.kind.of(qd[joint], qdd[joint], position=q[joint], load=load, shape=shape)
            for candidate, shape in zip(self._candidates, shapes, strict=True)
        ]
        slopes = [
            log_slope(self._candidates[own].term.kind, qd[joint], shapes[own])[0]
            for own in self._opened[joint]
        ]
        return columns + slopes


@by_value
@dataclass(frozen=True)
class CandidateRows:
    """Triangular factors of the rows of blocks of time, with the columns of candidates.

    Attributes:
        base: base parameters; their columns come first.
        candidates: joint by joint their columns follow, behind them the slopes of those opened.
        opened: places of joint and candidate whose slopes over the speed there are, in order.
        speeds: (joints,) largest speeds, for their shapes.
        moves: (joints, candidates) factors that the speeds of shapes were moved by.
        factors: for each block one factor per joint of its rows at speed, then one per joint of
            those near standstill.
    """

    base: BaseParameters
    candidates: tuple[Candidate, ...]
    opened: tuple[Key, ...]
    speeds: Array
    moves: Array
    factors: tuple[tuple[JointFactor, ...], ...]

    @classmethod
    def of(
        cls,
        source: WholeRows,
        candidates: tuple[Candidate, ...],
        loads: Array | None,
        opened: tuple[Key, ...] = (),
        moves: Array | None = None,
    ) -> CandidateRows:
        """Fold the rows of a source in one pass.

        Args:
            source: the rows; those of all its bags are divided into blocks that follow each other.
            candidates: what is tried at every joint.
            loads: (full columns,) parameters whose efforts friction follows; None: there are none.
            opened: places of joint and candidate whose slopes are folded too.
            moves: (joints, candidates) factors that move the speeds of shapes; None: none is moved.
        """
        speeds = largest_speeds(source)
        if moves is None:
            moves = np.ones((len(speeds), len(candidates)))
        blocks = WholeRows.of_segments(
            source.base, ["all"], [source.segments], source.processing, count=BLOCKS
        )
        blocks = replace(blocks, progress=source.progress, cancelled=source.cancelled)
        opened = tuple(sorted(opened))
        scaled = speeds[:, None] * moves
        regressor = CandidateRegressor(source.base, candidates, opened, scaled, loads)
        robot, fast = source.base.robot, at_speed(source).processing
        moving = [kept_rows(robot, segment, fast) for segment in source.segments]
        found = extended_rows(blocks, regressor, bands=False, moving=moving)
        return cls(source.base, candidates, opened, speeds, moves, found.factors)

    @property
    def columns(self) -> int:
        """Number of columns of base parameters and of all joints' candidates and slopes."""
        return self.column(len(self.base.robot.joints), 0)

    @property
    def effort_squares(self) -> Array:
        """(joints,) squared efforts of all blocks."""
        squares = [[own.effort_norm**2 for own in block] for block in self.factors]
        return self._by_joint(np.sum(squares, axis=0))

    @cached_property
    def counts(self) -> Array:
        """(joints,) numbers of rows of all blocks."""
        rows = [[own.rows for own in block] for block in self.factors]
        return self._by_joint(np.sum(rows, axis=0))

    def weights(self, squares: Array, *, slow: bool) -> Array:
        """Return factors on the rows of every factor of a block, from squared residuals.

        Rows near standstill never count more than the others of their joint.

        Args:
            squares: (factors,) of all blocks together.
            slow: whether rows near standstill count at all.
        """
        rows = np.sum([[own.rows for own in block] for block in self.factors], axis=0)
        variance = (squares / np.maximum(rows, 1)).reshape(2, -1)
        found = inverse_roots(np.maximum(variance, variance[0]))
        found[1] *= slow
        return found.ravel()

    def _by_joint(self, values: Array) -> Array:
        found: Array = np.reshape(values, (2, -1)).sum(axis=0)
        return found

    @property
    def replaceable(self) -> npt.NDArray[np.intp]:
        """Places of base parameters in whose place a candidate may stand."""
        names = {candidate.replaces for candidate in self.candidates}
        places = {self.own(k, name) for k in range(len(self.base.robot.joints)) for name in names}
        return np.array(sorted(place for place in places if place is not None), dtype=np.intp)

    def shape(self, joint: int, candidate: int) -> tuple[float, ...]:
        """Return the shape parameters of a joint's candidate."""
        speed = self.speeds[joint] * self.moves[joint, candidate]
        return self.candidates[candidate].shape(float(speed))

    def column(self, joint: int, candidate: int) -> int:
        """Return the place of a joint's candidate among all columns."""
        before = sum(other < joint for other, _ in self.opened)
        return self.base.rank + joint * len(self.candidates) + before + candidate

    def slope(self, joint: int, candidate: int) -> int | None:
        """Return the place of the slope of a joint's candidate, None where it is not opened."""
        if (joint, candidate) not in self.opened:
            return None
        mine = [own for at, own in self.opened if at == joint]
        return self.column(joint, len(self.candidates) + mine.index(candidate))

    def own(self, joint: int, name: str) -> int | None:
        """Return the place of a joint's own base parameter such as ``Fc``, None for none."""
        return self._places.get(f"{name}{joint + 1}")

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.base.leading_names)}


def inverse_roots(squares: Array) -> Array:
    """Return one over the roots of squares: weights, large where one is 0."""
    return np.asarray(1.0 / np.maximum(np.sqrt(squares), 1e-300))
