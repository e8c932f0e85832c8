"""Identification of what was folded elsewhere: by other processes, machines, on other days.

Factors and Gram matrices add up exactly, so that the result is the one of a single pass over all
recordings with the same settings.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

from robot_identification.errors import RecordingError
from robot_identification.identification import least_squares
from robot_identification.identification.bands import BandGrams, summed
from robot_identification.identification.base import BaseParameters
from robot_identification.identification.cross_validation import (
    CrossValidation,
    cross_validate,
    others,
    validation_warnings,
)
from robot_identification.identification.factor import JointFactor
from robot_identification.identification.joint_noise import refuse_silent_joints, weight_warnings
from robot_identification.identification.least_squares import Estimate
from robot_identification.identification.result import IdentificationResult, Regrouping, Source
from robot_identification.identification.result_warnings import warnings_of
from robot_identification.identification.robust import robust_std
from robot_identification.identification.row_groups import merged
from robot_identification.signals.processing import Processing
from robot_identification.signals.settings import streaming_warnings


@dataclass(frozen=True)
class Part:
    """Some recordings, folded.

    Attributes:
        sources: the recordings.
        factors: for each recording one factor per joint.
        grams: Gram matrices of the bands of all of them together.
        warnings: what a user should know about them.
    """

    sources: tuple[Source, ...]
    factors: tuple[tuple[JointFactor, ...], ...]
    grams: BandGrams
    warnings: tuple[str, ...] = ()


def identify_parts(
    base: BaseParameters, processing: Processing, parts: Iterable[Part]
) -> IdentificationResult:
    """Identify by weighted least squares from recordings that are folded already.

    Args:
        base: base parameters of the robot.
        processing: the settings with which all were folded.
        parts: taken one at a time; of each the factors are kept, not the Gram matrices.

    Raises:
        RecordingError: there is no recording, or nobody measured the efforts of one.
        NotExcitedError: all of them together do not determine every base parameter.
    """
    begin = time.monotonic()
    sources: list[Source] = []
    groups: list[tuple[JointFactor, ...]] = []
    remarks: list[str] = []
    grams: BandGrams | None = None
    for part in parts:
        sources += part.sources
        groups += part.factors
        remarks += part.warnings
        grams = part.grams if grams is None else summed([grams, part.grams])
    if grams is None:
        raise RecordingError("no recording is left to identify from")
    refuse_silent_joints(groups, [source.name for source in sources])
    factors = merged(groups)
    estimate = least_squares.weighted(factors, base.names, processing.residual_divisor)
    deviations = robust_std(grams, factors, estimate.values, estimate.weights)
    estimate = replace(estimate, std_robust=deviations)
    names = base.robot.joint_names
    validation = _validated(base, processing, sources, groups, estimate)
    lines = () if validation is None else validation_warnings(validation, names)
    return IdentificationResult(
        robot=base.robot.name,
        robot_digest=base.robot.digest,
        joint_names=names,
        sources=tuple(sources),
        method="wls",
        settings=processing.entries(),
        regrouping=Regrouping.of(base),
        estimate=estimate,
        factors=factors,
        seconds=time.monotonic() - begin,
        cross_validation=validation,
        warnings=(
            *remarks,
            *streaming_warnings(processing),
            *weight_warnings(factors),
            *warnings_of(base.names, estimate),
            *lines,
        ),
    )


def _validated(
    base: BaseParameters,
    processing: Processing,
    sources: list[Source],
    groups: list[tuple[JointFactor, ...]],
    estimate: Estimate,
) -> CrossValidation | None:
    """Predict every recording from the others; None where there are no others."""
    if len(groups) < 2:
        return None
    rest = others(groups)
    names, divisor = [source.name for source in sources], processing.residual_divisor
    return cross_validate(
        "bags",
        names,
        groups,
        estimate.values,
        lambda group: least_squares.weighted(rest[group], base.names, divisor).values,
    )
