"""Judgement of a fit to folded rows, whose samples are gone: signs and factors of the efforts.

A triangular factor stands for the rows of a joint, so that its efforts can be changed and all be
fitted again.  What would change the regressor, or add to it, needs the samples.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_identification.identification.diagnosis.finding import Finding, Severity, worst_first
from robot_identification.identification.diagnosis.naming import (
    ALIKE,
    DRIVEN,
    LEAST,
    all_driven,
    driven,
    least_gain,
    most_changed,
    named,
)
from robot_identification.identification.diagnosis.refits.columns import over_deviation
from robot_identification.identification.diagnosis.refits.refit import Grams, JointRows
from robot_identification.identification.diagnosis.refits.scalings import Scalings, Trial
from robot_identification.identification.rows.factor import JointFactor, merge
from robot_identification.robot.arrays import Array
from robot_identification.robot.terms.joint_terms import TERMS
from robot_identification.robot.terms.kinds import TermKind

_COLOURED = 25.0
"""Rows that are worth an independent one: white residuals understate deviations of measured robots
five times, and folded rows do not tell how they follow each other."""

_NOT_LOOKED_FOR = Finding(
    Severity.NOTE,
    "not looked for",
    (),
    "of folded rows only signs and factors of the efforts can be judged; signals, positions, "
    "exchanged joints, times, gravity, geometry, springs, couplings and friction laws need the "
    "samples",
    "diagnose some of the recordings by themselves",
)


def folded_findings(
    joint_names: Sequence[str],
    parameters: Sequence[str],
    groups: Sequence[Sequence[JointFactor]],
    numbers: Sequence[int],
) -> tuple[Finding, ...]:
    """Return what is wrong with the efforts behind folded rows, the worst first.

    The last finding is a note of what cannot be looked for.

    Args:
        joint_names: names of the joints.
        parameters: names of the columns.
        groups: of each recording, or of several, one factor per joint; those of the first half and
            those of the second one are judged apart, as a mistake acts all the time.
        numbers: of the joints in the names of parameters; with loops they are not 1, 2 and so on.
    """
    if not all(any(group[k].effort_norm for group in groups) for k in range(len(joint_names))):
        return (_NOT_LOOKED_FOR,)
    joints = [_halves(groups, joint) for joint in range(len(joint_names))]
    scalings = Scalings(Grams([_rows(*pair) for pair in joints], len(parameters)))
    powers = np.array(
        [_power(number, pair, parameters) for number, pair in zip(numbers, joints, strict=True)]
    )
    every = all_driven(joint_names, powers)
    if every is not None:
        return worst_first([every, _NOT_LOOKED_FOR])
    explaining = _explaining(scalings, [sum(f.rows for f in pair) for pair in joints], powers)
    best, other = [*explaining, None, None][:2]
    found = [] if best is None else [named(joint_names, scalings.before, best, other)]
    found += [
        driven("effort sign", (joint_names[int(joint)],), float(powers[joint]))
        for joint in np.flatnonzero(powers < -DRIVEN)
        if best is None or int(joint) not in best.joints
    ]
    return worst_first([*found, _NOT_LOOKED_FOR])


def _halves(groups: Sequence[Sequence[JointFactor]], joint: int) -> tuple[JointFactor, JointFactor]:
    """Return the factors of a joint over either half of the groups; of a single one, it twice."""
    own = [group[joint] for group in groups]
    middle = (len(own) + 1) // 2
    return merge(own[:middle]), merge(own[middle:] or own)


def _rows(first: JointFactor, second: JointFactor) -> JointRows:
    """Return few rows with the mean squares of those behind two factors of a joint."""
    scaled = [f.triangle * (len(f.triangle) / max(f.rows, 1)) ** 0.5 for f in (first, second)]
    rows = np.vstack(scaled)
    part = np.repeat([0, 1], [len(own) for own in scaled])
    return JointRows(np.asarray(first.columns), rows[:, :-1], rows[:, -1], part)


def _explaining(scalings: Scalings, rows: Sequence[int], powers: Array) -> list[Trial]:
    """Return the changes of one joint's efforts that explain about as much as the best one does.

    Args:
        scalings: of the fit.
        rows: number of rows behind those of every joint.
        powers: (joints,) those of friction; of signs that contradict each other, that is wrong
            whose friction would drive its joint.

    Returns:
        The simplest first; none where none explains enough.
    """
    if len(rows) == 1:
        return []  # a fit takes any factor of all efforts
    every = [trial for joint in range(len(rows)) for trial in scalings.of_effort(joint)]
    promising = []
    for trial in every:
        joint = most_changed(scalings.before, trial)
        freed = len(scalings.grams.rows[joint].columns)
        if trial.gain >= least_gain(len(every), freed, rows[joint] / _COLOURED, LEAST):
            promising.append(trial)
    most = max((one.gain for one in promising), default=0.0)

    def simplest(trial: Trial) -> tuple[bool, float, float]:
        sign = trial.cause == "effort sign"
        return not sign, float(powers[trial.joints[0]]) if sign else 0.0, -trial.gain

    return sorted((one for one in promising if one.gain >= ALIKE * most), key=simplest)


def _power(number: int, pair: tuple[JointFactor, JointFactor], parameters: Sequence[str]) -> float:
    """Return the power that a joint's friction takes, over its deviation, 0 where it is not known.

    The columns of viscous and Coulomb friction are the speed and its sign, so that their products
    are the means that the power needs.

    Args:
        number: of the joint in the names of parameters.
        pair: factors of its rows.
        parameters: names of the columns.
    """
    rows = _rows(*pair)
    weights = np.zeros(len(rows.columns))
    own = [parameters[column] for column in rows.columns]
    friction = [
        f"{term.name}{number}"
        for term in TERMS
        if term.kind in (TermKind.VISCOUS, TermKind.COULOMB)
    ]
    places = [own.index(name) for name in friction if name in own]
    if not places:
        return 0.0
    speed: Array = rows.matrix[:, places[0]]
    for place in places:
        weights[place] = float(speed @ rows.matrix[:, place])
    measured = sum(factor.rows for factor in pair)
    return over_deviation(rows, weights) * float((measured / len(rows.effort)) ** 0.5)
