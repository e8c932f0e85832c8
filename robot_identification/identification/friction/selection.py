"""Forward selection of joint terms by the error on blocks of time that are left out of the fit.

A term is added where all of this holds:

- the squared residual of the five blocks left out falls by more than its standard error over the
  blocks (the one-standard-error rule: L. Breiman et al., *Classification and Regression Trees*,
  1984, section 3.4.3);
- the parameter is told by the data: its estimates without each block agree, so that it is beyond
  zero by the deviation of the jackknife (B. Efron, *The Jackknife, the Bootstrap and Other
  Resampling Plans*, 1982, ch. 3), which knows coloured residuals, at a level that is divided among
  all that is tried at a joint; a smooth sign in place of a sharp one is asked beside it;
- the fall is worth a parameter: a percent of the joint's own residual;
- friction takes power from the motion at every speed that the joint reaches.

Of all that may be added, what lowers the error most comes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from robot_identification.identification.friction.candidates import CandidateRows
from robot_identification.identification.friction.folds import (
    Addition,
    Folds,
    Places,
    inverse_roots,
)
from robot_identification.robot.arrays import Array
from robot_identification.robot.terms import SignCondition

LEVEL = 0.05
"""Chance with which a joint without any other friction gets a term."""

_WORTH = 0.01
"""Fall of the squared residual, over that of the joint, that is worth a parameter."""

_SPEEDS = np.geomspace(1e-4, 1.0, 41)
"""Speeds over the largest one at which friction must take power from the motion."""

_TOLERATED = 0.05
"""Effort along the motion over the largest friction that estimates may be wrong by."""

_STEPS = 4
"""Terms that are added to a joint at most: more laws than that are not known of one joint."""


@dataclass(frozen=True)
class Tried:
    """A term that was tried at a joint.

    Attributes:
        joint: place of the joint.
        term: name of the term.
        shape: its shape parameters.
        replaces: name of the term that it stood in place of; empty for none.
        gain: fall of the squared residuals over that of the joint.
        gain_std: its standard error.
        value_over_std: estimate of the parameter over its deviation by the jackknife.
        step: number of the step of the selection in which it was tried last.
        chosen: whether it was added.
        reason: why not; empty where it was.
    """

    joint: int
    term: str
    shape: tuple[float, ...]
    replaces: str
    gain: float
    gain_std: float
    value_over_std: float
    step: int
    chosen: bool
    reason: str


@dataclass(frozen=True)
class Selection:
    """What was chosen.

    Attributes:
        chosen: for each joint the places of the candidates.
        tried: everything, the last trial of each.
        error: relative error on blocks left out, with what was chosen.
        plain_error: the same with nothing.
    """

    chosen: tuple[tuple[int, ...], ...]
    tried: tuple[Tried, ...]
    error: float
    plain_error: float


def select(rows: CandidateRows) -> Selection:
    """Choose the terms of every joint.

    Args:
        rows: with the columns of candidates.
    """
    return _Search(rows).run()


class _Search:
    def __init__(self, rows: CandidateRows) -> None:
        self._rows = rows
        self._joints = range(len(rows.base.robot.joints))
        self._chosen: list[list[int]] = [[] for _ in self._joints]
        self._tried: dict[tuple[int, int], Tried] = {}
        self._critical = critical_value(len(rows.factors) - 1, LEVEL / len(rows.candidates))

    def run(self) -> Selection:
        weights = inverse_roots(self._rows.effort_squares)
        plain = None
        step = 0
        while True:
            squares = self._left_out(Folds(self._rows, weights))
            weights = inverse_roots(squares / np.maximum(self._rows.counts, 1))
            folds = Folds(self._rows, weights)
            error = self._error(folds)
            plain = error if plain is None else plain
            step += 1
            best = self._best(folds, step)
            if best is None:
                break
            joint, candidate = best
            self._chosen[joint].append(candidate)
        tried = [self._tried[key] for key in sorted(self._tried)]
        return Selection(tuple(tuple(own) for own in self._chosen), tuple(tried), error, plain)

    def columns(self, joint: int | None = None, candidate: int | None = None) -> Places:
        """Return the columns of the model, with one more candidate where it is named."""
        rows = self._rows
        kept = np.ones(rows.columns, dtype=np.bool_)
        kept[rows.base.rank :] = False
        for k in self._joints:
            more = [candidate] if k == joint and candidate is not None else []
            for own in (*self._chosen[k], *more):
                kept[rows.column(k, own)] = True
                gone = rows.own(k, rows.candidates[own].replaces)
                if gone is not None:
                    kept[gone] = False
        return np.flatnonzero(kept)

    def _left_out(self, folds: Folds) -> Array:
        """Return (joints,) squared residuals of the blocks, each by the fit without it."""
        chosen = self.columns()
        _, values = folds.squares(chosen)
        found = np.zeros(len(self._joints))
        for factors, x in zip(self._rows.factors, values, strict=True):
            vector = np.zeros(self._rows.columns)
            vector[chosen] = x
            found += [factor.residual_norm(vector) ** 2 for factor in factors]
        return found

    def _error(self, folds: Folds) -> float:
        """Return the relative error of all joints on blocks left out."""
        efforts = max(self._rows.effort_squares.sum(), 1e-300)
        return float(np.sqrt(self._left_out(folds).sum() / efforts))

    def _best(self, folds: Folds, step: int) -> tuple[int, int] | None:
        """Try everything once; return the joint and the candidate that win, None for none."""
        before, _ = folds.squares(self.columns())
        found: list[tuple[float, int, int]] = []
        for joint, candidates, model in self._alike():
            further = [self._rows.column(k, own) for k, own in zip(joint, candidates, strict=True)]
            addition = folds.added(model, np.array(further, dtype=np.intp))
            if len(model) < len(self.columns()):  # a sign is always told, its shape need not be
                beside = folds.added(self.columns(), np.array(further, dtype=np.intp))
                addition = replace(addition, values=beside.values, told=beside.told)
            for place, key in enumerate(zip(joint, candidates, strict=True)):
                tried = self._judged(key, before, addition, place, step)
                if not tried.reason and self._drives(folds, *key):
                    tried = replace(tried, reason="would drive the motion")
                self._tried[key] = tried
                if not tried.reason:
                    found.append((tried.gain, *key))
        if not found:
            return None
        _, *winner = max(found)
        key = winner[0], winner[1]
        self._tried[key] = replace(self._tried[key], chosen=True)
        return key

    def _alike(self) -> Iterator[tuple[list[int], list[int], Places]]:
        """Yield joints and candidates that are tried beside the same columns, and these."""
        added: tuple[list[int], list[int]] = [], []
        for joint in self._joints:
            own = [i for i in range(len(self._rows.candidates)) if self._admitted(joint, i)]
            plain = [i for i in own if not self._rows.candidates[i].replaces]
            added[0].extend([joint] * len(plain))
            added[1].extend(plain)
            for name in dict.fromkeys(self._rows.candidates[i].replaces for i in own):
                group = [i for i in own if self._rows.candidates[i].replaces == name != ""]
                if group:
                    gone = self._rows.own(joint, name)
                    model = self.columns()
                    yield [joint] * len(group), group, model[model != gone]
        if added[0]:
            yield (*added, self.columns())

    def _admitted(self, joint: int, candidate: int) -> bool:
        """Tell whether a joint's model has neither the term nor its like, and room for it."""
        own = self._rows.candidates[candidate]
        names = {self._rows.candidates[i].term.name for i in self._chosen[joint]}
        names |= self._rows.base.robot.joints[joint].terms
        gone = {self._rows.candidates[i].replaces for i in self._chosen[joint]}
        if own.replaces and (own.replaces in gone or own.replaces not in names):
            return False
        return own.term.name not in names and len(self._chosen[joint]) < _STEPS

    def _judged(
        self, key: tuple[int, int], before: Array, addition: Addition, place: int, step: int
    ) -> Tried:
        """Return what a candidate does, and what speaks against it."""
        joint, own = key[0], self._rows.candidates[key[1]]
        after, values = addition.squares[:, place], addition.values[:, place]
        count = len(after)
        fall = (before - after) / max(self._rows.counts[joint], 1)  # weighted squared residual
        gain, deviation = float(fall.sum()), float(np.sqrt(count) * fall.std(ddof=1))
        spread = np.sqrt((count - 1) / count * np.sum((values - values.mean()) ** 2))
        certain = float(values.mean() / max(spread, np.finfo(float).tiny))
        reason = ""
        if not addition.told[place]:
            reason = "cannot be told from the other terms"
        elif own.term.sign is SignCondition.NOT_NEGATIVE and values.mean() < 0.0:
            reason = "would drive the motion"
        elif gain < _WORTH:
            reason = "explains too little"
        elif gain <= deviation:
            reason = "within the standard error of the blocks"
        elif abs(certain) < self._critical:
            reason = "not identifiable"
        return Tried(
            joint=joint,
            term=own.term.name,
            shape=own.shape(float(self._rows.speeds[joint])),
            replaces=own.replaces,
            gain=gain,
            gain_std=deviation,
            value_over_std=certain,
            step=step,
            chosen=False,
            reason=reason,
        )

    def _drives(self, folds: Folds, joint: int, candidate: int) -> bool:
        """Tell whether the friction of a joint would drive it at a speed that it reaches."""
        rows, chosen = self._rows, self.columns(joint, candidate)
        values = dict(zip(chosen.tolist(), folds.squares(chosen)[1].mean(axis=0), strict=True))
        top = float(rows.speeds[joint])
        speed = top * np.concatenate([-_SPEEDS[::-1], _SPEEDS])
        effort = np.zeros_like(speed)
        for term in rows.base.robot.joints[joint].joint_terms:
            place = rows.own(joint, term.name)
            if term.dissipates and term.kind.of_rate and place in values:
                shape = rows.base.robot.joints[joint].shape_of(term)
                effort += values[place] * term.kind.of(speed, shape=shape)
        for own in (*self._chosen[joint], candidate):
            known = rows.candidates[own]
            if known.term.kind.of_rate:
                factor = known.term.kind.of(speed, shape=known.shape(top))
                effort += values[rows.column(joint, own)] * factor
        against = effort * np.sign(speed)
        return bool(against.min() < -_TOLERATED * np.abs(effort).max())


def critical_value(freedoms: int, level: float) -> float:
    """Return the value that Student's t exceeds in size with a probability.

    Args:
        freedoms: degrees of freedom.
        level: the probability.
    """
    return float(stdtrit(freedoms, 1.0 - level / 2.0))
