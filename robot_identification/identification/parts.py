"""Identification from recordings that are folded already, by workers or into files.

Factors and Gram matrices add up exactly, so that the result is the one of a single pass over all
recordings with the same settings.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from robot_identification.errors import RecordingError
from robot_identification.identification.assembly import Subject, held_out_errors, result_of
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.diagnosis.folded import folded_findings
from robot_identification.identification.estimators.choice import DEFAULT, fit
from robot_identification.identification.estimators.estimator import Choice
from robot_identification.identification.estimators.weighting import weighting_entries
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.rows.bands import BandGrams, summed
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.identification.rows.groups import GroupedRows
from robot_identification.identification.rows.source import FoldedRows
from robot_identification.identification.source import Source
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.processing.settings import processing_warnings


@dataclass(frozen=True)
class Part:
    """Some recordings, folded.

    Attributes:
        sources: the recordings.
        factors: for each recording one factor per joint.
        grams: Gram matrices of the bands of all of them together.
    """

    sources: tuple[Source, ...]
    factors: tuple[tuple[JointFactor, ...], ...]
    grams: BandGrams


def identify_parts(
    base: BaseParameters,
    processing: Processing,
    parts: Iterable[Part],
    choice: Choice | None = None,
    *,
    held_out: Iterable[Part] = (),
    weights: Mapping[str, float] | None = None,
) -> IdentificationResult:
    """Identify from recordings that are folded already.

    Args:
        base: base parameters of the robot.
        processing: the settings with which all were folded.
        parts: taken one at a time; of each the factors are kept, not the Gram matrices.
        choice: how to estimate; by default by weighted least squares.
        held_out: recordings that are predicted, not fitted.
        weights: what recordings count, by their names; 1 where nothing is said.  With weights there
            are no robust deviations: they need the bands of every recording alone.

    Raises:
        RecordingError: there is no recording, or nobody measured the efforts of one.
        NotExcitedError: all of them together do not determine every base parameter.
        SettingError: the choice is not possible, or needs the samples.
    """
    begin = time.monotonic()
    sources: list[Source] = []
    groups: list[tuple[JointFactor, ...]] = []
    grams: BandGrams | None = None
    for part in parts:
        sources += part.sources
        groups += part.factors
        grams = part.grams if grams is None else summed([grams, part.grams])
    if grams is None:
        raise RecordingError("no recording is left to identify from")
    names = tuple(source.name for source in sources)
    kept = GroupedRows(tuple(groups), (grams,))
    rows = FoldedRows(base, base.names, processing.residual_divisor, "bags", names, names, kept)
    choice = choice or Choice(DEFAULT)
    if weights:
        stated = tuple(weights.get(name, 1.0) for name in names)
        choice = replace(choice, weighting=replace(choice.weighting, bag_weights=stated))
    choice.weighting.checked(len(names))
    found = fit(choice, rows)
    unseen = [pair for part in held_out for pair in zip(part.sources, part.factors, strict=True)]
    errors = held_out_errors(
        [source.name for source, _ in unseen], [own for _, own in unseen], found.estimate.values
    )
    return result_of(
        Subject.of(base),
        choice.method,
        found,
        rows,
        begin=begin,
        sources=sources,
        settings={
            **processing.entries(),
            **weighting_entries(choice.weighting, found.levels),
        },
        warnings=[
            *processing_warnings(processing),
            *(line for source, _ in unseen for line in source.warnings),
        ],
        findings=folded_findings(
            base.robot.joint_names, base.names, groups, range(1, 1 + len(base.robot.joints))
        ),
        **errors,
    )
