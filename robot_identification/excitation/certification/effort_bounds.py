"""The efforts of a motion: bounds over all of it, at every speed, and over all braking.

The tube of the motion is cut into cells.  In each the efforts of the prior model are affine forms:
an upper bound of what any state of the cell takes, and a lower bound of what one of them does take.
Cells that may hold more than the largest effort that is reached are cut in two, until no cell can
hold much more, and it is known whether the limits are kept.

Coulomb friction, Stribeck's and what follows the load have the sign of the velocity; where that is
zero they count together with either sign.
What :func:`~robot_identification.excitation.motions.braking.brake` adds to times to rest, a
millisecond at most, is not followed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.collision.tube import Tube, halves
from robot_identification.dynamics.friction import refuse_temperature, refuse_user_terms
from robot_identification.dynamics.springs import spring_arrays
from robot_identification.dynamics.tree import coupling_terms_of, tree_of
from robot_identification.excitation.kernels import effort_bounds as effort_bound_kernels
from robot_identification.excitation.kernels.tube_states import SHORTEST
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.robot.arrays import Array
from robot_identification.robot.joint import JointType
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.kinds import TermKind

_TOLERANCE = 0.03
"""Distance of a bound above the value that is reached, as a share of that."""
_FLOOR = 2e-3
"""The same at least, as a share of the limit."""
_MARGIN = 1e-3
"""Share of a limit below which "kept" and "not kept" are not told apart: then it is not kept."""
_MANY_CELLS = 300_000
"""Number of cells beyond which the tolerance grows with the square of their number."""
_MOST_CELLS = 3_000_000
_WEIGHTS = 0.3, 0.2, 0.3
"""Weights of widths of position, velocity and acceleration, against one of the way to rest, where a
cell is cut; these make the fewest cells."""
_BENT = 3.0
"""Times the speed at which friction bends: a velocity of so much is worth as much as its limit."""
_TIMES, _SPEEDS, _STOPS = 4, (1.0, 0.5), np.linspace(0.0, 1.0, 9)


@dataclass(frozen=True)
class Peak:
    """The largest effort of a joint, of either sign.

    Attributes:
        joint: its name.
        unit: ``N m`` or ``N``.
        limit: of the effort; infinite where it is not known.
        bound: no effort is larger.
        reached: an effort that is reached.
        time: when, on the clock of the motion, in s.
        speed: at which share of the planned speed.
        braking: whether the robot brakes then.
    """

    joint: str
    unit: str
    limit: float
    bound: float
    reached: float
    time: float
    speed: float
    braking: bool

    @property
    def exceeds(self) -> bool:
        """Whether an effort is reached that is not within the limit."""
        return self.reached > (1.0 - _MARGIN) * self.limit

    @property
    def when(self) -> str:
        """Time at which it is reached, in words."""
        when = f"{'while it brakes from' if self.braking else 'at'} {self.time:.3f} s"
        return when if self.speed > 0.995 else f"{when}, at {100.0 * self.speed:.2g} % of the speed"


@dataclass(frozen=True)
class Efforts:
    """Bounds of the efforts of a motion.

    Attributes:
        kept: whether every effort is within its limit, everywhere.
        peaks: one of every joint.  Where the limits are not kept, the search has ended there, and
            bounds may be far above what is reached.
        cells: number of cells.
    """

    kept: bool
    peaks: tuple[Peak, ...]
    cells: int

    @property
    def worst(self) -> Peak:
        """The peak that is the largest share of its limit, where limits are not kept as reached."""
        which = "bound" if self.kept else "reached"
        return max(self.peaks, key=lambda peak: getattr(peak, which) / peak.limit)

    def __str__(self) -> str:
        told = (
            f"{peak.joint} {peak.bound:.4g}"
            + (f" of {peak.limit:g}" if np.isfinite(peak.limit) else "")
            + f" {peak.unit}"
            for peak in self.peaks
        )
        return f"efforts at most: {', '.join(told)}"


def efforts(robot: RobotModel, values: Array, tube: Tube, limits: MotionLimits) -> Efforts:
    """Return bounds of the efforts of a tube.

    Args:
        robot: the robot.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.
        tube: the motion, and braking from it.
        limits: of the robot.
    """
    search = _Search(robot, values, tube, limits)
    search.look(_samples(tube))
    waiting = _roots(tube)
    while len(waiting) and not search.exceeded.any():
        waiting = search.refined(waiting)
        if search.cells > _MOST_CELLS or search.unbounded:
            return search.found(kept=search.bounded)
    return search.found(kept=not (search.exceeded.any() or search.unbounded))


def _phases(tube: Tube) -> tuple[float, ...]:
    """Return where ways to rest begin: of joints whose jerk is not limited at 0, of others at 1."""
    limited = tube.braking.shortest > 0.0
    return (*(() if limited.all() else (0.0,)), *((1.0,) if limited.any() else ()))


def _roots(tube: Tube) -> Array:
    """Return ranges (cells, 7) that make up the whole tube, the fall of the acceleration too."""
    braking = tube.roots()
    falling = braking.copy()
    falling[:, 5:] = -1.0, 0.0
    durations = np.diff(tube.times)[braking[:, 0].astype(np.intp)]
    braking[braking[:, 2] >= durations, 2] += tube.braking.release / 2.0
    ways = []
    for begin in _phases(tube):
        ways.append(braking.copy())
        ways[-1][:, 5:] += begin
    return np.vstack([falling, *ways])


def _samples(tube: Tube) -> Array:
    """Return some single states of a tube, as cells without width."""
    roots = tube.roots()
    part = (np.arange(_TIMES) + 0.5) / _TIMES
    times = roots[:, 1:2] + (roots[:, 2:3] - roots[:, 1:2]) * part
    stops = np.concatenate([[-1.0], *(begin + _STOPS for begin in _phases(tube))])
    pieces = np.repeat(roots[:, 0], _TIMES)
    index, speed, stop = np.meshgrid(np.arange(times.size), np.array(_SPEEDS), stops, indexing="ij")
    columns = pieces[index], times.ravel()[index], speed, stop
    piece, time, k, s = (column.ravel() for column in columns)
    return np.column_stack([piece, time, time, k, k, s, s])


def _scales(robot: RobotModel, limits: MotionLimits) -> Array:
    """Return (joints,) velocities that are worth 1: their limits, less where friction bends."""
    scales = np.array(limits.velocity)
    for j, joint in enumerate(robot.joints):
        for term in joint.joint_terms:
            if term.kind in (TermKind.SMOOTH, TermKind.STRIBECK):
                scales[j] = min(scales[j], _BENT * joint.shape_of(term)[0])
    return scales


class _Search:
    """Cuts cells in two until their bounds say enough."""

    def __init__(self, robot: RobotModel, values: Array, tube: Tube, limits: MotionLimits) -> None:
        for refuse in (refuse_user_terms, refuse_temperature):
            refuse(robot, "the certificate of efforts")
        self._robot, self._tube, self._limit = robot, tube, limits.effort
        values = np.array(values)
        law = tube.braking
        joints, pieces = len(robot.joints), len(tube.coefficients)
        quickest = np.maximum(1.5 * tube.fastest / law.acceleration, SHORTEST)
        limited = law.shortest > 0.0
        longest = np.empty((pieces, 3))
        longest[:, 0] = np.where(limited, 0.0, quickest).max(axis=1)
        longest[:, 1] = law.shortest.max()
        longest[:, 2] = quickest.max(axis=1) - longest[:, 0]
        self._arguments = (
            (np.array(tube.coefficients), longest),
            (law.release, np.array(law.shortest), np.array(law.acceleration)),
            (tree_of(robot), coupling_terms_of(robot), spring_arrays(robot, values), values),
            np.outer(_WEIGHTS, np.ones(joints))
            / np.array([np.ones(joints), _scales(robot, limits), limits.acceleration]),
        )
        self._durations = np.diff(tube.times)
        self._reached = np.zeros(joints)
        self._where = np.tile(tube.roots()[0], (joints, 1))
        self._bound, self._waiting = np.zeros(joints), np.zeros(joints)
        self.cells, self.unbounded = 0, False

    @property
    def exceeded(self) -> npt.NDArray[np.bool_]:
        """(joints,) whether an effort is reached that is not within the limit."""
        return self._reached > (1.0 - _MARGIN) * self._limit

    @property
    def bounded(self) -> bool:
        """Whether no cell, looked at or waiting, holds more than the limits."""
        return bool((self._most <= (1.0 - _MARGIN) * self._limit).all()) and not self.unbounded

    @property
    def _most(self) -> Array:
        """(joints,) bounds of the efforts as far as was looked; infinite where none is known."""
        if self.unbounded:
            return np.full(len(self._reached), np.inf)
        return np.maximum(np.maximum(self._bound, self._waiting), self._reached)

    def look(self, ranges: Array) -> tuple[Array, Array]:
        """Bound the efforts of cells; note what is reached.

        Args:
            ranges: (cells, 7) of the cells.

        Returns:
            Upper bounds (cells, joints); what every range makes of the widths, (cells, 3).
        """
        shape = len(ranges), len(self._reached)
        upper, lower, parts = np.empty(shape), np.empty(shape), np.empty((len(ranges), 3))
        effort_bound_kernels.bound_efforts(ranges, *self._arguments, upper, lower, parts)
        self.cells += len(ranges)
        self._keep_to_the_motion(ranges, upper, lower)
        best = lower.argmax(axis=0)
        for joint, cell in enumerate(best):
            if lower[cell, joint] > self._reached[joint]:
                self._reached[joint] = lower[cell, joint]
                self._where[joint] = ranges[cell]
        return upper, parts

    def _keep_to_the_motion(self, ranges: Array, upper: Array, lower: Array) -> None:
        """Leave out what begins to brake before or after the piece of a cell."""
        half = self._tube.braking.release / 2.0 * (ranges[:, 6] > 0.0)
        begin = ranges[:, 1] - half * ranges[:, 4]
        end = ranges[:, 2] - half * ranges[:, 3]
        duration = self._durations[ranges[:, 0].astype(np.intp)]
        upper[(end < 0.0) | (begin > duration)] = 0.0
        lower[(begin < 0.0) | (end > duration)] = 0.0

    def refined(self, ranges: Array) -> Array:
        """Return the halves of those cells that may hold too much."""
        upper, parts = self.look(ranges)
        self.unbounded = not bool(np.isfinite(upper).all())  # numbers too large for arithmetic
        share = _TOLERANCE * max(1.0, self.cells / _MANY_CELLS) ** 2
        enough = self._reached + np.maximum(share * self._reached, self._floor())
        too_much = (upper > np.minimum(enough, self._limit)).any(axis=1)
        self._bound = np.maximum(self._bound, upper[~too_much].max(axis=0, initial=0.0))
        self._waiting = upper[too_much].max(axis=0, initial=0.0)
        chosen = ranges[too_much]
        return halves(chosen, parts[too_much].argmax(axis=1))

    def _floor(self) -> Array:
        return np.where(np.isfinite(self._limit), _FLOOR * self._limit, 0.0)

    def found(self, *, kept: bool) -> Efforts:
        """Return what was found."""
        bound, peaks = self._most, []
        for j, joint in enumerate(self._robot.joints):
            ranges = self._where[j]
            peaks.append(
                Peak(
                    joint=joint.name,
                    unit="N" if joint.type is JointType.PRISMATIC else "N m",
                    limit=float(self._limit[j]),
                    bound=float(bound[j]),
                    reached=float(self._reached[j]),
                    time=self._tube.time(ranges),
                    speed=float(ranges[4]),
                    braking=bool(ranges[5] >= -0.5),
                )
            )
        return Efforts(kept, tuple(peaks), self.cells)
