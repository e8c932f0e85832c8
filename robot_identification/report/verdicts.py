"""Verdicts on an identification, at the head of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from robot_identification.calibration.calibrated import NOTABLE_COST
from robot_identification.files.parameters import StandardParameters
from robot_identification.identification.diagnosis.finding import (
    Finding,
    Severity,
    worst_first,
)
from robot_identification.identification.diagnosis.outcome import outcome_findings
from robot_identification.identification.estimators.choice import method_of
from robot_identification.identification.estimators.least_squares import relative_error
from robot_identification.identification.history import CONVERGED
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.statistics.reliability import (
    ParameterReliability,
)
from robot_identification.identification.statistics.trust import Reliability
from robot_identification.report.errors_table import unseen_error
from robot_identification.report.evidence import Evidence
from robot_identification.report.numbers import counted, number, percent
from robot_identification.robot.files.versions import CALIBRATION, changed_robot_warnings

_SMALL_ERROR, _LARGE_ERROR = 0.10, 0.30  # parts of the effort
_MUCH_WORSE = 1.5
_POOR_CONDITION = 100.0
_MOST_NAMED = 40


class Level(Enum):
    """Weight of a statement: good, doubtful or bad."""

    GOOD = "good"
    CAUTION = "caution"
    BAD = "bad"


@dataclass(frozen=True)
class Statement:
    """One sentence of the summary.

    Attributes:
        level: how it is to be taken.
        text: the sentence.
    """

    level: Level
    text: str


@dataclass(frozen=True)
class Doubt:
    """Parameters that cannot be trusted for the same reason.

    Attributes:
        names: their names.
        because: the reason.
        advice: what can be done.
    """

    names: tuple[str, ...]
    because: str
    advice: str


_LEVELS = {
    Severity.MISTAKE: Level.BAD,
    Severity.DOUBT: Level.CAUTION,
    Severity.NOTE: Level.GOOD,
}


def told_findings(result: IdentificationResult) -> tuple[Finding, ...]:
    """Return the findings of a result; of a file of an earlier version those that it shows."""
    return worst_first([*result.findings, *outcome_findings(result)])


def headline(result: IdentificationResult) -> str:
    """Return what was identified, from what and how."""
    seconds = sum(source.duration for source in result.sources)
    return (
        f"{counted(len(result.regrouping.names), 'base parameter')} of {result.robot} by "
        f"{method_of(result.method).title}, from "
        f"{counted(len(result.sources), 'recording')} of {seconds:.4g} s and "
        f"{sum(result.estimate.rows)} rows."
    )


def statements(
    evidence: Evidence, parameters: Sequence[ParameterReliability]
) -> tuple[Statement, ...]:
    """Return the summary of a report, sentence by sentence."""
    result = evidence.result
    found = [Statement(_LEVELS[f.severity], f"{f}.") for f in told_findings(result)]
    found += [Statement(Level.CAUTION, f"{told}.") for told in evidence.robot_warnings]
    found += [_counts(parameters), _fit(result), _unseen(result), _condition(result)]
    if result.history is not None:
        converged = result.history.verdict == CONVERGED
        found.append(
            Statement(
                Level.GOOD if converged else Level.BAD,
                f"DIDIM: {result.history.verdict} after {counted(result.iterations, 'iteration')}.",
            )
        )
    if evidence.parameters is not None:
        problems = evidence.parameters.checks.problems
        found.append(
            Statement(Level.BAD, f"Not physically consistent: {'; '.join(problems)}.")
            if problems
            else Statement(Level.GOOD, "Every link and drive of the calibration is consistent.")
        )
        found += [Statement(Level.CAUTION, f"{told}.") for told in _changed_robot(evidence)]
        found += _cost(result, evidence.parameters)
    return tuple(found)


def _changed_robot(evidence: Evidence) -> tuple[str, ...]:
    """Return a line where the calibration was made with another version of the robot's file."""
    if evidence.parameters is None or evidence.robot is None:
        return ()
    digest = str(evidence.parameters.provenance.get("robot_sha256", ""))
    return changed_robot_warnings(evidence.robot, digest, CALIBRATION, evidence.parameters.path)


def _cost(result: IdentificationResult, parameters: StandardParameters) -> list[Statement]:
    """Return what the calibrated parameters leave unexplained, beside the identified ones."""
    if result.factors is None:
        return []
    factors, published = result.measured_triangles("report"), parameters.values
    before = relative_error(factors, result.estimate.values).total
    after = relative_error(factors, result.regrouping.projection @ published).total
    dear = after > (1.0 + NOTABLE_COST) * before
    text = (
        f"The calibrated parameters leave {100.0 * after:.3g} % of the effort unexplained, the "
        f"identified ones {100.0 * before:.3g} %"
    )
    advice = "; calibrate with --space base, or look at the consistency of links" if dear else ""
    altered = result.alteration_warning
    remark = f"; {altered}" if altered else ""
    return [Statement(Level.CAUTION if dear or altered else Level.GOOD, f"{text}{remark}{advice}.")]


def _counts(parameters: Sequence[ParameterReliability]) -> Statement:
    of = {verdict: sum(p.verdict is verdict for p in parameters) for verdict in Reliability}
    doubtful = of[Reliability.NOT_IDENTIFIED]
    text = (
        f"{of[Reliability.GOOD]} of {counted(len(parameters), 'base parameter')} are known to "
        "better than 5 % (standard deviation over value)"
    )
    if of[Reliability.WEAK]:
        text += f", {of[Reliability.WEAK]} to better than 30 %"
    if doubtful:
        text += f"; {doubtful} cannot be trusted alone"
    if of[Reliability.REMOVED]:
        text += f"; {of[Reliability.REMOVED]} were removed as not essential"
    level = Level.GOOD if not doubtful else Level.CAUTION
    return Statement(Level.BAD if doubtful == len(parameters) else level, f"{text}.")


def _fit(result: IdentificationResult) -> Statement:
    error = result.estimate.relative_error
    text = f"The fit leaves {percent(error.total)} of the effort unexplained"
    if len(error.joints) > 1:
        worst = int(np.argmax(error.joints))
        text += f", most in {result.joint_names[worst]} ({percent(float(error.joints[worst]))})"
    return Statement(_level_of(error.total), f"{text}.")


def _level_of(error: float) -> Level:
    if error <= _SMALL_ERROR:
        return Level.GOOD
    return Level.CAUTION if error <= _LARGE_ERROR else Level.BAD


def _unseen(result: IdentificationResult) -> Statement:
    found = unseen_error(result)
    if found is None:
        return Statement(
            Level.CAUTION,
            "No data were held out: the error on new data is not known from this result.",
        )
    fitted = result.estimate.relative_error.total
    worse = found.total > _MUCH_WORSE * fitted
    text = f"On data that had no part in the fit ({found.kind}) it is {percent(found.total)}"
    if worse:
        text += ", much more than on the fitted ones"
    level = _level_of(found.total)
    return Statement(Level.CAUTION if worse and level is Level.GOOD else level, f"{text}.")


def _condition(result: IdentificationResult) -> Statement:
    condition = result.estimate.scaled_condition_number
    text = f"The condition number of the regressor with columns of unit norm is {number(condition)}"
    if condition <= _POOR_CONDITION:
        return Statement(Level.GOOD, f"{text}: this motion identifies the parameters well.")
    return Statement(
        Level.CAUTION,
        f"{text}: from a motion planned for excitation the parameters would be better known.",
    )


def doubts(parameters: Sequence[ParameterReliability]) -> tuple[Doubt, ...]:
    """Return what cannot be trusted alone, by reason."""
    doubtful = [p for p in parameters if p.verdict is Reliability.NOT_IDENTIFIED]
    entangled = [p for p in doubtful if p.is_entangled]
    faint = [p for p in doubtful if not p.is_entangled and p.is_faint]
    rest = [p for p in doubtful if not p.is_entangled and not p.is_faint]
    return tuple(
        Doubt(_names(own), because, advice)
        for own, because, advice in (
            (
                faint,
                "they cause less than 1 % of the effort in this motion",
                (
                    "Harmless for motions like this one. For others: --essential removes them, "
                    "or a motion with larger accelerations of these links shows them."
                ),
            ),
            (
                entangled,
                "they are not identifiable separately from others in this motion",
                (
                    "Only combinations are known. A motion planned by excite separates them; "
                    "calibrate with a prior divides the combinations."
                ),
            ),
            (
                rest,
                "the residual is large beside what they cause",
                "Longer recordings, a better friction model, or filters that suit the motion.",
            ),
        )
        if own
    )


def _names(parameters: Sequence[ParameterReliability]) -> tuple[str, ...]:
    names = tuple(p.name for p in parameters)
    more = len(names) - _MOST_NAMED
    return names if more <= 0 else (*names[:_MOST_NAMED], f"{more} more")
