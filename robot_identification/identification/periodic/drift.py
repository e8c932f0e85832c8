"""Test of the drift of every joint's friction over the periods of a recording.

The difference of the efforts of every period to their mean is explained by what friction of the
joint would make of it: viscous, Coulomb, and an offset.  If nothing drifts, the change of these
from the first to the last period, by a straight line through all of them, is noise: F test, with
the noise in the lowest harmonics that friction does not explain, in which it may be larger than
the mean over all frequencies.  The level holds for all joints together (Holm 1979).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy
import scipy.linalg

from robot_identification.identification import entries as entry_of
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.terms.joint_terms import TERMS
from robot_identification.signals.periodic.average import AveragedPeriods
from robot_identification.signals.periodic.fourier import derivative_basis

LEVEL = 0.01
"""Probability that any joint is said to drift though none does."""
DRIFTING = tuple(term for term in TERMS if term.default and not term.kind.stores_energy)
# Lowest harmonics in which the noise is estimated, at least; twice those of the reference.
_FEWEST_HARMONICS = 10
_LEAST_SHARE = 1e-6
# No noise is smaller than this part of the effort: simulated recordings may have none.
_EXACT = 1e-6


@by_value
@dataclass(frozen=True)
class JointDrift:
    """Change of a joint's friction from the first to the last period.

    Attributes:
        joint: name of the joint.
        change: (terms,) of viscous friction, Coulomb friction and offset.
        std: (terms,) standard deviations of the changes.
        statistic: of the F test.
        freedom: its degrees of freedom.
        probability: of a larger statistic without drift, times the number of tests that are still
            open when it is this joint's turn (Holm 1979), at most 1.
        drifts: whether that is below the level.
    """

    joint: str
    change: Array
    std: Array
    statistic: float
    freedom: tuple[int, int]
    probability: float
    drifts: bool


def drift_of(
    names: Sequence[str], average: AveragedPeriods, kept: npt.NDArray[np.bool_]
) -> tuple[JointDrift, ...]:
    """Return how the friction of every joint that moves changes over the periods.

    Args:
        names: (joints,) names of the joints.
        average: the recording.
        kept: (joints, samples) at which phases the sign of the velocity is known.
    """
    found = [
        (name, _fit(average, joint, kept[joint]))
        for joint, name in enumerate(names)
        if np.count_nonzero(kept[joint])
    ]
    tested = [(name, fit) for name, fit in found if fit is not None]
    order = sorted(range(len(tested)), key=lambda i: tested[i][1].probability)
    result: list[JointDrift] = []
    largest, open_tests = 0.0, len(tested)
    for place in order:
        name, fit = tested[place]
        largest = max(largest, min(open_tests * fit.probability, 1.0))
        open_tests -= 1
        result.append(
            JointDrift(
                joint=name,
                change=read_only(fit.change),
                std=read_only(fit.std),
                statistic=fit.statistic,
                freedom=fit.freedom,
                probability=largest,
                drifts=largest < LEVEL,
            )
        )
    return tuple(sorted(result, key=lambda drift: names.index(drift.joint)))


@by_value
@dataclass(frozen=True)
class _Fit:
    change: Array
    std: Array
    statistic: float
    freedom: tuple[int, int]
    probability: float


def _fit(average: AveragedPeriods, joint: int, kept: npt.NDArray[np.bool_]) -> _Fit | None:
    """Return the straight line through the friction of a joint in every period."""
    periods = average.periods
    velocity = average.segment.velocity[joint, kept]
    friction = np.stack([term.kind.of(velocity) for term in DRIFTING], axis=1)
    norms = np.linalg.norm(friction, axis=0)
    reference = average.motion.planned_harmonics or average.motion.harmonics or 0
    highest = min(max(2 * reference, _FEWEST_HARMONICS), len(kept) // 8)
    time = (average.segment.time - average.segment.time[0])[kept]
    low = derivative_basis(time, average.series.period, highest)[0][:, 1:]
    orthogonal, triangle = np.linalg.qr(np.hstack([friction / norms, low / np.sqrt(len(time))]))
    diagonal = np.abs(np.diag(triangle))
    terms = friction.shape[1]
    other = diagonal[terms:] > _LEAST_SHARE
    freedom = int(np.count_nonzero(other)) * (periods - 1)
    if (diagonal[:terms] < _LEAST_SHARE).any() or freedom < 1:
        return None
    rest = average.efforts[:, joint][:, kept]
    scores = (rest - rest.mean(axis=0)) @ orthogonal
    variance = float((scores[:, terms:][:, other] ** 2).sum()) / freedom
    variance = max(variance, float(np.mean(rest**2)) * _EXACT**2)
    turn = np.linspace(-0.5, 0.5, periods)  # of the straight line: 1 from first to last period
    change = turn @ scores[:, :terms] / (turn @ turn)
    power = float(change @ change) * float(turn @ turn) / terms
    root = scipy.linalg.solve_triangular(triangle[:terms, :terms], np.eye(terms))
    deviation = np.sqrt(variance / (turn @ turn)) * np.linalg.norm(root, axis=1) / norms
    statistic = power / variance if variance > 0.0 else 0.0
    return _Fit(
        change=root @ change / norms,
        std=deviation,
        statistic=statistic,
        freedom=(terms, freedom),
        probability=float(scipy.stats.f.sf(statistic, terms, freedom)),
    )


def drift_entries(drift: JointDrift) -> dict[str, Any]:
    """Return the plain data of a joint's drift."""
    return {
        "joint": drift.joint,
        "change": {t.name: v for t, v in zip(DRIFTING, drift.change.tolist(), strict=True)},
        "std": {t.name: v for t, v in zip(DRIFTING, drift.std.tolist(), strict=True)},
        "statistic": drift.statistic,
        "freedom": list(drift.freedom),
        "probability": drift.probability,
        "drifts": drift.drifts,
    }


def drift_from(entries: Mapping[str, Any]) -> JointDrift:
    """Return the drift that plain data describe.

    Raises:
        KeyError, TypeError, ValueError: they describe none.
    """
    change, std = (entry_of.mapping(entries, name) for name in ("change", "std"))
    freedom = entry_of.finite(entries["freedom"], "freedom", 2)
    return JointDrift(
        joint=entry_of.text(entries, "joint"),
        change=read_only(entry_of.finite([change[t.name] for t in DRIFTING], "change")),
        std=read_only(entry_of.finite([std[t.name] for t in DRIFTING], "std")),
        statistic=entry_of.number(entries, "statistic"),
        freedom=(int(freedom[0]), int(freedom[1])),
        probability=entry_of.number(entries, "probability"),
        drifts=entry_of.flag(entries, "drifts"),
    )
