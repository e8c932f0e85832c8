"""The same term at several joints, as one hypothesis.

The joints of a robot mostly have drives of one make, and what holds for one holds for others.  Each
of them may tell little of a term in a short recording; together they tell it.  A family is a
candidate at every joint that has room for it.  It is considered where the estimates of all joints
together are beyond zero, and keeps the joints at which the term is beyond zero by itself, at a
level that is no longer divided among all terms, and lowers the error on blocks left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_identification.identification.friction.candidates import Key
from robot_identification.identification.friction.chosen import Chosen
from robot_identification.identification.friction.evidence import (
    LEVEL,
    critical_score,
    critical_value,
    fall_and_error,
    jackknife_ratio,
    joint_evidence,
)
from robot_identification.identification.friction.trials import DRIVES, Rule, Trials, Tried
from robot_identification.robot.terms.joint_terms import SignCondition


@dataclass(frozen=True)
class Family:
    """A candidate at several joints that may be added.

    Attributes:
        keys: its joints.
        fall: of the weighted squared residual of all joints.
        tried: of each joint, beside the others.
    """

    keys: tuple[Key, ...]
    fall: float
    tried: tuple[Tried, ...]


def family_of(
    trials: Trials, chosen: Chosen, candidate: int, *, level: float, rule: Rule
) -> Family | None:
    """Return a candidate at all joints that ask for it, None where fewer than two do.

    Args:
        trials: on the folds.
        chosen: what is chosen already.
        candidate: place of the candidate.
        level: chance with which a family is considered that no joint has.
        rule: what a term must reach at a joint by itself; a family reaches it in the mean.
    """
    joints = range(len(chosen.rows.base.robot.joints))
    keys = [(joint, candidate) for joint in joints if chosen.admits(joint, candidate)]
    if len(keys) < 2 or _score(trials, chosen, keys) < critical_score(level):
        return None
    freedoms = len(chosen.rows.factors) - 1
    member = Rule(worth=0.0, errors=0.0, critical=critical_value(freedoms, LEVEL))
    tried: list[Tried] = []
    while len(keys) >= 2:
        tried = [
            trials.of(chosen.plus(other for other in keys if other != key), [key], member)[0]
            for key in keys
        ]
        if not any(one.reason for one in tried):
            break
        refused = [at for at, one in enumerate(tried) if one.reason]
        del keys[min(refused, key=lambda at: (tried[at].reason != DRIVES, tried[at].gain))]
    else:
        return None
    before, _ = trials.folds.squares(chosen.columns())
    after, _ = trials.folds.squares(chosen.plus(keys).columns())
    fall, error = fall_and_error(before, after)
    worth = rule.worth * sum(int(chosen.rows.counts[joint]) for joint, _ in keys)
    if fall < worth or fall <= rule.errors * error:
        return None
    together = tuple(replace(one, together=True) for one in tried)
    return Family(tuple(keys), float(fall), together)


def _score(trials: Trials, chosen: Chosen, keys: Sequence[Key]) -> float:
    """Return the evidence of all joints; a term in place of another is asked beside it."""
    columns = chosen.columns(also=keys)
    places = np.searchsorted(columns, [chosen.rows.column(*key) for key in keys])
    values = trials.folds.squares(columns)[1][:, places]
    signs = [chosen.rows.candidates[own].term.sign for _, own in keys]
    return joint_evidence(
        jackknife_ratio(values),
        len(values) - 1,
        one_sided=[sign is SignCondition.NOT_NEGATIVE for sign in signs],
    )
