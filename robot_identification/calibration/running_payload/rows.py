"""Rows of the running estimate: filtered residual of the bare robot and what may explain it.

With q, v, a from differences of positions at a constant period, the residual of the bare robot is

    tau - W(q, v, a) chi = Y(q, v, a) phi + N(q, v, a) n + H(v) h
                           + sign(v) |Y phi| r - d/dt(Y phi) d + e

with the payload phi, errors of the calibrated parameters n, errors of the friction law h, shares r
by which friction follows the payload's efforts, and delays d by which these are late.
All terms pass the same filter, a triangle of twice the row period, before they are decimated.
Seen through it an acceleration is the second difference of positions a row period apart, so that
positions alone are enough: what noise they have counts once, not at each sample.

Near rest friction is anything up to that of sliding: a joint's row counts where all that rubs on
it has moved faster than its stick speed as long as the filter looks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from robot_identification.calibration.running_payload.unknowns import KNOTS, SHAPES, Unknowns
from robot_identification.dynamics.external_efforts.settings import ExternalEffortSettings
from robot_identification.dynamics.friction import coulomb_terms_of
from robot_identification.dynamics.regressor import Regressor
from robot_identification.robot.arrays import Array, by_value, check_finite
from robot_identification.robot.model import RobotModel
from robot_identification.robot.mounting import Mounting
from robot_identification.robot.parameters import LINK_PARAMETERS
from robot_identification.signals.clock.arrivals import BlockClock
from robot_identification.signals.clock.gaps import split
from robot_identification.signals.clock.stamps import BEGINNING, Stamps, in_order
from robot_identification.signals.growing.grid import OnlineGrid, Piece
from robot_identification.signals.rows import LEAST_SHARE, Flags

ROW_PERIOD = 0.05
"""Time between two rows in s: half the length of the filter."""

_STEP = 0.004  # s: samples are averaged over it before they are differentiated
_BAND_HZ = 5.0  # of motions that pass the filter; says what gaps are bridged
_FEWEST = 2  # averages of a row period: a triangle needs as many
_Signals = tuple[Any, ...]  # arrays of equal length, of whatever kind


@by_value
@dataclass(frozen=True)
class Segment:
    """Rows that follow each other.

    Attributes:
        stamps: (rows,) in ns, in the middle of the filter.
        rows: (rows, joints, unknowns + 1) what multiplies the unknowns, and the residual, N m or N.
        kept: (rows, joints) which of them count.
        begins: (rows,) which of them follow a gap.
        modelled: (rows, joints) efforts of the bare robot, through the same filter.
        slopes: (rows, joints, 10) change with time, in 1/s, of what multiplies the payload.
    """

    stamps: Stamps
    rows: Array
    kept: Flags
    begins: Flags
    modelled: Array
    slopes: Array

    @property
    def counting(self) -> int:
        """Number of rows that count, over all joints."""
        return int(np.count_nonzero(self.kept))

    def part(self, places: slice) -> Segment:
        """Return some of its rows."""
        return Segment(*(part[places] for part in self.arrays))

    def followed_by(self, other: Segment) -> Segment:
        """Return this segment and another one that follows it, as one."""
        return Segment.joined([self, other])

    @staticmethod
    def joined(segments: Sequence[Segment]) -> Segment:
        """Return segments that follow each other, at least one, as one."""
        parts = zip(*(segment.arrays for segment in segments), strict=True)
        return Segment(*map(np.concatenate, parts))

    def behind_gap(self) -> Segment:
        """Return the same rows where samples are missing before them."""
        begins = self.begins.copy()
        begins[0] = True
        return replace(self, begins=begins)

    @property
    def arrays(self) -> _Signals:
        """Its arrays, each with an entry for every row."""
        return self.stamps, self.rows, self.kept, self.begins, self.modelled, self.slopes


class RowStream:
    """Turns joint states into rows, in blocks of any size.

    Samples are ordered, split at gaps and bridged as those of every stream.

    Args:
        robot: the robot, without loops.
        values: (full columns,) its calibrated parameters.
        mounting: frame of the payload.
        columns: (model,) columns of the full regressor that errors of parameters belong to.
        errors: (model, errors) change of these parameters for each unknown error.
        stick_speed: one for all or one for each joint, as in the settings.

    Attributes:
        unknowns: order of the unknowns.
        row_period: time between two rows in s, 0 before the clock is known.

    Raises:
        SettingError: the number of stick speeds is wrong.
    """

    def __init__(
        self,
        robot: RobotModel,
        values: Array,
        mounting: Mounting,
        columns: npt.ArrayLike,
        errors: Array,
        stick_speed: Sequence[float] = (0.0,),
    ) -> None:
        self._names = robot.joint_names
        self._filter = _RowFilter(robot, values, mounting, np.asarray(columns), errors, stick_speed)
        self.unknowns = self._filter.unknowns
        self.row_period = 0.0
        self._clock = BlockClock()
        self.restart()

    def restart(self) -> None:
        """Forget the samples that have come, and their period."""
        joints = len(self._names)
        self._grid: OnlineGrid | None = None
        none = np.zeros((0, joints))
        self._early: _Signals = (np.zeros(0, dtype=np.int64), none, none)

    def push(self, stamps: Stamps, position: Array, effort: Array) -> list[Segment]:
        """Take in samples on the joint side and return the rows that are finished.

        Args:
            stamps: (samples,) in ns.
            position: (samples, joints) in rad or m.
            effort: (samples, joints) measured, in N m or N.

        Raises:
            SampleError: a value is NaN or infinite.
        """
        for name, signal in (("position", position), ("effort", effort)):
            check_finite(name, signal, self._names)
        if self._clock.set_back(stamps):
            self.restart()
        if self._grid is None:
            early = _joined(self._early, (stamps, position, effort))
            # Of a driver that repeats a stamp, or has none, one sample is kept.
            places = in_order(early[0]).places
            self._early = tuple(signal[places] for signal in early)
            stamps, position, effort = self._early
            if len(stamps) < BEGINNING:
                return []
            self._grid = self._begun(stamps)
        pieces = self._grid.push(stamps, position, effort)
        return [segment for piece in pieces for segment in self._filter.push(piece)]

    def _begun(self, stamps: Stamps) -> OnlineGrid:
        """Set the clock by the first stamps, and the filter for its period."""
        clock = split(stamps[:BEGINNING], fewest=_FEWEST, band_hz=_BAND_HZ).clock
        self.row_period = self._filter.begin(clock.period_ns * 1e-9)
        return OnlineGrid(replace(clock, resampled=False))


class _RowFilter:
    """Averages, differences, regressors and the triangle, for samples at a constant period."""

    def __init__(
        self,
        robot: RobotModel,
        values: Array,
        mounting: Mounting,
        columns: npt.NDArray[np.intp],
        errors: Array,
        stick_speed: Sequence[float],
    ) -> None:
        self._joints = len(robot.joints)
        self.unknowns = Unknowns(errors.shape[1], self._joints)
        used = np.union1d(robot.standard_indices, mounting.columns)
        self._regressor = Regressor(robot.loaded_by(values), used)
        self._values = values[used]
        self._errors = np.zeros((len(used), errors.shape[1]))
        self._errors[np.searchsorted(used, columns)] = errors
        self._payload = np.zeros((len(used), LINK_PARAMETERS))
        self._payload[np.searchsorted(used, mounting.columns)] = mounting.to_link
        speeds = ExternalEffortSettings(stick_speed=tuple(stick_speed)).stick_speeds(robot)
        self._rubbing = _Rubbing(robot, speeds)

    def begin(self, period: float) -> float:
        """Set the sampling period in s, and return the time between two rows."""
        self._average = max(1, round(_STEP / period))
        self._step = self._average * period
        self._half = max(_FEWEST, round(ROW_PERIOD / self._step))
        rising = np.arange(1, self._half + 1) / self._half**2
        self._weights = np.stack([rising, 1.0 / self._half - rising])
        self._restart()
        return self._half * self._step

    def _restart(self) -> None:
        none = np.zeros((0, self._joints))
        self._samples: _Signals = (np.zeros(0, dtype=np.int64), none, none, np.zeros(0))
        self._means: _Signals = (np.zeros(0, dtype=np.int64), none, none, np.zeros(0))
        self._before: _Signals | None = None  # the block that the next row begins with
        self._begins = True

    def push(self, piece: Piece) -> list[Segment]:
        """Take in samples of the grid and return the rows that are finished."""
        if piece.begins:
            self._restart()
        measured = np.ones(len(piece.stamps)) if piece.measured is None else 1.0 * piece.measured
        fresh = (piece.stamps, piece.position, piece.effort, measured)
        self._samples = _joined(self._samples, fresh)
        whole = len(self._samples[0]) // self._average * self._average
        means = [
            signal[:whole].reshape(-1, self._average, *signal.shape[1:]).mean(axis=1)
            for signal in self._samples[1:]
        ]
        middle = self._samples[0][:whole].reshape(-1, self._average)
        stamps = middle[:, 0] + (middle[:, -1] - middle[:, 0]) // 2
        self._samples = _part(self._samples, slice(whole, None))
        self._means = _joined(self._means, (stamps, means[0], means[1], means[2]))
        # A difference needs a neighbour on each side.
        blocks = (len(self._means[0]) - 2) // self._half
        if blocks < 1:
            return []
        last = blocks * self._half
        taken = _part(self._means, slice(0, last + 2))
        self._means = _part(self._means, slice(last, None))
        return self._rows(blocks, *taken)

    def _rows(
        self, blocks: int, stamps: Stamps, position: Array, effort: Array, measured: Array
    ) -> list[Segment]:
        """Return the rows of averages of whole blocks, with a neighbour on each side."""
        q, tau = position[1:-1], effort[1:-1]
        v = (position[2:] - position[:-2]) / (2.0 * self._step)
        a = (position[2:] - 2.0 * q + position[:-2]) / self._step**2
        compact = self._regressor.compact(*(np.ascontiguousarray(x.T) for x in (q, v, a)))
        signals = np.concatenate([compact, self._rubbing.shapes(v), tau.T])
        parts = signals.reshape(len(signals), blocks, self._half) @ self._weights.T
        share = measured[1:-1].reshape(blocks, self._half).mean(axis=1)
        flowing = self._rubbing.flowing(v).reshape(blocks, self._half, -1).all(axis=1)
        flowing &= (share >= LEAST_SHARE)[:, None]
        ends = stamps[1:-1].reshape(blocks, self._half)[:, -1]
        found: _Signals = (ends, np.moveaxis(parts, 1, 0), flowing)
        if self._before is not None:
            found = _joined(self._before, found)
        self._before = _part(found, slice(-1, None))
        if len(found[0]) == 1:
            return []
        ends, parts, flowing = found
        filtered = parts[:-1, :, 0] + parts[1:, :, 1]
        # The triangle rises over one block and falls over the next, by 1/T in each.
        slopes = np.diff(parts.sum(axis=2), axis=0) / (self._half * self._step)
        begins = np.zeros(len(filtered), dtype=np.bool_)
        begins[0], self._begins = self._begins, False
        kept = flowing[1:] & flowing[:-1]
        return [self._segment(ends[:-1], filtered, slopes, kept, begins)]

    def _segment(
        self, stamps: Stamps, filtered: Array, slopes: Array, kept: Flags, begins: Flags
    ) -> Segment:
        """Return rows of (rows, signals) filtered signals and their changes in a second."""
        count, joints = self.unknowns.count, self._joints
        rows = np.zeros((len(stamps), joints, count + 1))
        modelled = np.empty((len(stamps), joints))
        of_payload = np.empty((len(stamps), joints, LINK_PARAMETERS))
        entries = self._regressor.compact_rows
        shapes = filtered[:, entries:-joints].reshape(len(stamps), joints, SHAPES)
        for k, joint in enumerate(self._regressor.joint_rows):
            own = filtered[:, joint.rows]
            modelled[:, k] = own @ self._values[joint.columns]
            rows[:, k, self.unknowns.payload] = own @ self._payload[joint.columns]
            rows[:, k, self.unknowns.of_parameters] = own @ self._errors[joint.columns]
            rows[:, k, self.unknowns.of_friction(k)] = shapes[:, k]
            rows[:, k, -1] = filtered[:, k - joints] - modelled[:, k]
            of_payload[:, k] = slopes[:, joint.rows] @ self._payload[joint.columns]
        return Segment(stamps, rows, kept, begins, modelled, of_payload)


class _Rubbing:
    """Where friction is that of sliding, and the functions of speed that its errors consist of.

    Args:
        robot: the robot.
        speeds: (joints,) stick speeds.
    """

    def __init__(self, robot: RobotModel, speeds: Array) -> None:
        self._speeds, joints = speeds, len(speeds)
        terms = coulomb_terms_of(robot)
        self._motions = np.concatenate([np.eye(joints), terms.motions])
        self._least = np.abs(self._motions) @ speeds
        self._acts = np.zeros((len(self._motions), joints), dtype=np.bool_)
        self._acts[:joints] = np.eye(joints, dtype=np.bool_)
        self._acts[joints + terms.motion, terms.joint] = True

    def flowing(self, velocity: Array) -> Flags:
        """Return (samples, joints) where all that rubs on a joint moves faster than it sticks."""
        slow = np.abs(velocity @ self._motions.T) <= self._least
        return np.asarray(~(slow @ self._acts))

    def shapes(self, velocity: Array) -> Array:
        """Return (joints * shapes, samples) of straight lines between the knots."""
        speed = np.clip(np.abs(velocity) / self._speeds, KNOTS[0], KNOTS[-1])
        forwards = velocity > 0.0
        place = np.clip(np.searchsorted(KNOTS, speed) - 1, 0, len(KNOTS) - 2)
        knots = np.array(KNOTS)
        share = (speed - knots[place]) / (knots[place + 1] - knots[place])
        found = np.zeros((*velocity.shape, 2, len(KNOTS)))
        way = np.where(forwards, 0, 1)
        sample, joint = np.indices(velocity.shape)
        found[sample, joint, way, place] = 1.0 - share
        found[sample, joint, way, place + 1] = share
        return np.ascontiguousarray(found.reshape(len(velocity), -1).T)


def _joined(first: _Signals, second: _Signals) -> _Signals:
    return tuple(np.concatenate(pair) for pair in zip(first, second, strict=True))


def _part(signals: _Signals, places: slice) -> _Signals:
    return tuple(signal[places] for signal in signals)
