"""Trials of the deviations that free motion has told, on the free motion itself.

With what one half of the rows tells, payloads are estimated from a few seconds of the other half,
one after the other as at work: what is known is told the rows of each before the next, and friction
may have changed by chance.  Nothing is carried, so that they lie as far from zero as their
deviations say.  All noise is enlarged by what they have in excess, and the threshold of changes by
what the largest likelihood ratios of changes have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from robot_identification.calibration.running_payload.innovations import (
    MOMENTS,
    mean_square,
    threshold,
)
from robot_identification.calibration.running_payload.knowledge import Knowledge
from robot_identification.calibration.running_payload.noise import (
    NoiseState,
    ResidualNoise,
    whitened,
)
from robot_identification.calibration.running_payload.rows import Segment
from robot_identification.calibration.running_payload.unknowns import Unknowns
from robot_identification.calibration.running_payload.window import SEGMENT, WINDOW, RowWindow
from robot_identification.robot.arrays import Array
from robot_identification.robot.parameters import LINK_PARAMETERS

_TRIAL = 100  # rows from which a payload is estimated on trial


@dataclass(frozen=True)
class Half:
    """One half of the free motion.

    Attributes:
        known: what the other half tells.
        rows: of this one.
    """

    known: Knowledge
    rows: Segment


def told_by(known: Knowledge, noise: ResidualNoise, segment: Segment) -> Knowledge:
    """Return what is known with the rows of a segment in which nothing is carried."""
    state = NoiseState.fresh(noise, segment.rows.shape[2])
    white, _ = whitened(noise, state, segment.rows, segment.kept, segment.begins)
    return known.told(_with_zeros(white[segment.kept], LINK_PARAMETERS))


def halves_of(whole: Segment, before: Knowledge, noise: ResidualNoise) -> tuple[Half, Half]:
    """Return the halves of free motion, each with what the other one tells.

    Args:
        whole: rows of free motion.
        before: what is known before any row.
        noise: of the rows.
    """
    middle = len(whole.stamps) // 2
    first, second = whole.part(slice(0, middle)), whole.part(slice(middle, None))
    return (
        Half(told_by(before, noise, first), second),
        Half(told_by(before, noise, second), first),
    )


def tried_payloads(
    halves: Iterable[Half], noise: ResidualNoise, drift: Array, row_period: float
) -> float:
    """Return by how much payloads on trial are farther from zero than their deviations say.

    Args:
        halves: of the free motion.
        noise: of the rows.
        drift: (unknowns, changes) what friction changes by, by chance, in a second.
        row_period: time between two rows, in s.
    """
    squares, trials = 0.0, 0
    each = np.sqrt(_TRIAL * row_period) * drift
    for half in halves:
        known, state = half.known, NoiseState.fresh(noise, half.rows.rows.shape[2])
        for part in _parts(half.rows, _TRIAL):
            onset = state.with_zeros(slice(0, LINK_PARAMETERS))  # carried from here on
            white, state = whitened(noise, onset, part.rows, part.kept, part.begins)
            rows = white[part.kept]
            known = known.drifted(each)
            # At work moments of inertia are taken for what is usual: a trial has none.
            carried = known.told(_with_zeros(rows, MOMENTS.start))
            known = known.told(_with_zeros(rows, LINK_PARAMETERS))
            squares, trials = squares + known.square - carried.square, trials + 1
    return float(np.sqrt(mean_square(squares, (MOMENTS.stop - MOMENTS.start) * trials)))


def tried_changes(
    halves: Iterable[Half], noise: ResidualNoise, unknowns: Unknowns, excess: float
) -> float:
    """Return the factor on thresholds of changes that the largest ratios in free motion ask for.

    Args:
        halves: of the free motion.
        noise: of the rows.
        unknowns: order of the unknowns.
        excess: by which the deviations of the noise will be enlarged.
    """
    ratios = []
    for half in halves:
        segments = list(_parts(half.rows, SEGMENT))
        for first in range(0, len(segments) - WINDOW + 1, WINDOW // 2):
            window = RowWindow(noise, unknowns)
            for segment in segments[first : first + WINDOW]:
                window.add(segment)
            if window.counting:
                ratios.append(float(window.innovations(half.known, bare=True).ratios().max()))
    if not ratios:
        return 1.0
    # The largest ratio is what is exceeded once in as many decisions, each with its onsets.
    usual = threshold(1.0 / max(len(ratios) * WINDOW, 2))
    return max(max(ratios) / excess**2 / usual, 1.0)


def _with_zeros(rows: Array, first: int) -> Array:
    """Return rows of which the first parameters of a payload are known to be zero."""
    found = np.array(rows)
    found[:, :first] = 0.0
    return found


def _parts(segment: Segment, rows: int) -> Iterator[Segment]:
    """Yield the parts of a segment with as many rows."""
    for first in range(0, len(segment.stamps) - rows + 1, rows):
        yield segment.part(slice(first, first + rows))
