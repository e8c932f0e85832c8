"""Judgement after the fit: which one change would explain what is left.

For every joint a wrong sign, a factor, a shift in time, swapped joints, a coupling, a torque of
position and other friction are tried, and for the whole robot another gravity, geometry and clock,
each by refitting with that change alone.  What a change explains is counted in halvings of the
variance that is left of one joint, in the half of the recording where it is less.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.diagnosis.causes import CAUSES, RANK
from robot_identification.identification.diagnosis.columns import (
    Explained,
    explained,
    felt_inertia,
    friction_power,
)
from robot_identification.identification.diagnosis.finding import Finding, Severity, worst_first
from robot_identification.identification.diagnosis.motion import thinned
from robot_identification.identification.diagnosis.refit import FLOOR
from robot_identification.identification.diagnosis.trials import DEGREES, Trial, Trials
from robot_identification.robot.model import Array
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.rows import FilteredSegment

EXPLAINS = 1.0
"""Halvings of one joint's variance from which on something that the model lacks is named."""

_LEAST = 0.3
_CHANCE = 2.0
"""A change of sign, factor, time or place is named from a fall of one joint's variance by a fifth
on, as no lack of a model looks like it, but not below twice what the best of all trials explains by
chance; see :func:`_by_chance`."""

_COMMON = 1.5
"""Wrong stamps are so for all joints: moving all explains more than moving the best of them."""

_ALIKE = 0.85
"""A simpler cause is preferred where it explains this part of what the best one does."""

_DRIVEN = 20.0
"""Standard deviations below zero at which the power of friction tells a wrong sign: four, by the
factor of five by which white residuals understate those of measured robots."""

_TOLERATED = -0.3
_CLEAR = 0.3
"""Gains that differ by less do not tell causes apart; a sign may cost as much that is right."""

_FEWEST_ROWS = 20


def fit_findings(
    base: BaseParameters, segments: Sequence[FilteredSegment], processing: Processing
) -> tuple[Finding, ...]:
    """Return what one change would explain of what a fit leaves, the worst first.

    Robots with loops are not judged.

    Args:
        base: base parameters of the robot.
        segments: filtered samples that were fitted.
        processing: the settings that they were filtered with.
    """
    if base.robot.loops:
        return ()  # a change of one joint's description is one of all that follow it
    motion = thinned(base.robot, segments, processing)
    if motion is None or int(motion.kept.sum(axis=1).min()) < _FEWEST_ROWS:
        return ()
    if not all(effort[kept].any() for effort, kept in zip(motion.effort, motion.kept, strict=True)):
        return ()
    columns = np.asarray(base.base_columns)
    trials = Trials(motion, columns)
    rows = trials.grams.rows
    if not all(own.enough for own in rows):
        return ()
    powers = np.array([friction_power(motion, k, own, columns) for k, own in enumerate(rows)])
    for joint in np.flatnonzero(np.abs(powers) < _DRIVEN):
        inertia = felt_inertia(motion, int(joint), rows[joint], columns)
        powers[joint] = inertia if abs(inertia) > _DRIVEN else powers[joint]
    best, lacking = _winner(trials, powers), _lacking(trials)
    mistaken = [one for one in lacking if one.severity is Severity.MISTAKE]
    if best is not None and sum(one.figures["gain"] for one in mistaken) >= best[0].gain:
        best = None  # as a shift in time does some of what viscous friction does
    found = lacking if best is None else [_named(trials, *best)]
    return worst_first([*found, *_signs(trials, powers, best[0] if best else None)])


def _winner(trials: Trials, powers: Array) -> tuple[Trial, Trial | None] | None:
    """Return the trial that explains most, and the next one that is about something else.

    Args:
        trials: of the fit.
        powers: (joints,) those of friction; where the signs of two joints contradict each other,
            that one is wrong whose friction would drive it.
    """
    room = 2.0 * np.log2(np.maximum(trials.before.left, FLOOR) / FLOOR).sum()
    if room < _LEAST:
        return None
    every = list(chain(trials.of_efforts(), trials.of_motion(), trials.of_description()))
    shifts = [one.gain for one in every if one.cause == "time shift" and one.joints]
    every = [
        one
        for one in every
        if one.gain >= _needed(trials, one, len(every))
        and _is_common(one, max(shifts, default=0.0))
    ]
    if not every:
        return None
    most = max(every, key=lambda one: one.gain)
    most = trials.refined(most)
    rivals = [one for one in every if one.gain >= _ALIKE * most.gain]
    best = min([most, *rivals], key=lambda one: (_rank(one), _power(one, powers), -one.gain))
    best = trials.refined(best)
    others = [
        one
        for one in every
        if one.gain >= _ALIKE * best.gain and (one.cause, one.joints) != (best.cause, best.joints)
    ]
    return best, max(others, key=lambda one: one.gain, default=None)


def _needed(trials: Trials, trial: Trial, tried: int) -> float:
    """Return the gain from which on a trial is named, of so many that were tried."""
    joint = _most_changed(trials, trial)
    freed = 1 if trial.cause == "time shift" else len(trials.grams.rows[joint].columns)
    chance = by_chance(tried, freed, float(trial.fit.independent[joint]))
    # Friction that lags looks like a shift in one joint, as a lack of the model.
    lagging = trial.cause == "time shift" and trial.joints
    return max(EXPLAINS if lagging else _LEAST, _CHANCE * chance)


def _is_common(trial: Trial, largest: float) -> bool:
    """Tell whether a shift of all joints is not about one of them alone; true of other trials.

    Args:
        trial: the trial.
        largest: gain of the best shift of one joint.
    """
    return trial.cause != "time shift" or bool(trial.joints) or trial.gain > _COMMON * largest


def by_chance(tried: int, freed: int, independent: float) -> float:
    """Return what the best of many changes explains of noise, in halvings of its variance.

    Args:
        tried: number of changes, whose best has a chi-squared of about 2 ln(tried).
        freed: number of parameters whose columns are others then, which adds its own.
        independent: number of rows, of those that are alike one counted.
    """
    return float((2.0 * np.log(tried) + freed) / (max(independent, 1.0) * np.log(2.0)))


def _most_changed(trials: Trials, trial: Trial) -> int:
    """Return the joint whose residual falls most."""
    before, after = trials.before.left, trial.fit.left
    return int(np.argmax(np.log(np.maximum(before, FLOOR) / np.maximum(after, FLOOR))))


def _power(trial: Trial, powers: Array) -> float:
    is_sign = trial.cause == "effort sign" and trial.joints
    return float(powers[trial.joints[0]]) if is_sign else 0.0


def _rank(trial: Trial) -> int:
    return RANK[_cause(trial)]


def _cause(trial: Trial) -> str:
    """Return the cause of a trial, a factor by its meaning."""
    if trial.cause == "position factor":
        if trial.amount == -1.0:
            return "position sign"
        if any(abs(trial.amount * f - 1.0) < 0.1 for f in (DEGREES, 1 / DEGREES, 1e3, 1e-3)):
            return "position unit"
    return trial.cause


def _named(trials: Trials, best: Trial, other: Trial | None) -> Finding:
    names = trials.robot.joint_names
    before, after = trials.before.left, best.fit.left
    places = best.joints or tuple(trials.joints)
    shown = _most_changed(trials, best)
    cause = CAUSES[_cause(best)]
    change = _change(trials, best)
    whole = best.joints == () and len(names) > 1
    text = (
        f"with {change} the fit leaves {100 * after[shown]:.2g} % of the efforts of "
        f"{names[shown]} in place of {100 * before[shown]:.2g} %"
    )
    if other is not None:
        text += f" (about as well: {_also(trials, other)})"
    return Finding(
        cause.severity, _cause(best), () if whole else tuple(names[i] for i in places), text,
        cause.advice,
        {
            "amount": best.amount,
            "gain": best.gain,
            "left_before": float(before[shown]),
            "left_after": float(after[shown]),
        },
        weight=20.0 + min(best.gain, 60.0),
    )  # fmt: skip


def _change(trials: Trials, trial: Trial) -> str:
    amount = 1e3 * trial.amount if trial.cause == "time shift" else trial.amount
    other = trials.robot.joint_names[trial.joints[-1]] if trial.joints else ""
    words = CAUSES[_cause(trial)].change.format(
        amount=f"{amount:.3g}", detail=trial.detail, other=other
    )
    if not trial.joints and len(trials.robot.joints) > 1:
        words = words.replace("its ", "all ")
    return words


def _also(trials: Trials, trial: Trial) -> str:
    names = [trials.robot.joint_names[i] for i in trial.joints]
    return f"{_cause(trial)} of {', '.join(names) or 'all joints'}"


def _signs(trials: Trials, powers: Array, best: Trial | None) -> list[Finding]:
    """Return joints whose friction drives them: their efforts have the wrong sign."""
    names = trials.robot.joint_names
    driven = np.flatnonzero(powers < -_DRIVEN)
    known = int(np.count_nonzero(np.abs(powers) > _DRIVEN))
    if not len(driven):
        return []
    if len(driven) == known and len(driven) > max(1, len(names) // 2):
        return [_driven("effort sign", tuple(names), float(powers[driven].max()), "")]
    if best is not None and best.joints == ():
        return []  # what is wrong with the whole robot explains this too
    found = []
    for joint in driven:
        if best is not None and int(joint) in best.joints:
            continue
        efforts, positions = trials.negated(int(joint))
        if max(efforts.gain, positions.gain) < _TOLERATED:
            continue
        clear = abs(efforts.gain - positions.gain) > _CLEAR
        best_sign = positions if clear and positions.gain > efforts.gain else efforts
        also = "" if clear else f" (about as well: position sign of {names[joint]})"
        power = float(powers[joint])
        found.append(_driven(_cause(best_sign), (names[joint],), power, also))
    return found


def _driven(cause: str, joints: tuple[str, ...], power: float, also: str) -> Finding:
    return Finding(
        Severity.MISTAKE,
        cause,
        joints,
        f"friction would drive the motion, or inertia help to accelerate: {-power:.0f} standard "
        f"deviations below zero{also}",
        CAUSES[cause].advice,
        {"power_over_std": power},
        weight=15.0,
    )


def _lacking(trials: Trials) -> list[Finding]:
    """Return what the model of a joint lacks by itself."""
    found = []
    names = trials.robot.joint_names
    own = [explained(trials.motion, k, rows) for k, rows in enumerate(trials.grams.rows)]
    for joint in trials.joints:
        every = [one for one in own[joint] if _is_lacking(one, own)]
        if not every:
            continue
        missing = [one for one in every if one.addition.cause == "missing term"]
        alike = missing or [one for one in every if one.gain >= _ALIKE * every[0].gain]
        best = min(alike, key=lambda one: RANK[one.addition.cause])
        cause = CAUSES[best.addition.cause]
        change = cause.change.format(detail=best.addition.detail)
        found.append(
            Finding(
                cause.severity, best.addition.cause,
                tuple(names[i] for i in best.addition.joints),
                f"with {change} its own rows leave {100 * best.left[1]:.2g} % of its efforts in "
                f"place of {100 * best.left[0]:.2g} %",
                cause.advice,
                {"gain": best.gain, "left_before": best.left[0], "left_after": best.left[1]},
                weight=10.0 + best.gain,
            )
        )  # fmt: skip
    return found


def _is_lacking(found: Explained, own: Sequence[Sequence[Explained]]) -> bool:
    """Tell whether what an addition explains is beyond chance, and of a coupling, on both sides.

    Args:
        found: the addition.
        own: of every joint what was tried.
    """
    tried, freed = len(own) * len(own[found.addition.joints[0]]), found.addition.matrix.shape[1]
    chance = by_chance(tried, freed, found.independent)
    if found.gain < max(EXPLAINS, _CHANCE * chance):
        return False
    if found.addition.cause != "missing coupling":
        return True
    joint, other = found.addition.joints
    back = [one.gain for one in own[other] if one.addition.joints == (other, joint)]
    return bool(back) and back[0] > _LEAST  # a drive that moves two joints is felt by both
