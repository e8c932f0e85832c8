"""From the outcome of a method to a result: cross-validation, settings, sources, warnings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robot_identification.identification.base import BaseParameters
from robot_identification.identification.cross_validation import (
    CrossValidation,
    cross_validate,
    validation_warnings,
)
from robot_identification.identification.estimation import Outcome
from robot_identification.identification.huber import robustness_warnings
from robot_identification.identification.joint_noise import weight_warnings
from robot_identification.identification.result import IdentificationResult, Regrouping, Source
from robot_identification.identification.result_warnings import warnings_of
from robot_identification.identification.row_groups import Scheme


def result_of(
    base: BaseParameters,
    method: str,
    outcome: Outcome,
    *,
    sources: tuple[Source, ...],
    settings: Mapping[str, Mapping[str, object]],
    validation: CrossValidation | None,
    warnings: Sequence[str] = (),
) -> IdentificationResult:
    """Return what a method gave as a result, with what a user should know before trusting it.

    Args:
        base: base parameters of the robot.
        method: the method.
        outcome: what it gave.
        sources: the recordings.
        settings: every processing setting with its value and where it came from.
        validation: errors on rows left out of the fit; None where there are none.
        warnings: what is known of the recordings, one line each.
    """
    robot = base.robot
    return IdentificationResult(
        robot=robot.name,
        robot_digest=robot.digest,
        joint_names=robot.joint_names,
        sources=sources,
        method=method,
        settings=settings,
        regrouping=Regrouping.of(base),
        estimate=outcome.estimate,
        factors=outcome.factors,
        cross_validation=validation,
        robustness=outcome.robustness,
        elimination=outcome.elimination,
        warnings=(
            *warnings,
            *(weight_warnings(outcome.factors) if method == "wls" else ()),
            *warnings_of(base.names, outcome.estimate),
            *(validation_warnings(validation, robot.joint_names) if validation else ()),
            *(robustness_warnings(outcome.robustness) if outcome.robustness else ()),
        ),
    )


def cross_validated(
    scheme: Scheme, names: Sequence[str], outcome: Outcome
) -> CrossValidation | None:
    """Return the errors on each group with parameters from the others, None where not told.

    Args:
        scheme: what the groups are.
        names: (groups,) their names.
        outcome: what a method gave, with the rows of the groups.
    """
    if outcome.fit_without is None or len(names) < 2:
        return None
    return cross_validate(
        scheme,
        names,
        outcome.measured,
        outcome.estimate.values,
        outcome.fit_without,
    )
