"""Trials that need no more than normal equations: the efforts of one joint times a factor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from robot_identification.identification.diagnosis.refits.refit import (
    Grams,
    Refit,
    gain,
    gain_below_floor,
)

DEGREES = 180.0 / np.pi
UNITS = (2.0, 0.5, 10.0, 0.1, 1000.0, 0.001, DEGREES, 1.0 / DEGREES)
"""By which units and gear ratios are wrong, where a search for any factor would begin."""

REFINED = 3

_DECADES = (0.1, 10.0)
_DETERMINED = 0.15
"""Gain, and part of it, by which a factor has to be better than a tenth and ten times of it.  Else
the fit only wants the joint to weigh nothing, or all: its efforts contradict the others, whatever
their factor."""


@dataclass(frozen=True)
class Trial:
    """What one change explains.

    Attributes:
        cause: what is changed; a word of :data:`.causes.CAUSES`.
        joints: places of the joints concerned; empty: all.
        amount: by which it is changed: a factor, s, rad or a direction's angle; 0 where there is
            no more than one way.
        gain: see :func:`.refit.gain`.
        fit: with the change.
        detail: further words, such as a direction.
    """

    cause: str
    joints: tuple[int, ...]
    amount: float
    gain: float
    fit: Refit
    detail: str = ""


class Scalings:
    """Trials on a fit.

    Args:
        grams: the fit.
    """

    def __init__(self, grams: Grams) -> None:
        self.grams = grams
        self.before = grams.fit()

    def scaled(self, joint: int, factor: float) -> Trial:
        """Return the trial with the efforts of a joint times a factor."""
        cause = "effort sign" if factor == -1.0 else "effort factor"
        effort = {joint: factor * self.grams.rows[joint].effort}
        return self._trial(cause, (joint,), factor, self.grams.fit(effort))

    def best_factor(self, joint: int) -> Trial | None:
        """Return the trial with the efforts of a joint times the factor that explains most.

        None where a factor of quite another size explains as much.
        """
        best = max((self.scaled(joint, f) for f in UNITS), key=lambda one: one.gain)
        if best.gain < 0.0:
            best = self.scaled(joint, 1.2)
        best = self.with_best_amount(best, lambda factor: self.scaled(joint, factor), 0.5)
        others = (self.scaled(joint, best.amount * decade).gain for decade in _DECADES)
        clear = best.gain - max(others) > _DETERMINED * max(best.gain, 1.0)
        return best if clear else None

    def with_best_amount(
        self, trial: Trial, changed: Callable[[float], Trial], span: float
    ) -> Trial:
        """Return the best of trials that differ in their amount only, by steps that are halved.

        Args:
            trial: to begin with; its amount keeps its sign.
            changed: makes the trial with an amount.
            span: logarithm of the first step.
        """
        best = trial
        for _ in range(2 * REFINED):
            near = [changed(best.amount * float(np.exp(side * span))) for side in (-1.0, 1.0)]
            best = max([best, *near], key=lambda one: gain_below_floor(self.before, one.fit))
            span *= 0.5
        return best

    def of_effort(self, joint: int) -> Iterator[Trial]:
        """Give out the trials with the efforts of a joint negated, and times a factor."""
        yield self.scaled(joint, -1.0)
        factor = self.best_factor(joint)
        if factor is not None:
            yield factor

    def _trial(
        self, cause: str, joints: tuple[int, ...], amount: float, fit: Refit, detail: str = ""
    ) -> Trial:
        return Trial(cause, joints, amount, gain(self.before, fit), fit, detail)
