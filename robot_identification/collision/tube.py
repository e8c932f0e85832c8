"""The tube of a motion: all postures on it, and on braking from everywhere on it at every speed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from robot_identification.collision.kernels import tube as tube_kernels
from robot_identification.robot.arrays import Array, by_value

_ROOT = 0.2  # s; longest range of time of a cell to begin with


@by_value
@dataclass(frozen=True)
class BrakingLaw:
    """Braking of the joints; see :mod:`robot_identification.excitation.motions.braking`.

    Attributes:
        acceleration: (joints,) in rad/s^2 or m/s^2.
        shortest: (joints,) shortest braking times of joints whose jerk is limited, in s; else 0.
        release: time in which the acceleration falls to zero before, in s.
    """

    acceleration: Array
    shortest: Array
    release: float


@by_value
@dataclass(frozen=True)
class Cells:
    """Parts of a tube.

    Attributes:
        ranges: (cells, 7) piece, and ranges of time, share of the speed and of the braking time.
        posture: (cells, joints) a posture of each, in rad or m.
        spread: (cells, joints) how far all others of the cell are from it at most.
        slack: (cells, joints) how much of that would be left of the smallest cell around it.
        parts: (cells, 3, joints) widths that the three ranges make.
    """

    ranges: Array
    posture: Array
    spread: Array
    slack: Array
    parts: Array

    def halved(self, chosen: npt.NDArray[np.intp], arms: Array) -> Array:
        """Return the ranges of some cells, each cut in two where that narrows it most.

        Args:
            chosen: (chosen,) indices of cells; one may occur several times, with other arms.
            arms: (chosen, joints) by how much bodies move per radian or metre, about.

        Returns:
            (2 chosen, 7) all first halves, then all second ones.
        """
        narrows = np.einsum("cpj,cj->cp", self.parts[chosen], arms)
        return halves(self.ranges[chosen], np.argmax(narrows, axis=1))


def halves(ranges: Array, which: npt.NDArray[np.intp]) -> Array:
    """Return the ranges (2 cells, 7) of cells that are cut in two.

    Args:
        ranges: (cells, 7) of the cells.
        which: (cells,) range of each that is cut: 0 time, 1 speed, 2 braking time.
    """
    rows = np.arange(len(ranges))
    middle = (ranges[rows, 1 + 2 * which] + ranges[rows, 2 + 2 * which]) / 2.0
    first, second = ranges.copy(), ranges.copy()
    first[rows, 2 + 2 * which] = middle
    second[rows, 1 + 2 * which] = middle
    return np.vstack([first, second])


@by_value
@dataclass(frozen=True)
class Tube:
    """A motion and all braking from it.

    It is cut into cells (7,): a piece of the motion, and ranges of the time since it began, of the
    share of the speed, and of the share of the longest braking time that has passed.  For distances
    the fall of the acceleration before braking is a slack of the path; for efforts it is a part of
    its own, where that last share goes from -1 to 0
    (:mod:`robot_identification.excitation.kernels.tube_states`).

    Attributes:
        times: (points,) times of the points of the motion, in s.
        coefficients: (points - 1, joints, 6) of its pieces, by rising powers of the time.
        fastest: (points - 1, joints) no less than velocities from which joints brake.
        spans: (points - 1, joints) by how much jerks change while the acceleration falls, at most.
        braking: how they brake.
        slack: (joints,) by how much the robot may be off all this, in rad or m.
    """

    times: Array
    coefficients: Array
    fastest: Array
    spans: Array
    braking: BrakingLaw
    slack: Array

    @classmethod
    def of(
        cls, times: Array, coefficients: Array, extrema: Array, braking: BrakingLaw, off: Array
    ) -> Tube:
        """Return the tube of a motion.

        On the way on which its acceleration falls to zero the robot leaves its path by no more
        than a u^2 / 6 + j u^3 / 6, with the largest acceleration a and jerk j.  Where the
        jerk changes on that way, it brakes from another velocity than where it does not
        (:mod:`robot_identification.collision.kernels.tube`).

        Args:
            times: (points,) times of its points, in s.
            coefficients: (points - 1, joints, 6) of its pieces.
            extrema: (4, 2, points - 1, joints) of position, velocity, acceleration and jerk.
            braking: how joints brake.
            off: (joints,) by how much the robot may be off its reference, in rad or m.
        """
        u = braking.release
        _, speed, bend, jerk = np.abs(extrema).max(axis=1)
        slack = (bend.max(axis=0) * u**2 + jerk.max(axis=0) * u**3) / 6.0
        spans = _jerk_spans(times, extrema[3], u)
        fastest = speed + u * bend / 2.0 + spans * u**2 / 8.0
        pieces = np.ascontiguousarray(coefficients)
        return cls(times, pieces, fastest, spans, braking, slack + off)

    def roots(self) -> Array:
        """Return ranges (cells, 7) that make up the whole tube."""
        cells = []
        for piece, duration in enumerate(np.diff(self.times)):
            borders = np.linspace(0.0, duration, max(1, int(np.ceil(duration / _ROOT))) + 1)
            cells += [(piece, begin, end, 0.0, 1.0, 0.0, 1.0) for begin, end in pairwise(borders)]
        return np.array(cells)

    def cells(self, ranges: Array) -> Cells:
        """Return the cells of ranges (cells, 7)."""
        joints = self.coefficients.shape[1]
        posture, spread, off = np.empty((3, len(ranges), joints))
        parts = np.empty((len(ranges), 3, joints))
        tube_kernels.boxes(
            ranges,
            (self.coefficients, self.fastest, self.spans),
            (self.braking.release, self.braking.shortest, self.braking.acceleration),
            posture,
            spread,
            off,
            parts,
        )
        return Cells(ranges, posture, spread + self.slack, off + self.slack, parts)

    def time(self, ranges: Array) -> float:
        """Return the time on the clock of the motion, in s, in the middle of a cell (7,)."""
        return float(self.times[int(ranges[0])] + (ranges[1] + ranges[2]) / 2.0)


def _jerk_spans(times: Array, jerk: Array, release: float) -> Array:
    """Return by how much jerks change at most, (pieces, joints), before any moment of a piece.

    What counts are the pieces that are not over a release time before it begins, and the rest
    before and behind the motion, where the jerk is 0.

    Args:
        times: (points,) of the motion, in s.
        jerk: (2, pieces, joints) smallest and largest of every piece.
        release: how long before, in s.
    """
    first = np.maximum(np.searchsorted(times, times[:-1] - release, side="right") - 1, 0)
    spans = np.empty(jerk.shape[1:])
    for piece, begin in enumerate(first):
        low, high = jerk[:, begin : piece + 1]
        spans[piece] = np.maximum(high.max(axis=0), 0.0) - np.minimum(low.min(axis=0), 0.0)
    return spans
