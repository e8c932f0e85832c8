"""Judgement after the fit: which one change would explain what is left.

For every joint a wrong sign, a factor, a shift in time and swapped joints are tried, and for the
whole robot another gravity, geometry and clock, each by refitting with that change alone; beside
them what the model lacks (:mod:`.lacking`), and what changes in the course of the recordings
(:mod:`.course`).  What a change explains is counted in halvings of the variance that is left of one
joint, in the half of the recording where it is less.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np

from robot_identification.errors import CancelledError
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.diagnosis.causes import RANK
from robot_identification.identification.diagnosis.course import brief_findings, drift_findings
from robot_identification.identification.diagnosis.finding import Finding, Severity, worst_first
from robot_identification.identification.diagnosis.lacking import lacking_findings
from robot_identification.identification.diagnosis.naming import (
    ALIKE,
    DRIVEN,
    EXPLAINS,
    LEAST,
    all_driven,
    cause_of,
    driven,
    least_gain,
    most_changed,
    named,
)
from robot_identification.identification.diagnosis.refits.columns import (
    felt_inertia,
    friction_power,
)
from robot_identification.identification.diagnosis.refits.motion import thinned
from robot_identification.identification.diagnosis.refits.refit import FLOOR, independent_rows
from robot_identification.identification.diagnosis.refits.scalings import Trial
from robot_identification.identification.diagnosis.refits.trials import Trials
from robot_identification.robot.arrays import Array
from robot_identification.signals.filtered import FilteredSegment
from robot_identification.signals.processing.complete import Processing

_COMMON = 1.5
"""Wrong stamps are so for all joints: moving all explains more than moving the best of them."""

_TOLERATED = -0.3
_CLEAR = 0.3
"""Gains that differ by less do not tell causes apart; a sign may cost as much that is right."""

_FEWEST_ROWS = 20


def fit_findings(
    base: BaseParameters,
    segments: Sequence[FilteredSegment],
    processing: Processing,
    cancelled: Callable[[], bool] | None = None,
) -> tuple[Finding, ...]:
    """Return what one change would explain of what a fit leaves, the worst first.

    Robots with loops are not judged.

    Args:
        base: base parameters of the robot.
        segments: filtered samples that were fitted.
        processing: the settings that they were filtered with.
        cancelled: asked before every change that is tried whether to stop.

    Raises:
        CancelledError: ``cancelled`` says so.
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
    for joint in np.flatnonzero(np.abs(powers) < DRIVEN):
        inertia = felt_inertia(motion, int(joint), rows[joint], columns)
        powers[joint] = inertia if abs(inertia) > DRIVEN else powers[joint]
    best = _winner(trials, powers, cancelled or _never)
    drifts = list(drift_findings(motion, rows))
    lacking = lacking_findings(trials, columns, best[0].gain if best else 0.0, drifts)
    mistaken = [one for one in lacking if one.severity is Severity.MISTAKE]
    if best is not None and sum(one.figures["gain"] for one in mistaken) >= best[0].gain:
        best = None  # as a shift in time does some of what viscous friction does
    names, noise = trials.robot.joint_names, processing.row_noise
    found = lacking if best is None else [named(names, trials.before, *best, row_noise=noise)]
    course = [*drifts, *brief_findings(motion, rows, trials.before)]
    return worst_first([*found, *course, *_signs(trials, powers, best[0] if best else None)])


def _never() -> bool:
    return False


def _winner(
    trials: Trials, powers: Array, cancelled: Callable[[], bool]
) -> tuple[Trial, Trial | None] | None:
    """Return the trial that explains most, and the next one that is about something else.

    Args:
        trials: of the fit.
        powers: (joints,) those of friction; where the signs of two joints contradict each other,
            that one is wrong whose friction would drive it.
        cancelled: asked before every trial whether to stop.
    """
    room = 2.0 * np.log2(np.maximum(trials.before.left, FLOOR) / FLOOR).sum()
    if room < LEAST:
        return None
    every = []
    for trial in chain(trials.of_efforts(), trials.of_motion(), trials.of_description()):
        if cancelled():
            raise CancelledError("cancelled while looking for what is wrong")
        every.append(trial)
    shifts = [one.gain for one in every if one.cause == "time shift" and one.joints]
    every = [
        one
        for one in every
        if one.gain >= LEAST  # which is asked first, as it costs nothing
        and one.gain >= _needed(trials, one, len(every))
        and _is_common(one, max(shifts, default=0.0))
    ]
    if not every:
        return None
    most = max(every, key=lambda one: one.gain)
    most = trials.refined(most)
    rivals = [one for one in every if one.gain >= ALIKE * most.gain]
    best = min([most, *rivals], key=lambda one: (_rank(one), _power(one, powers), -one.gain))
    best = trials.refined(best)
    others = [
        one
        for one in every
        if one.gain >= ALIKE * best.gain and (one.cause, one.joints) != (best.cause, best.joints)
    ]
    return best, max(others, key=lambda one: one.gain, default=None)


def _needed(trials: Trials, trial: Trial, tried: int) -> float:
    """Return the gain from which on a trial is named, of so many that were tried."""
    joint = most_changed(trials.before, trial)
    freed = 1 if trial.cause == "time shift" else len(trials.grams.rows[joint].columns)
    independent = independent_rows(trial.fit.residuals[joint])
    # Friction that lags looks like a shift in one joint, as a lack of the model.
    lagging = trial.cause == "time shift" and trial.joints
    return least_gain(tried, freed, independent, EXPLAINS if lagging else LEAST)


def _is_common(trial: Trial, largest: float) -> bool:
    """Tell whether a shift of all joints is not about one of them alone; true of other trials.

    Args:
        trial: the trial.
        largest: gain of the best shift of one joint.
    """
    return trial.cause != "time shift" or bool(trial.joints) or trial.gain > _COMMON * largest


def _power(trial: Trial, powers: Array) -> float:
    is_sign = trial.cause == "effort sign" and trial.joints
    return float(powers[trial.joints[0]]) if is_sign else 0.0


def _rank(trial: Trial) -> int:
    return RANK[cause_of(trial)]


def _signs(trials: Trials, powers: Array, best: Trial | None) -> list[Finding]:
    """Return joints whose friction drives them: their efforts have the wrong sign."""
    names = trials.robot.joint_names
    every = all_driven(names, powers)
    if every is not None:
        return [every]
    if best is not None and best.joints == ():
        return []  # what is wrong with the whole robot explains this too
    found = []
    for joint in np.flatnonzero(powers < -DRIVEN):
        if best is not None and int(joint) in best.joints:
            continue
        efforts, positions = trials.negated(int(joint))
        if max(efforts.gain, positions.gain) < _TOLERATED:
            continue
        clear = abs(efforts.gain - positions.gain) > _CLEAR
        best_sign = positions if clear and positions.gain > efforts.gain else efforts
        also = "" if clear else f" (about as well: position sign of {names[joint]})"
        power = float(powers[joint])
        found.append(driven(cause_of(best_sign), (names[joint],), power, also))
    return found
