"""Selection of joint terms by the error on blocks of time that are left out of the fit.

A term is added to a joint where all of this holds:

- the squared residual of the blocks left out falls by more than its standard error over the blocks
  (the one-standard-error rule: L. Breiman et al., *Classification and Regression Trees*, 1984,
  section 3.4.3);
- the parameter is told by the data: its estimates without each block agree (:mod:`.evidence`), at a
  level that is divided among all that is tried at a joint; a smooth sign in place of a sharp one is
  asked beside it;
- the fall is worth a parameter: a percent of the joint's own residual;
- friction takes power from the motion at every speed that the joint reaches.

Terms are chosen on rows at speed first, then beside these on all rows.  Near standstill there is
what no law of the speed describes, breaking away and creeping, and it would drown what friction at
speed tells; those rows have a weight of their own, by what is left of them.  Between the two, the
loads that friction follows are estimated again, with such friction where it was chosen.

What has a shape is added with a speed of a grid, which is moved to what the data ask for before
anything else is tried beside it, and stays open: other terms would make up for a wrong speed.

A term may also be added to several joints at once, as a family (:mod:`.families`).  Of all that may
be added, what lowers the error most comes first.  What has become superfluous by what was added
behind it, so that the error falls without it, is taken away in the end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robot_identification.errors import CancelledError
from robot_identification.identification.friction.candidates import (
    Candidate,
    CandidateRows,
    Key,
    inverse_roots,
)
from robot_identification.identification.friction.chosen import Chosen
from robot_identification.identification.friction.evidence import (
    LEVEL,
    critical_value,
    fall_and_error,
    jackknife_ratio,
)
from robot_identification.identification.friction.families import Family, family_of
from robot_identification.identification.friction.folds import Folds
from robot_identification.identification.friction.shapes import AWAY, LONGEST
from robot_identification.identification.friction.trials import Rule, Trials, Tried
from robot_identification.identification.rows.whole_rows import WholeRows
from robot_identification.robot.arrays import Array, by_value

_WORTH = 0.01
"""Fall of the squared residual, over that of the joint, that is worth a parameter."""

_STEPS = 6
"""Steps of shapes after each addition of terms."""

_LEANS = 1.0
"""Slope over a shape, over its deviation, from which the shape is moved."""


@by_value
@dataclass(frozen=True)
class Selection:
    """What was chosen.

    Attributes:
        chosen: for each joint the places of the candidates.
        tried: everything, the last trial of each.
        error: relative error on blocks left out, with what was chosen.
        plain_error: the same with nothing.
        joint_errors: (joints,) the error of each joint's efforts.
        plain_joint_errors: (joints,) the same with nothing.
    """

    chosen: tuple[tuple[int, ...], ...]
    tried: tuple[Tried, ...]
    error: float
    plain_error: float
    joint_errors: Array
    plain_joint_errors: Array


def select(
    source: WholeRows,
    candidates: tuple[Candidate, ...],
    loads: Array | None,
    refused: frozenset[tuple[int, str]] = frozenset(),
    *,
    refines: bool = True,
) -> tuple[Selection, CandidateRows]:
    """Choose the terms of every joint.

    Args:
        source: the rows.
        candidates: what is tried at every joint.
        loads: (full columns,) parameters of a first fit, whose efforts friction follows.
        refused: places of joints and names of terms that are not tried.
        refines: whether shapes are moved to what the data ask for before other terms are tried; a
            pass over all samples for each step.

    Returns:
        What was chosen, and the rows that it was chosen on.

    Raises:
        CancelledError: the caller of the source wants to stop.
    """
    search = _Search(source, candidates, loads, refines=refines)
    return search.run(refused), search.rows


class _Search:
    def __init__(
        self,
        source: WholeRows,
        candidates: tuple[Candidate, ...],
        loads: Array | None,
        *,
        refines: bool,
    ) -> None:
        self._source, self._followed, self._refines = source, loads, refines
        self.rows = rows = CandidateRows.of(source, candidates, loads)
        self._joints = range(len(rows.base.robot.joints))
        self._tried: dict[Key, Tried] = {}
        self._level = LEVEL / len(rows.candidates)
        critical = critical_value(len(rows.factors) - 1, self._level)
        self._rule = Rule(worth=_WORTH, errors=1.0, critical=critical)

    def run(self, refused: frozenset[tuple[int, str]]) -> Selection:
        chosen = Chosen(self.rows, refused=refused)
        folds, plain = self._weighted(chosen, self._begun())
        chosen, folds = self._grown(chosen, folds, slow=False)
        if any(self.rows.candidates[own].term.kind.follows_load for _, own in chosen.keys):
            self._followed = self._loads(folds, chosen)
            self.rows = self._folded(chosen, self.rows.moves)
            chosen = replace(chosen, rows=self.rows)
            folds, _ = self._weighted(chosen, Folds(self.rows, folds.weights))
        chosen, folds = self._grown(chosen, folds, slow=True)
        chosen = self._pruned(folds, chosen)
        _, left = self._weighted(chosen, folds)
        tried = tuple(self._tried[key] for key in sorted(self._tried))
        efforts = np.maximum(self.rows.effort_squares, np.finfo(float).tiny)
        total, before = (float(np.sqrt(squares.sum() / efforts.sum())) for squares in (left, plain))
        return Selection(
            chosen=tuple(map(chosen.of_joint, self._joints)),
            tried=tried,
            error=total,
            plain_error=before,
            joint_errors=np.sqrt(left / efforts),
            plain_joint_errors=np.sqrt(plain / efforts),
        )

    def _grown(self, chosen: Chosen, folds: Folds, *, slow: bool) -> tuple[Chosen, Folds]:
        """Return what is chosen when nothing may be added any more, and its fits.

        Args:
            chosen: what is chosen already.
            folds: its fits.
            slow: whether rows near standstill count.
        """
        folds, _ = self._weighted(chosen, folds, slow=slow)
        while best := self._best(Trials(folds, self._step()), chosen):
            if self._source.cancelled is not None and self._source.cancelled():
                raise CancelledError("cancelled while friction laws were tried")
            chosen = chosen.plus(best)
            if self._refines:
                chosen, folds = self._refined(chosen, folds)
            folds, _ = self._weighted(chosen, folds, slow=slow)
        return chosen, folds

    def _refined(self, chosen: Chosen, folds: Folds) -> tuple[Chosen, Folds]:
        """Return the same terms with the speeds that the data ask for, and their fits.

        The steps are those of Gauss and Newton, as long as the error on blocks left out falls.
        """
        moves, least = self.rows.moves, np.inf
        for _ in range(_STEPS if chosen.shaped else 0):
            rows = self._folded(chosen, moves)
            new, fits = replace(chosen, rows=rows), Folds(rows, folds.weights)
            error = fits.squares(new.columns())[0].sum()
            if error >= least:
                break
            self.rows, chosen, folds, least = rows, new, fits, error
            moves = self._moved(chosen, folds)
            if np.array_equal(moves, rows.moves):
                break
        return chosen, folds

    def _moved(self, chosen: Chosen, folds: Folds) -> Array:
        """Return the factors of shapes after a step of those whose slopes are beyond zero."""
        columns = chosen.columns()
        values = folds.squares(columns)[1]
        moves = self.rows.moves.copy()
        for key in chosen.shaped:
            slope = self.rows.slope(*key)
            if slope is None:
                continue
            size = values[:, columns == self.rows.column(*key)].ravel()
            lean = values[:, columns == slope].ravel()
            if abs(jackknife_ratio(lean)) > _LEANS:
                step = np.clip(lean.mean() / size.mean(), -LONGEST, LONGEST)
                moves[key] = np.clip(moves[key] * np.exp(step), 1.0 / AWAY, AWAY)
        return moves

    def _folded(self, chosen: Chosen, moves: Array) -> CandidateRows:
        """Return rows with the slopes of what is chosen, and with moved shapes."""
        return CandidateRows.of(
            self._source, self.rows.candidates, self._followed, chosen.shaped, moves
        )

    def _step(self) -> int:
        """Return the number of the next step."""
        return 1 + max((one.step for one in self._tried.values()), default=0)

    def _loads(self, folds: Folds, chosen: Chosen) -> Array:
        """Return (full columns,) parameters, those of the terms that are chosen left out."""
        columns = chosen.columns()
        values = np.zeros(self.rows.columns)
        values[columns] = folds.squares(columns)[1].mean(axis=0)
        return self.rows.base.full(values[: self.rows.base.rank])

    def _begun(self) -> Folds:
        """Return fits in which every joint counts by its efforts."""
        return Folds(self.rows, np.tile(inverse_roots(self.rows.effort_squares), 2))

    def _weighted(self, chosen: Chosen, folds: Folds, *, slow: bool = True) -> tuple[Folds, Array]:
        """Return fits weighted by the residuals of blocks left out, and (joints,) their squares.

        Args:
            chosen: terms of the fit.
            folds: those that the residuals are taken of.
            slow: whether rows near standstill count.
        """
        folds = Folds(self.rows, self.rows.weights(self._left_out(folds, chosen), slow=slow))
        return folds, self._left_out(folds, chosen).reshape(2, -1).sum(axis=0)

    def _left_out(self, folds: Folds, chosen: Chosen) -> Array:
        """Return squared residuals by factor of a block, each block by the fit without it."""
        columns = chosen.columns()
        _, values = folds.squares(columns)
        found = np.zeros(len(self.rows.factors[0]))
        for factors, x in zip(self.rows.factors, values, strict=True):
            vector = np.zeros(self.rows.columns)
            vector[columns] = x
            found += [factor.residual_norm(vector) ** 2 for factor in factors]
        return found

    def _best(self, trials: Trials, chosen: Chosen) -> tuple[Key, ...]:
        """Try everything once; return what wins, nothing where nothing may be added."""
        candidates = range(len(self.rows.candidates))
        keys = [(k, i) for k in self._joints for i in candidates if chosen.admits(k, i)]
        tried = dict(zip(keys, trials.of(chosen, keys, self._rule), strict=True))
        self._tried |= tried
        counts = self.rows.counts
        found = [
            Family((key,), one.gain * float(counts[key[0]]), (one,))
            for key, one in tried.items()
            if not one.reason
        ]
        for candidate in candidates:
            family = family_of(trials, chosen, candidate, level=self._level, rule=self._rule)
            found += [] if family is None else [family]
        if not found:
            return ()
        best = max(found, key=lambda family: (family.fall, family.keys))
        for key, one in zip(best.keys, best.tried, strict=True):
            self._tried[key] = replace(one, chosen=True)
        return best.keys

    def _pruned(self, folds: Folds, chosen: Chosen) -> Chosen:
        """Return what is left when nothing lowers the error by being taken away."""
        while chosen.keys:
            with_all, _ = folds.squares(chosen.columns())
            loss = {}
            for key in chosen.keys:
                without, _ = folds.squares(chosen.without(key).columns())
                loss[key] = float(fall_and_error(without, with_all)[0])
            key = min(loss, key=lambda own: loss[own])
            if loss[key] > 0.0:
                break
            chosen = chosen.without(key)
            self._tried[key] = replace(
                self._tried[key], chosen=False, reason="superfluous beside those chosen later"
            )
        return chosen
