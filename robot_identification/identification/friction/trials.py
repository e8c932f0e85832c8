"""Trials of one term at one joint, beside what is chosen already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from robot_identification.identification.friction.candidates import Key
from robot_identification.identification.friction.chosen import Chosen
from robot_identification.identification.friction.evidence import fall_and_error, jackknife_ratio
from robot_identification.identification.friction.folds import Addition, Folds
from robot_identification.robot.arrays import Array
from robot_identification.robot.terms.joint_terms import SignCondition

DRIVES = "would drive the motion"
"""Why friction is not added that gives power to the motion."""


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
        together: whether it was added together with the same term of other joints.
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
    together: bool = False


@dataclass(frozen=True)
class Rule:
    """What a term must reach.

    Attributes:
        worth: fall of the squared residual over that of the joint.
        errors: the same, over its standard error.
        critical: estimate of the parameter over its deviation.
    """

    worth: float
    errors: float
    critical: float


@dataclass(frozen=True)
class Trials:
    """Trials on folds.

    Attributes:
        folds: fits without each block.
        step: number of the step of the selection.
    """

    folds: Folds
    step: int

    def of(self, chosen: Chosen, keys: Sequence[Key], rule: Rule) -> list[Tried]:
        """Try terms, each by itself beside what is chosen, and judge them.

        Args:
            chosen: what is chosen.
            keys: what is tried.
            rule: what it must reach.
        """
        before, _ = self.folds.squares(chosen.columns())
        found = {}
        for group in _alike(chosen, keys):
            further = np.array([chosen.rows.column(*key) for key in group], dtype=np.intp)
            model = chosen.columns(but=group[:1])
            addition = self.folds.added(model, further)
            if len(model) < len(chosen.columns()):  # a sign is always told, its shape need not be
                beside = self.folds.added(chosen.columns(), further)
                addition = replace(addition, values=beside.values, told=beside.told)
            tests = _tests(before, addition)
            for place, key in enumerate(group):
                tried = self._judged(chosen, key, tests[place], rule)
                if not tried.reason and chosen.plus([key]).drives(self.folds, key[0]):
                    tried = replace(tried, reason=DRIVES)
                found[key] = tried
        return [found[key] for key in keys]

    def _judged(self, chosen: Chosen, key: Key, test: _Test, rule: Rule) -> Tried:
        """Return what a candidate does, and what speaks against it."""
        joint, rows = key[0], chosen.rows
        own = rows.candidates[key[1]]
        count = max(int(rows.counts[joint]), 1)  # the weighted squared residual of the joint
        gain, deviation, certain = test.fall / count, test.error / count, test.certain
        reason = ""
        if not test.told:
            reason = "cannot be told from the other terms"
        elif own.term.sign is SignCondition.NOT_NEGATIVE and certain < 0.0:
            reason = DRIVES
        elif gain < rule.worth:
            reason = "explains too little"
        elif gain <= rule.errors * deviation:
            reason = "within the standard error of the blocks"
        elif abs(certain) < rule.critical:
            reason = "not identifiable"
        return Tried(
            joint=joint,
            term=own.term.name,
            shape=rows.shape(*key),
            replaces=own.replaces,
            gain=gain,
            gain_std=deviation,
            value_over_std=certain,
            step=self.step,
            chosen=False,
            reason=reason,
        )


class _Test(NamedTuple):
    """What a candidate does.

    Attributes:
        fall: of the weighted squared residual of all joints.
        error: its standard error.
        certain: the estimate over its deviation.
        told: whether the rows tell it from the other terms.
    """

    fall: float
    error: float
    certain: float
    told: bool


def _tests(before: Array, addition: Addition) -> list[_Test]:
    """Return what every column of an addition does to what was left before."""
    falls, errors = fall_and_error(before[:, None], addition.squares)
    certain = jackknife_ratio(addition.values)
    columns = (falls.tolist(), errors.tolist(), certain.tolist(), addition.told.tolist())
    return [_Test(*one) for one in zip(*columns, strict=True)]


def _alike(chosen: Chosen, keys: Sequence[Key]) -> Iterator[list[Key]]:
    """Yield groups of candidates that are tried beside the same columns."""
    groups: dict[tuple[int, str], list[Key]] = {}
    for joint, candidate in keys:
        gone = chosen.rows.candidates[candidate].replaces
        groups.setdefault((joint if gone else -1, gone), []).append((joint, candidate))
    yield from groups.values()
