"""One result from several: the factors of all their rows, solved again.

Factors add up exactly (:func:`~.factor.merge`): the estimate is that of one identification of all
the recordings together with the same settings, whichever machine and day they came from.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from robot_identification.errors import SettingError
from robot_identification.identification.assembly import Subject, held_out_errors, result_of
from robot_identification.identification.belonging import EFFORT_MEANING, effort_meaning_of
from robot_identification.identification.delays.effort_delay import EFFORT_DELAY
from robot_identification.identification.diagnosis.folded import folded_findings
from robot_identification.identification.estimators.choice import (
    STACKED,
    fit,
    refuse_without_samples,
)
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.identification.estimators.estimator import Choice, Fit
from robot_identification.identification.estimators.huber import HuberSettings
from robot_identification.identification.estimators.several_bags import judged
from robot_identification.identification.estimators.weighting import Weighting, weighting_entries
from robot_identification.identification.periodic.settings import PERIODS
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.rows.groups import GroupedRows, merged
from robot_identification.identification.rows.growing import STREAMING
from robot_identification.identification.rows.source import FoldedRows
from robot_identification.identification.source import Source
from robot_identification.robot.arrays import Array
from robot_identification.robot.processing import Divisor

# Settings that results may differ in: the mark of a streamed estimate, and what each recording has.
# What efforts are is compared by itself: results of earlier versions do not say it.
_UNLIKE = (STREAMING, EFFORT_DELAY, EFFORT_MEANING)


def merge_results(
    results: Sequence[IdentificationResult],
    *,
    essential: EliminationRule | None = None,
    weighting: Weighting | None = None,
    robust: HuberSettings | None = None,
    held_out: Sequence[IdentificationResult] = (),
) -> IdentificationResult:
    """Return the result of all recordings behind several results of one robot.

    Standard deviations take the residuals for white: what coloured ones need is not in a result.

    Args:
        results: at least one, by ``ols`` or ``wls``, all with the same method.
        essential: how to find the essential parameters; by default all base parameters are kept,
            whichever the results have.
        weighting: what each result counts; by default all the same.
        robust: always refused: outliers are limited row by row.
        held_out: results whose recordings are predicted, not fitted.

    Raises:
        SettingError: there is none; robot, method or settings differ; a recording would count
            twice; outliers are to be limited; or efforts that are weighted or limited already are
            to be weighted or predicted.
        NotExcitedError: all of them together do not determine every parameter.
    """
    begin = time.monotonic()
    if not results:
        raise SettingError("results", "none", "at least one is needed")
    first, every = results[0], (*results, *held_out)
    choice = Choice(
        first.method, essential, (weighting or Weighting()).checked(len(results)), robust
    )
    _refuse_unable(choice, every)
    known = _refuse_other_efforts(every)
    sources = tuple(source for result in results for source in result.sources)
    _refuse_double([source for result in every for source in result.sources])
    altered = _altered(choice, results, held_out)
    stated = _plain(first.settings).get("residual_divisor")
    divisor: Divisor = "rows-1" if stated == "rows-1" else "rows-parameters"
    names = tuple(map(_name, results))
    kept = GroupedRows(tuple(result.triangles("merge") for result in results), ())
    rows = FoldedRows(None, first.regrouping.names, divisor, "bags", names, names, kept)
    found = fit(choice, rows)
    errors = held_out_errors(
        list(map(_name, held_out)),
        [result.triangles("merge") for result in held_out],
        found.estimate.values,
    )
    if altered:
        found = _with_errors_as_measured(found, results)
    return result_of(
        Subject.of_result(known),
        first.method,
        found,
        rows,
        begin=begin,
        sources=sources,
        settings={
            **{name: e for name, e in first.settings.items() if name not in _UNLIKE},
            **_weights(choice, found.levels, [len(result.sources) for result in results]),
        },
        warnings=[line for one in results if (line := one.alteration_warning)],
        findings=folded_findings(
            first.joint_names, first.regrouping.names, kept.factors, first.numbers
        ),
        friction=first.friction,
        **errors,
    )


def _name(result: IdentificationResult) -> str:
    return ", ".join(source.name for source in result.sources)


def _weights(
    choice: Choice, levels: Array | None, counts: Sequence[int]
) -> dict[str, dict[str, object]]:
    """Return the weights of results as settings, for each of the recordings behind them."""
    weights = choice.weighting.bag_weights
    of_sources = np.repeat(weights, counts).tolist() if weights else []
    return weighting_entries(
        Weighting(tuple(of_sources)), None if levels is None else np.repeat(levels, counts, axis=0)
    )


def _refuse_unable(choice: Choice, every: Sequence[IdentificationResult]) -> None:
    """Refuse results that do not merge, and what cannot be done with them."""
    if choice.method not in STACKED:
        raise SettingError("method", choice.method, f"merge works with {', '.join(STACKED)}")
    refuse_without_samples(choice)
    if any(PERIODS in result.settings for result in every):
        raise SettingError(
            PERIODS, "averaged over", "the noise between periods is not merged: identify together"
        )
    for number, other in enumerate(every[1:], 2):
        _refuse_unlike(every[0], other, number)
    for one in every:
        if one.friction is not None and one.friction.is_of_data:
            raise SettingError(
                "friction",
                one.settings.get("friction", {}).get("value", "estimated"),
                f"terms, shapes and loads of friction are those of the recordings of "
                f"{one.sources[0].name} alone; identify all recordings together, or write the law "
                "into the robot file",
            )


def _with_errors_as_measured(found: Fit, results: Sequence[IdentificationResult]) -> Fit:
    """Return a fit of altered rows with errors of the efforts as measured, where all have them.

    Cross-validation is left out: nobody knows the limits that the rows would have without one.
    """
    found = replace(found, fit_without=None)
    if any(result.alteration_warning for result in results):
        return found
    measured = tuple(result.measured_triangles("merge") for result in results)
    together = merged(measured)
    estimate = judged(found.estimate, together)
    return replace(
        found,
        estimate=estimate,
        elimination=found.elimination and replace(found.elimination, estimate=estimate),
        measured=measured,
        measured_factors=together,
    )


def _altered(
    choice: Choice,
    results: Sequence[IdentificationResult],
    held_out: Sequence[IdentificationResult],
) -> bool:
    """Tell whether rows are weighted or limited; refuse what needs them as measured."""
    for result in (*results, *held_out):
        if not result.is_altered:
            continue
        if held_out or not choice.weighting.is_uniform:
            raise SettingError(
                "weights or held-out results",
                _name(result),
                "its efforts are weighted or limited already; identify it without that",
            )
        return True
    return False


def _refuse_other_efforts(every: Sequence[IdentificationResult]) -> IdentificationResult:
    """Refuse results whose efforts had different meanings; return one that knows its own."""
    known = [one for one in every if effort_meaning_of(one)]
    for other in known[1:]:
        mine, its = effort_meaning_of(known[0]), effort_meaning_of(other)
        if mine != its:
            raise SettingError(
                EFFORT_MEANING,
                its,
                f"that of {_name(other)} differs from that of {_name(known[0])}, {mine}; only like "
                "results merge",
            )
    return known[0] if known else every[0]


def _refuse_unlike(first: IdentificationResult, other: IdentificationResult, number: int) -> None:
    which = f"that of result {number} differs from that of the first"
    for name, mine, its in (
        ("robot", first.robot, other.robot),
        ("robot description", first.robot_digest, other.robot_digest),
        ("joints", first.joint_names, other.joint_names),
        ("method", first.method, other.method),
        ("base parameters", first.regrouping.names, other.regrouping.names),
    ):
        if mine != its:
            raise SettingError(name, its, f"{which}, {mine}; only like results merge")
    if not np.allclose(first.regrouping.beta, other.regrouping.beta, rtol=1e-9, atol=1e-12):
        raise SettingError("grouping", "other coefficients", f"{which}; identify again")
    stated, others = _plain(first.settings), _plain(other.settings)
    for name in sorted({*stated, *others}):
        if stated.get(name) != others.get(name):
            raise SettingError(
                name,
                others.get(name),
                f"{which}, {stated.get(name)}; identify again with the same settings stated",
            )


def _plain(settings: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    """Return the values of settings that must be alike."""
    known = {name: entry["value"] for name, entry in settings.items() if name not in _UNLIKE}
    # Results that were made before there was a choice do not say so.
    return {"velocities": "derived", **known}


def _refuse_double(sources: Sequence[Source]) -> None:
    seen = set()
    for source in sources:
        key = source.digest or source.name
        if key in seen:
            raise SettingError("sources", source.name, "this recording would count twice")
        seen.add(key)
