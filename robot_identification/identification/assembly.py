"""From a fit to a result: cross-validation, held-out data, settings, sources, warnings."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.belonging import EFFORT_MEANING, effort_meaning_entry
from robot_identification.identification.delays.effort_delay import delay_entry
from robot_identification.identification.diagnosis.finding import Finding, worst_first
from robot_identification.identification.diagnosis.outcome import outcome_findings
from robot_identification.identification.estimators.choice import ESTIMATORS
from robot_identification.identification.estimators.estimator import Fit
from robot_identification.identification.estimators.huber import robustness_warnings
from robot_identification.identification.regrouping import Regrouping
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.result_warnings import storage_last, warnings_of
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.identification.rows.source import RowSource
from robot_identification.identification.source import Source
from robot_identification.identification.statistics.cross_validation import (
    CrossValidation,
    cross_validate,
    refuse_worse_than_zero,
    validation_warnings,
)
from robot_identification.identification.statistics.joint_noise import refuse_silent_joints
from robot_identification.robot.arrays import Array
from robot_identification.robot.files.link_frames import geometry_entries


@dataclass(frozen=True)
class Subject:
    """The robot that a result is about.

    Attributes:
        robot: its name.
        robot_digest: SHA-256 of its description.
        joint_names: names of its joints; with loops of those that can be moved independently.
        regrouping: what its base parameters stand for.
        joint_numbers: see :class:`IdentificationResult`.
        efforts: what its recorded efforts are, as a setting; empty where nobody knows.
        geometry: see :class:`IdentificationResult`.
    """

    robot: str
    robot_digest: str
    joint_names: tuple[str, ...]
    regrouping: Regrouping
    joint_numbers: tuple[int, ...] = ()
    efforts: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    geometry: Mapping[str, Mapping[str, str | float]] = field(default_factory=dict)

    @classmethod
    def of(cls, base: BaseParameters) -> Subject:
        """Return the robot of base parameters."""
        robot = base.robot
        numbers = [1 + robot.joint_names.index(name) for name in robot.active_names]
        return cls(
            robot.name,
            robot.digest,
            robot.active_names,
            Regrouping.of(base),
            tuple(numbers) if robot.loops else (),
            effort_meaning_entry(robot),
            geometry_entries(robot),
        )

    @classmethod
    def of_result(cls, result: IdentificationResult) -> Subject:
        """Return the robot that another result is about."""
        return cls(
            result.robot,
            result.robot_digest,
            result.joint_names,
            result.regrouping,
            result.joint_numbers,
            {k: entry for k, entry in result.settings.items() if k == EFFORT_MEANING},
            result.geometry,
        )


def result_of(
    subject: Subject,
    method: str,
    fit: Fit,
    source: RowSource,
    *,
    begin: float,
    sources: Sequence[Source],
    settings: Mapping[str, Mapping[str, object]],
    warnings: Sequence[str] = (),
    findings: Sequence[Finding] = (),
    **further: Any,
) -> IdentificationResult:
    """Return what a method gave as a result, with what a user should know before trusting it.

    Args:
        subject: the robot.
        method: name of the method.
        fit: what it gave.
        source: the rows that it was made from.
        begin: when the work began, on the clock of ``time.monotonic``.
        sources: the recordings, with what is known of them.
        settings: every setting with its value and where it came from.
        warnings: what is to be said before all else, one line each.
        findings: what a diagnosis of recordings and fit has found; that of the result is added.
        further: other attributes of the result.

    Raises:
        NotPredictiveError: blocks of a single recording are predicted from the others worse than by
            zero, by a method that fits efforts.
    """
    validation = _cross_validated(source, fit)
    estimator = ESTIMATORS.get(method)
    if validation is not None and estimator is not None and not estimator.own_regressor:
        refuse_worse_than_zero(validation)
    names = subject.joint_names
    about = dict(vars(subject))
    efforts = about.pop("efforts")
    result = IdentificationResult(
        **about,
        sources=tuple(sources),
        method=method,
        settings={**settings, **efforts, **delay_entry(sources)},
        estimate=fit.estimate,
        factors=fit.factors,
        measured_factors=fit.measured_factors,
        cross_validation=validation,
        robustness=fit.robustness,
        elimination=fit.elimination,
        warnings=storage_last(
            (
                *warnings,
                *dict.fromkeys(line for one in sources for line in one.warnings),
                *fit.warnings,
                *warnings_of(subject.regrouping.names, fit.estimate),
                *(validation_warnings(validation, names) if validation else ()),
                *(robustness_warnings(fit.robustness) if fit.robustness else ()),
            )
        ),
        seconds=time.monotonic() - begin,
        **further,
    )
    return replace(result, findings=worst_first([*findings, *outcome_findings(result)]))


def _cross_validated(source: RowSource, fit: Fit) -> CrossValidation | None:
    """Return the errors on each group with parameters from the others, None where not told."""
    if fit.fit_without is None or len(source.groups) < 2:
        return None
    return cross_validate(
        source.scheme, source.groups, fit.measured, fit.estimate.values, fit.fit_without
    )


def held_out_errors(
    names: Sequence[str],
    groups: Sequence[Sequence[JointFactor]],
    values: Array,
    *,
    parts: int = 0,
) -> dict[str, Any]:
    """Return the errors of values on recordings that had no part in them, for a result.

    Args:
        names: of the recordings.
        groups: of each recording one factor per joint, of the efforts as measured.
        values: (parameters,) the values.
        parts: how many of them, the first ones, are parts of recordings that were fitted too.

    Raises:
        NoEffortError: nobody measured the efforts of a recording.
    """
    if not groups:
        return {}
    refuse_silent_joints(groups, names)
    found = cross_validate("bags", names, groups, values, lambda _: values)
    bags = tuple(replace(fold, fitted=None) for fold in found.folds[parts:])
    return {"held_out": found.error, "held_out_bags": bags}
