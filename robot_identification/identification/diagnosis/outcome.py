"""Judgement of a result by itself: impossible parameters, and errors that are too large."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from robot_identification.identification.diagnosis.finding import Finding, Severity
from robot_identification.identification.estimators.least_squares import RelativeError
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.statistics.cross_validation import CrossValidation
from robot_identification.identification.statistics.reliability import impossible_parameters

_NOTHING = 1.0
"""Error of a prediction of zero."""

_MUCH_WORSE = 2.0
_MATTERS = 0.05
"""Error on unseen data, as a part of the effort, that is told where it is so many times that of
the fit."""

_STANDS_OUT = 2.0
_FEWEST_FOLDS = 3
"""A residual of the fit stands out in one of three parts or more by so many times that of the
others: what acts for a while only, such as a contact, is there."""


def outcome_findings(result: IdentificationResult) -> Iterator[Finding]:
    """Give out what a result itself shows: nothing else is needed than it.

    Args:
        result: the result.
    """
    yield from _impossible(result)
    names = result.joint_names
    yield from error_findings(names, result.estimate.relative_error, "the fit")
    found = result.cross_validation
    for unseen, which in (
        (None if found is None else found.error, "data left out of the fit"),
        (result.held_out, "data held out"),
    ):
        if unseen is None:
            continue
        yield from error_findings(names, unseen, which)
        for i, name in enumerate(names):
            error, fitted = float(unseen.joints[i]), float(result.estimate.relative_error.joints[i])
            if _MATTERS < error < _NOTHING and error > _MUCH_WORSE * fitted:
                where = "" if found is None else _standing_out(found, i)
                yield Finding(
                    Severity.DOUBT, "worse on unseen data", (name,),
                    f"the error on {which} is {100 * error:.3g} %, in the fit {100 * fitted:.3g} %"
                    + where,
                    "record a longer motion that excites more, or keep essential parameters only",
                    {"error": error, "fitted": fitted}, weight=5.0 * error / max(fitted, 1e-3),
                )  # fmt: skip


def _standing_out(found: CrossValidation, joint: int) -> str:
    """Return in which part the residual of a fit stands out, for people; empty for none.

    Args:
        found: errors of its parts.
        joint: place of the joint.
    """
    parts = [
        (f.name, f.fitted, f.effort_rms) for f in found.folds if f.effort_rms and f.rows[joint]
    ]
    left = np.array([fit.joints[joint] * rms[joint] for _, fit, rms in parts if fit is not None])
    if len(left) < max(len(parts), _FEWEST_FOLDS):
        return ""
    worst = int(left.argmax())
    usual = float(np.median(np.delete(left, worst)))
    if left[worst] <= _STANDS_OUT * usual:
        return ""
    times = f", {left[worst] / usual:.2g} times as much as elsewhere" if usual > 0.0 else ""
    what = "block" if found.scheme == "blocks" else "bag"
    return f"; the fit leaves most in {what} {parts[worst][0]}{times}: look at what acted there"


def error_findings(
    names: Sequence[str], error: RelativeError, which: str, source: str = ""
) -> Iterator[Finding]:
    """Give out the joints whose prediction is worse than none.

    Args:
        names: of the joints.
        error: of the prediction.
        which: data that were predicted, for people.
        source: the recording.
    """
    for name, value in zip(names, error.joints.tolist(), strict=True):
        if value >= _NOTHING:
            yield Finding(
                Severity.DOUBT, "worse than nothing", (name,),
                f"on {which} the model is off by {100 * value:.3g} % of its efforts, more than a "
                "prediction of zero",
                "do not use the model for this joint; look for what is said of it here",
                {"error": value}, source, 40.0,
            )  # fmt: skip


def _impossible(result: IdentificationResult) -> Iterator[Finding]:
    """Give out the parameters that are below zero although no robot has them so, by joint."""
    joints = dict(zip(map(str, result.numbers), result.joint_names, strict=True))
    by_joint: dict[str, list[str]] = {}
    figures: dict[str, float] = {}
    for place in impossible_parameters(result):
        name = result.regrouping.names[place]
        digits = name.rstrip("R")
        number = digits[len(digits.rstrip("0123456789")) :]
        if number in joints:
            by_joint.setdefault(joints[number], []).append(name)
            figures[name] = float(result.estimate.values[place])
    for joint, names in by_joint.items():
        values = ", ".join(f"{name} = {figures[name]:.3g}" for name in names)
        yield Finding(
            Severity.DOUBT, "negative parameter", (joint,),
            f"{values}, below zero beyond the interval, which no robot has",
            "its model lacks something, or its efforts are not what they are taken for",
            {name: figures[name] for name in names}, weight=20.0,
        )  # fmt: skip
