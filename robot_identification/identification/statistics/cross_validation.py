"""Cross-validation: every bag predicted with the parameters that the others give.

A fit explains its own data better than any other, most of all where a model is too rich or a
motion too poor.  The error on a bag that had no part in the fit tells what to expect of the next
one.  With a single bag, each of five blocks of it is predicted from the four others: that finds
parameters that hang on a part of the motion, not what differs from day to day.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_identification.errors import NotExcitedError, NotPredictiveError, RecordingError
from robot_identification.identification import entries as entry_of
from robot_identification.identification.estimators.least_squares import (
    RelativeError,
    error_entries,
    relative_error,
)
from robot_identification.identification.rows.factor import JointFactor, merge
from robot_identification.identification.rows.groups import Scheme
from robot_identification.robot.arrays import Array

# An error on data left out that is so many times the fitted one deserves a warning.
_MUCH_LARGER = 2.0
_NAMED = 3
# Fewer bags do not say which of them is unlike the others: it spoils what predicts those, too.
_FEWEST = 4


@dataclass(frozen=True)
class Fold:
    """Error of one group of rows that was left out.

    Attributes:
        name: of the bag, or the times of the block.
        rows: (joints,) number of its rows.
        effort_rms: (joints,) root mean square of its efforts, in N m or N; empty where a result
            file of an earlier version does not tell it.
        fitted: error with the parameters of all groups; None for a bag that was held out.  Joints
            without rows have none.
        error: error with the parameters of the others; None where they do not tell them all.
        reason: why there is none.
    """

    name: str
    rows: tuple[int, ...]
    effort_rms: tuple[float, ...]
    fitted: RelativeError | None
    error: RelativeError | None
    reason: str = ""


@dataclass(frozen=True)
class CrossValidation:
    """Errors on data that had no part in the fit, group by group.

    Attributes:
        scheme: ``bags`` or ``blocks``.
        folds: one per group.
        error: over all groups that could be predicted; None where none could.
    """

    scheme: Scheme
    folds: tuple[Fold, ...]
    error: RelativeError | None


def cross_validate(
    scheme: Scheme,
    names: Sequence[str],
    groups: Sequence[Sequence[JointFactor]],
    values: Array,
    fit_without: Callable[[int], Array],
) -> CrossValidation:
    """Predict every group from the others.

    Args:
        scheme: what the groups are.
        names: (groups,) their names.
        groups: for each group one factor per joint, of the efforts as measured.
        values: (parameters,) estimate from all of them.
        fit_without: given the number of a group, the estimate from the others.
    """
    folds, vectors = [], []
    for number, (name, factors) in enumerate(zip(names, groups, strict=True)):
        error, reason = None, ""
        try:
            vector = fit_without(number)
        except (NotExcitedError, RecordingError) as refusal:
            reason = str(refusal)
        else:
            error = prediction_error(factors, vector)
            vectors.append((factors, vector))
        rows = tuple(factor.rows for factor in factors)
        efforts = tuple(f.effort_norm / max(f.rows, 1) ** 0.5 for f in factors)
        fitted = prediction_error(factors, values)
        folds.append(Fold(name, rows, efforts, fitted, error, reason))
    return CrossValidation(scheme, tuple(folds), _pooled(vectors))


def prediction_error(factors: Sequence[JointFactor], values: Array) -> RelativeError:
    """Return the error on rows that are compared; of a joint without any nothing is predicted.

    Args:
        factors: one per joint, of the efforts as measured.
        values: (parameters,) that predict them.
    """
    error = relative_error(factors, values)
    rows = np.array([factor.rows for factor in factors])
    return RelativeError(error.total, np.where(rows > 0, error.joints, np.nan))


def _pooled(
    predictions: Sequence[tuple[Sequence[JointFactor], Array]],
) -> RelativeError | None:
    if not predictions:
        return None
    squares = np.array(
        [[f.residual_norm(vector) ** 2 for f in factors] for factors, vector in predictions]
    ).sum(axis=0)
    efforts = np.array([[f.effort_norm**2 for f in factors] for factors, _ in predictions]).sum(
        axis=0
    )
    rows = np.array([[f.rows for f in factors] for factors, _ in predictions]).sum(axis=0)
    joints = np.sqrt(np.divide(squares, efforts, out=np.zeros_like(squares), where=efforts > 0))
    joints[rows == 0] = np.nan
    total = np.sqrt(squares.sum() / max(float(efforts.sum()), np.finfo(float).tiny))
    return RelativeError(total=float(total), joints=joints)


def others(
    groups: Sequence[Sequence[JointFactor]],
) -> list[tuple[JointFactor, ...]]:
    """Return for every group the factors of all the other ones, merged; nothing for a single one.

    The work grows with the number of groups, not with its square.
    """
    if len(groups) < 2:
        return []
    joints = []
    for own in zip(*groups, strict=True):
        before, behind = list(own[:-1]), list(own[1:])
        for i in range(1, len(before)):
            before[i] = merge([before[i - 1], before[i]])
        for i in range(len(behind) - 2, -1, -1):
            behind[i] = merge([behind[i], behind[i + 1]])
        inner = [merge(pair) for pair in zip(before[:-1], behind[1:], strict=True)]
        joints.append([behind[0], *inner, before[-1]])
    return list(zip(*joints, strict=True))


def refuse_worse_than_zero(found: CrossValidation) -> None:
    """Refuse a fit to a single recording that promises what blocks left out of it do not keep.

    Between bags such an error need not be the fit's: one of them may be of another payload, or of
    another robot, and the warnings say which.

    Raises:
        NotPredictiveError: over all blocks the error is that of predicting zero, or larger.
    """
    if found.scheme != "blocks" or found.error is None or found.error.total < 1.0:
        return
    errors = {fold.name: fold.error.total for fold in found.folds if fold.error is not None}
    raise NotPredictiveError(
        found.error.total, {name: error for name, error in errors.items() if error >= 1.0}
    )


def validation_warnings(found: CrossValidation, joint_names: Sequence[str]) -> tuple[str, ...]:
    """Return what is much worse on data left out than in the fit, by bag and joint."""
    kind = "bag" if found.scheme == "bags" else "block"
    lines = [
        f"{kind} {fold.name} cannot be predicted from the others: {fold.reason}"
        for fold in found.folds
        if fold.reason
    ]
    if lines and found.scheme == "blocks":
        lines.append(
            "what only one block of the recording tells cannot be checked by its others, as where "
            "joints move one at a time: give a second bag"
        )
    told = [fold for fold in found.folds if fold.error is not None and fold.fitted is not None]
    names = [f"{kind} {fold.name}, {joint}" for fold in told for joint in joint_names]
    errors = np.array([fold.error.joints for fold in told if fold.error is not None])
    fitted = np.array([fold.fitted.joints for fold in told if fold.fitted is not None])
    larger = f"the error on a {kind} left out of the fit is more than {_MUCH_LARGER:g} times"
    if worse := _larger(names, errors.ravel(), fitted.ravel()):
        lines.append(
            f"{larger} the fitted one: {worse}; the motion is too poor for so many parameters"
        )
    if found.scheme == "bags" and len(told) >= _FEWEST:
        residuals = errors * np.array([fold.effort_rms for fold in told])  # N m or N
        usual = np.broadcast_to(_medians(residuals), residuals.shape)
        if worse := _larger(names, residuals.ravel(), usual.ravel()):
            lines.append(
                f"{larger} that of most bags, root mean square in N m or N: {worse}; such a bag "
                "is unlike the others"
            )
    return tuple(lines)


def _medians(values: Array) -> Array:
    """Return the median of every column over what is known of it, NaN where that is nothing."""
    known = [column[np.isfinite(column)] for column in values.T]
    return np.array([np.median(column) if len(column) else np.nan for column in known])


def _larger(names: Sequence[str], errors: Array, expected: Array) -> str:
    """Return which errors are much larger than expected, the worst first; empty for none."""
    ratios = np.divide(errors, expected, out=np.zeros_like(errors), where=expected > 0.0)
    worse = [int(i) for i in np.argsort(-ratios) if ratios[i] > _MUCH_LARGER]
    named = [f"{names[i]}: {errors[i]:.3g} instead of {expected[i]:.3g}" for i in worse[:_NAMED]]
    if len(worse) > _NAMED:
        named.append(f"{len(worse) - _NAMED} more")
    return "; ".join(named)


def fold_entries(fold: Fold, joint_names: Sequence[str]) -> dict[str, object]:
    """Return the plain data of one group."""
    efforts = dict(zip(joint_names, fold.effort_rms, strict=True)) if fold.effort_rms else None
    return {
        "name": fold.name,
        "rows": dict(zip(joint_names, fold.rows, strict=True)),
        **({"effort_rms": efforts} if efforts else {}),
        "relative_error": _entries(fold.error, joint_names),
        "fitted_error": _entries(fold.fitted, joint_names),
        "reason": fold.reason,
    }


def cross_validation_entries(
    found: CrossValidation, joint_names: Sequence[str]
) -> dict[str, object]:
    """Return the plain data of a cross-validation."""
    return {
        "scheme": found.scheme,
        "relative_error": _entries(found.error, joint_names),
        "folds": [fold_entries(fold, joint_names) for fold in found.folds],
    }


def _entries(
    error: RelativeError | None, joint_names: Sequence[str]
) -> dict[str, float | None] | None:
    return None if error is None else error_entries(error, joint_names)


def fold_of(entry: Mapping[str, Any], joint_names: Sequence[str]) -> Fold:
    """Return the group that plain data describe.

    Raises:
        KeyError, TypeError, ValueError: the data describe none.
    """
    rows = entry_of.mapping(entry, "rows")
    efforts = entry_of.mapping(entry, "effort_rms") if "effort_rms" in entry else {}
    return Fold(
        name=entry_of.text(entry, "name"),
        rows=tuple(entry_of.count(rows, name) for name in joint_names),
        effort_rms=tuple(entry_of.number(efforts, name) for name in joint_names if efforts),
        fitted=error_of(entry["fitted_error"], joint_names),
        error=error_of(entry["relative_error"], joint_names),
        reason=entry_of.text(entry, "reason"),
    )


def cross_validation_of(entries: Mapping[str, Any], joint_names: Sequence[str]) -> CrossValidation:
    """Return the cross-validation that plain data describe.

    Raises:
        KeyError, TypeError, ValueError: the data describe none.
    """
    scheme = entries["scheme"]
    if scheme not in ("bags", "blocks"):
        raise ValueError(f"cross_validation has the scheme {scheme!r:.40}")
    return CrossValidation(
        scheme=scheme,
        folds=tuple(fold_of(fold, joint_names) for fold in entry_of.mappings(entries, "folds")),
        error=error_of(entries["relative_error"], joint_names),
    )


def error_of(entries: object, joint_names: Sequence[str]) -> RelativeError | None:
    """Return the error that plain data describe; a joint without rows has None.

    Raises:
        KeyError, TypeError, ValueError: the data describe none.
    """
    if entries is None:
        return None
    if not isinstance(entries, Mapping):
        raise TypeError(f"{entries!r:.40} is not an error per joint")
    joints = [entries[name] for name in joint_names]
    numbers = [entries["total"], *(error for error in joints if error is not None)]
    if not all(isinstance(n, (int, float)) and not isinstance(n, bool) for n in numbers):
        raise TypeError("an error is not a number")
    if not np.isfinite(np.array(numbers, dtype=np.float64)).all():
        raise ValueError("an error is not finite")
    values = [np.nan if error is None else error for error in joints]
    return RelativeError(total=float(numbers[0]), joints=np.array(values, dtype=np.float64))
