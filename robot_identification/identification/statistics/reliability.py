"""Reliability of every identified base parameter, with the reasons where it is poor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.rows.factor import JointFactor, stack
from robot_identification.identification.statistics.trust import Reliability, verdicts_of
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.terms.joint_terms import TERMS, SignCondition

TWO_SIDED_95 = 1.96
_ENTANGLED = 0.8  # correlation above which two parameters are hard to tell apart
_INFLATED = 3.0  # growth of a standard deviation by the company of the other parameters
_NAMED = 2  # parameters named as the company
_SMALL_EFFECT = 0.01  # part of the effort
_NEVER_NEGATIVE = (
    *("XX", "YY", "ZZ", "M"),
    *(term.name for term in TERMS if term.sign is not SignCondition.ANY),
)


@dataclass(frozen=True)
class ParameterReliability:
    """Reliability of a base parameter.

    Attributes:
        name: name of the parameter.
        value: its estimate.
        std: the larger of its standard deviations, where there are two.
        relative_std: that over the size of the value; infinite for a value of zero.
        verdict: the verdict.
        effect: root mean square of the effort that it causes in this motion, over that of all the
            effort, rows weighted as in the estimation; NaN where it cannot be told.
        inflation: how many times larger the other parameters make its standard deviation than it
            would be if they were known; 1 without any company, NaN where it cannot be told.
        entangled: the parameters that it is hardest to tell from, with their correlations.
        impossible: whether it is below zero beyond its interval although no robot has it so.
        reason: why the verdict is not ``GOOD``, or the value impossible, for people; else empty.
    """

    name: str
    value: float
    std: float
    relative_std: float
    verdict: Reliability
    effect: float
    inflation: float
    entangled: tuple[tuple[str, float], ...]
    impossible: bool
    reason: str

    @property
    def is_entangled(self) -> bool:
        """Whether other parameters are hard to tell from it in this motion."""
        return bool(self.entangled) or self.inflation >= _INFLATED

    @property
    def is_faint(self) -> bool:
        """Whether it causes hardly any effort in this motion."""
        return self.effect < _SMALL_EFFECT

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval that holds the true value with 95 %; None for one that was removed."""
        if self.verdict is Reliability.REMOVED:
            return None
        half = TWO_SIDED_95 * self.std
        return (self.value - half, self.value + half)


@by_value
@dataclass(frozen=True)
class Excitation:
    """Information of the motion about the estimated parameters, from the factors alone.

    Attributes:
        places: (estimated,) their places among the base parameters.
        norms: (estimated,) norms of their columns in the weighted regressor.
        effort_norm: norm of the weighted effort.
        singular_values: (estimated,) of the regressor with columns of unit norm, largest first.
        correlation: (estimated, estimated) correlations of their estimates.
        inflation: (estimated,) growth of the standard deviations by the others.
    """

    places: tuple[int, ...]
    norms: Array
    effort_norm: float
    singular_values: Array
    correlation: Array
    inflation: Array


def excitation(result: IdentificationResult) -> Excitation | None:
    """Return what the motion of a result tells about its parameters.

    Args:
        result: the result.

    Returns:
        None where the factors do not determine every parameter that was estimated (the energy
        method can do with less), or the method keeps none.
    """
    if result.factors is None:
        return None
    kept = (
        np.arange(len(result.regrouping.names))
        if result.elimination is None
        else np.flatnonzero(result.elimination.kept)
    )
    weights = list(_weights(result, result.factors))
    triangle = stack(result.factors, len(result.regrouping.names), weights)
    matrix = triangle[:, kept]
    norms = np.linalg.norm(matrix, axis=0)
    if not len(kept) or not norms.all():
        return None
    root = scipy.linalg.qr(matrix / norms, mode="r")[0][: len(kept)]
    singular_values = np.linalg.svd(root, compute_uv=False)
    if singular_values[-1] <= len(kept) * np.finfo(float).eps * singular_values[0]:
        return None
    inverse = scipy.linalg.solve_triangular(root, np.eye(len(kept)))
    inflation = np.linalg.norm(inverse, axis=1)
    unit = inverse / inflation[:, None]
    return Excitation(
        places=tuple(int(place) for place in kept),
        norms=read_only(norms),
        effort_norm=float(np.linalg.norm(triangle[:, -1])),
        singular_values=read_only(singular_values),
        correlation=read_only(unit @ unit.T),
        inflation=read_only(inflation),
    )


def _weights(result: IdentificationResult, factors: Sequence[JointFactor]) -> Array:
    """Return the weights of the joints' rows; ones where the method has others than rows'."""
    weights = result.estimate.weights
    return weights if len(weights) == len(factors) else np.ones(len(factors))


def parameter_reliability(result: IdentificationResult) -> tuple[ParameterReliability, ...]:
    """Return the verdict on every base parameter of a result.

    The verdict itself is that of :mod:`.trust`, as everywhere.

    Args:
        result: the result.
    """
    motion = excitation(result)
    kept = None if result.elimination is None else result.elimination.kept
    verdicts = verdicts_of(result.estimate, kept)
    below = impossible_parameters(result)
    return tuple(
        _judged(result, motion, i, verdict, impossible=i in below)
        for i, verdict in enumerate(verdicts)
    )


def impossible_parameters(result: IdentificationResult) -> tuple[int, ...]:
    """Return the places of the base parameters that are below zero although no robot has them so.

    Their whole intervals of 95 % are.  They are masses, moments of inertia and coefficients of
    friction, where one of these stands alone.

    Args:
        result: the result.
    """
    estimate = result.estimate
    below = estimate.values + TWO_SIDED_95 * estimate.larger_std < 0.0
    return tuple(int(i) for i in np.flatnonzero(below) if _is_never_negative(result, int(i)))


def _judged(
    result: IdentificationResult,
    motion: Excitation | None,
    index: int,
    verdict: Reliability,
    *,
    impossible: bool,
) -> ParameterReliability:
    estimate = result.estimate
    value, std = float(estimate.values[index]), float(estimate.larger_std[index])
    relative = std / abs(value) if value else float("inf")
    effect, inflation, entangled = _company(result, motion, index)
    return ParameterReliability(
        name=result.regrouping.names[index],
        value=value,
        std=std,
        relative_std=relative,
        verdict=verdict,
        effect=effect,
        inflation=inflation,
        entangled=entangled,
        impossible=impossible,
        reason="; ".join(
            (
                *(("below zero, which no robot has: the model lacks something",) * impossible),
                *_reasons(verdict, relative, effect, inflation, entangled),
            )
        ),
    )


def _is_never_negative(result: IdentificationResult, index: int) -> bool:
    """Tell whether a base parameter is a single parameter that cannot be negative."""
    leading = result.regrouping.leading[index]
    alone = len(result.regrouping.grouping(index)) == 1
    return alone and leading.rstrip("0123456789") in _NEVER_NEGATIVE


def _company(
    result: IdentificationResult, motion: Excitation | None, index: int
) -> tuple[float, float, tuple[tuple[str, float], ...]]:
    """Return effect, inflation, and whom a parameter is hard to tell from."""
    if motion is None or index not in motion.places:
        return float("nan"), float("nan"), ()
    place = motion.places.index(index)
    size = abs(float(result.estimate.values[index])) * float(motion.norms[place])
    effect = size / motion.effort_norm if motion.effort_norm > 0.0 else float("nan")
    correlations = motion.correlation[place]
    others = [i for i in np.argsort(-np.abs(correlations), kind="stable") if i != place]
    entangled = tuple(
        (result.regrouping.names[motion.places[i]], float(correlations[i]))
        for i in others[:_NAMED]
        if abs(correlations[i]) >= _ENTANGLED
    )
    return effect, float(motion.inflation[place]), entangled


def _reasons(
    verdict: Reliability,
    relative: float,
    effect: float,
    inflation: float,
    entangled: Sequence[tuple[str, float]],
) -> tuple[str, ...]:
    if verdict is Reliability.GOOD:
        return ()
    if verdict is Reliability.REMOVED:
        return ("the effort is explained as well without it; its value is set to zero",)
    parts = []
    if TWO_SIDED_95 * relative >= 1.0:
        parts.append("even its sign is uncertain")
    if entangled:
        company = " and ".join(f"{name} ({c:+.2f})" for name, c in entangled)
        parts.append(f"hard to distinguish from {company} in this motion")
    elif inflation >= _INFLATED:
        parts.append(
            f"several others together imitate it; they make its deviation {inflation:.1f} times "
            "larger"
        )
    if effect < _SMALL_EFFECT:
        parts.append(f"it causes only {100.0 * effect:.2g} % of the effort")
    share = f"the {100.0 * effect:.2g} % of the effort that it causes" if effect > 0.0 else "it"
    return tuple(parts) or (f"the residual is large beside {share}",)
