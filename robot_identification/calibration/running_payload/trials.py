"""Whether the deviations that free motion has told are right, tried on the free motion itself.

With what one half of the rows tells, payloads are estimated from a few seconds of the other half,
one after the other as at work: what is known is told the rows of each before the next, and friction
may have changed by chance.  Nothing is carried, so that they lie as far from zero as their
deviations say.  All noise is enlarged by what they have in excess, and the threshold of changes by
what the largest likelihood ratios of changes have.
"""

from __future__ import annotations

from collections.abc import Iterator

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
from robot_identification.robot.model import Array
from robot_identification.robot.parameters import LINK_PARAMETERS

_TRIAL = 100  # rows from which a payload is estimated on trial


def told_by(known: Knowledge, noise: ResidualNoise, segment: Segment) -> Knowledge:
    """Return what is known with the rows of a segment in which nothing is carried."""
    state = NoiseState.fresh(noise, segment.rows.shape[2])
    white, _ = whitened(noise, state, segment.rows, segment.kept, segment.begins)
    return known.told(_bare(white[segment.kept]))


def tried_payloads(
    before: Knowledge, noise: ResidualNoise, whole: Segment, drift: Array, row_period: float
) -> float:
    """Return by how much payloads on trial are farther from zero than their deviations say.

    Args:
        before: what is known before any row.
        noise: of the rows.
        whole: rows of free motion.
        drift: (unknowns, changes) what friction changes by, by chance, in a second.
        row_period: time between two rows, in s.
    """
    squares, trials = 0.0, 0
    each = np.sqrt(_TRIAL * row_period) * drift
    for learned, tried in _halves(whole):
        known = told_by(before, noise, learned)
        state = NoiseState.fresh(noise, whole.rows.shape[2])
        for part in _parts(tried, _TRIAL):
            onset = state.with_zeros(slice(0, LINK_PARAMETERS))  # carried from here on
            white, state = whitened(noise, onset, part.rows, part.kept, part.begins)
            rows = white[part.kept]
            known = known.drifted(each)
            without = known.told(_bare(rows))
            squares += without.square - known.told(_point(rows)).square
            known, trials = without, trials + 1
    return float(np.sqrt(mean_square(squares, (MOMENTS.stop - MOMENTS.start) * trials)))


def tried_changes(
    before: Knowledge, noise: ResidualNoise, whole: Segment, unknowns: Unknowns, excess: float
) -> float:
    """Return the factor on thresholds of changes that the largest ratios in free motion ask for.

    Args:
        before: what is known before any row.
        noise: of the rows.
        whole: rows of free motion.
        unknowns: order of the unknowns.
        excess: by which the deviations of the noise will be enlarged.
    """
    ratios = []
    for learned, tried in _halves(whole):
        known = told_by(before, noise, learned)
        segments = list(_parts(tried, SEGMENT))
        for first in range(0, len(segments) - WINDOW + 1, WINDOW // 2):
            window = RowWindow(noise, unknowns)
            for segment in segments[first : first + WINDOW]:
                window.add(segment)
            if window.counting:
                ratios.append(float(window.innovations(known, bare=True).ratios().max()))
    if not ratios:
        return 1.0
    # The largest ratio is what is exceeded once in as many decisions, each with its onsets.
    usual = threshold(1.0 / max(len(ratios) * WINDOW, 2))
    return max(max(ratios) / excess**2 / usual, 1.0)


def _bare(rows: Array) -> Array:
    found = np.array(rows)
    found[:, :LINK_PARAMETERS] = 0.0
    return found


def _point(rows: Array) -> Array:
    """Return rows of a payload without moments of inertia about the frame."""
    found = np.array(rows)
    found[:, : MOMENTS.start] = 0.0
    return found


def _halves(whole: Segment) -> Iterator[tuple[Segment, Segment]]:
    """Yield each half of the rows with the other one."""
    middle = len(whole.stamps) // 2
    first, second = whole.part(slice(0, middle)), whole.part(slice(middle, None))
    yield first, second
    yield second, first


def _parts(segment: Segment, rows: int) -> Iterator[Segment]:
    """Yield the parts of a segment with as many rows."""
    for first in range(0, len(segment.stamps) - rows + 1, rows):
        yield segment.part(slice(first, first + rows))
