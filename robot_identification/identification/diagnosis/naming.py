"""Sentences of what trials explain, and how much the best of them explains by chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_identification.identification.diagnosis.causes import CAUSES
from robot_identification.identification.diagnosis.finding import Finding, Severity
from robot_identification.identification.diagnosis.refits.refit import FLOOR, Refit
from robot_identification.identification.diagnosis.refits.scalings import DEGREES, Trial
from robot_identification.robot.arrays import Array
from robot_identification.signals.processing.derived import ROW_NOISE

LEAST = 0.3
CHANCE = 2.0
"""A change of sign, factor, time or place is named from a fall of one joint's variance by a fifth
on, as no lack of a model looks like it, but not below twice what the best of all trials explains by
chance; see :func:`by_chance`."""

EXPLAINS = 1.0
"""Something that the model lacks, or that changes meanwhile, is named where it explains as much as
all that is left then."""

ALIKE = 0.85
"""A simpler cause is preferred where it explains this part of what the best one does."""

DRIVEN = 20.0
"""Standard deviations below zero at which the power of friction tells a wrong sign: four, by the
factor of five by which white residuals understate those of measured robots."""

_OF_NOISE = ("time shift", "clock")
"""Changes that noise of accelerations looks like: it pulls inertia towards zero, and what inertia
no longer explains is taken over by friction that comes earlier or later, or by a slower clock."""

_ORDINARY = 0.005
"""Delays in s that drives and their filters have, of sound recordings too: doubted, no mistake."""


def by_chance(tried: int, freed: int, independent: float) -> float:
    """Return what the best of many changes explains of noise, in halvings of its variance.

    Args:
        tried: number of changes, whose best has a chi-squared of about 2 ln(tried).
        freed: number of parameters whose columns are others then, which adds its own.
        independent: number of rows, of those that are alike one counted.
    """
    return float((2.0 * np.log(tried) + freed) / (max(independent, 1.0) * np.log(2.0)))


def least_gain(tried: int, freed: int, independent: float, least: float = EXPLAINS) -> float:
    """Return the gain from which on the best of many changes is named; as for :func:`by_chance`.

    Args:
        tried: number of changes.
        freed: number of parameters whose columns are others then.
        independent: number of rows, of those that are alike one counted.
        least: gain below which none is, however little chance explains.
    """
    return max(least, CHANCE * by_chance(tried, freed, independent))


def most_changed(before: Refit, trial: Trial) -> int:
    """Return the joint whose residual falls most."""
    left = [np.maximum(fit.left, FLOOR) for fit in (before, trial.fit)]
    return int(np.argmax(np.log(left[0] / left[1])))


def told_shares(efforts: str, before: float, after: float) -> str:
    """Return what a fit leaves of efforts with and without a change, for people."""
    return f"{100 * after:.2g} % of {efforts} in place of {100 * before:.2g} %"


def cause_of(trial: Trial) -> str:
    """Return the cause of a trial, a factor by its meaning."""
    if trial.cause == "position factor":
        if trial.amount == -1.0:
            return "position sign"
        if any(abs(trial.amount * f - 1.0) < 0.1 for f in (DEGREES, 1 / DEGREES, 1e3, 1e-3)):
            return "position unit"
    return trial.cause


def named(
    names: Sequence[str],
    fitted: Refit,
    best: Trial,
    other: Trial | None = None,
    *,
    row_noise: Sequence[float] = (),
) -> Finding:
    """Return the finding that a trial is.

    Args:
        names: of the joints.
        fitted: the fit without the change.
        best: the trial that explains most.
        other: the next one that is about something else, if it explains about as much.
        row_noise: (joints,) noise of the acceleration in the rows, as a part of the motion's; empty
            where it is not known.
    """
    before, after = fitted.left, best.fit.left
    places = best.joints or tuple(range(len(names)))
    shown = most_changed(fitted, best)
    cause = CAUSES[cause_of(best)]
    change = _change(names, best)
    whole = best.joints == () and len(names) > 1
    text = f"with {change} the fit leaves " + told_shares(
        f"the efforts of {names[shown]}", before[shown], after[shown]
    )
    if other is not None:
        text += f" (about as well: {_also(names, other)})"
    ordinary = best.cause == "time shift" and abs(best.amount) < _ORDINARY
    advice, noisy = cause.advice, max(row_noise, default=0.0)
    if best.cause in _OF_NOISE and noisy > ROW_NOISE:
        ordinary = True
        advice = (
            f"noise or coarse steps of the positions, {100 * noisy:.2g} % of the acceleration of "
            f"{names[int(np.argmax(row_noise))]} in the rows, do the same: lower the cut-off, or "
            "leave it to the data, first"
        )
    return Finding(
        Severity.DOUBT if ordinary else cause.severity, cause_of(best),
        () if whole else tuple(names[i] for i in places), text,
        advice,
        {
            "amount": best.amount,
            "gain": best.gain,
            "left_before": float(before[shown]),
            "left_after": float(after[shown]),
        },
        weight=20.0 + min(best.gain, 60.0),
    )  # fmt: skip


def driven(cause: str, joints: tuple[str, ...], power: float, also: str = "") -> Finding:
    """Return the finding that friction would drive joints.

    Args:
        cause: a sign.
        joints: their names.
        power: of friction, over its standard deviation.
        also: what else explains it, for people.
    """
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


def all_driven(names: Sequence[str], powers: Array) -> Finding | None:
    """Return the finding that friction drives all joints; None where it does not drive most.

    Args:
        names: of the joints.
        powers: (joints,) of friction, over their standard deviations.
    """
    wrong = powers < -DRIVEN
    if not np.array_equal(wrong, np.abs(powers) > DRIVEN):
        return None  # some take power from the motion
    if np.count_nonzero(wrong) <= max(1, len(names) // 2):
        return None
    return driven("effort sign", tuple(names), float(powers[wrong].max()))


def _change(names: Sequence[str], trial: Trial) -> str:
    amount = 1e3 * trial.amount if trial.cause == "time shift" else trial.amount
    other = names[trial.joints[-1]] if trial.joints else ""
    words = CAUSES[cause_of(trial)].change.format(
        amount=f"{amount:.3g}", detail=trial.detail, other=other
    )
    if not trial.joints and len(names) > 1:
        words = words.replace("its ", "all ")
    return words


def _also(names: Sequence[str], trial: Trial) -> str:
    concerned = [names[i] for i in trial.joints]
    return f"{cause_of(trial)} of {', '.join(concerned) or 'all joints'}"
