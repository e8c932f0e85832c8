"""One unbroken run of samples on its way into rows, while it grows.

Nothing is gone over twice and nothing grows: filters and decimation carry their states from block
to block (:mod:`~robot_identification.signals.growing.motion`,
:mod:`~robot_identification.signals.growing.decimation`).  The rows are those of
:class:`~.whole_rows.WholeRows` for the same run, up to what samples that are not there yet could
change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.regressor import Regressor
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel
from robot_identification.signals.growing import decimation as online_decimation
from robot_identification.signals.growing import motion as online_motion
from robot_identification.signals.growing.decimation import OnlineDecimator
from robot_identification.signals.growing.motion import OnlineMotion
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.rows import LEAST_SHARE, Flags, RowChoice

TakeRows = Callable[[Array, npt.NDArray[np.bool_], Array], None]

# Level at which rows no longer depend on the samples that follow.
_EXACT = 1e-13
# Samples whose rows exist at a time, and ones that the decimation of shares begins with.
_SAMPLES, _ONES = 512, 1 << 16


class StreamedRun:
    """Rows of a run of samples, handed on as soon as they are finished.

    Args:
        robot: the robot.
        regressor: of its base parameters, with one spare row per joint.
        processing: complete settings.
        period: sampling period in s.
        take: given (compact rows, instants) decimated rows, (joints, instants) which count, and
            (instants,) their times in s.
        begin: time of the first sample, in s.
        prompt: whether rows come as soon as the samples that follow can change them little, or
            wait until nothing that follows can change them, whatever the portions they come in.
        torn: whether samples were lost before the first one.

    Raises:
        SettingError: the cut-off does not suit the sampling rate.
    """

    def __init__(
        self,
        robot: RobotModel,
        regressor: Regressor,
        processing: Processing,
        period: float,
        take: TakeRows,
        *,
        begin: float = 0.0,
        prompt: bool = True,
        torn: bool = False,
    ) -> None:
        self._begin, self._period = begin + period * processing.drop_start, period
        joints = len(robot.joints)
        decimator = processing.decimator(period)
        self._regressor, self._processing = regressor, processing
        self._choice = RowChoice(robot, processing)
        self._take = take
        self._factor = decimator.factor
        self._cut = processing.cut_outputs(period)
        window = int(np.ceil(processing.velocity_threshold_window)) + 1
        self._shares: OnlineDecimator | None = None  # of measured samples; None: none was lost yet
        self._new_shares = partial(
            OnlineDecimator,
            decimator,
            1,
            hold=max(self._cut, window),
            level=online_decimation.LEVEL if prompt else _EXACT,
        )
        self._motion = OnlineMotion(
            joints,
            period,
            processing,
            level=online_motion.LEVEL if prompt else _EXACT,
            torn=torn,
        )
        self._decimator = OnlineDecimator(
            decimator,
            regressor.compact_rows,
            hold=max(self._cut, window),
            level=online_decimation.LEVEL if prompt else _EXACT,
        )
        self._received = 0  # samples taken in
        self._used = 0  # samples given to the regressor or dropped at the start
        self._finished = np.zeros((3, joints, 0))  # position, velocity, acceleration, not yet used
        self._effort = np.zeros((joints, 0))  # from the same sample on
        self._measured = np.zeros(0, dtype=np.bool_)  # likewise
        self.missed = 0  # rows that were left out because samples were lost
        self._speed = np.zeros((joints, 0))  # velocities around the outputs that wait
        self._speed_start = 0  # sample of the first of them, dropped ones not counted
        self._decimated = 0  # samples given to the decimation
        self._outputs = 0  # decimated instants handed on

    def push(
        self,
        position: Array,
        effort: Array,
        measured: Flags | None = None,
        velocity: Array | None = None,
    ) -> None:
        """Take in samples at the constant period.

        Args:
            position: (samples, joints) on the joint side.
            effort: (samples, joints) likewise.
            measured: (samples,) which of them were measured; by default all.
            velocity: (samples, joints) measured, where the settings ask for them.

        Raises:
            MeasuredVelocityError: they ask for them, and there are none.
        """
        self._received += len(position)
        velocities = None if velocity is None else np.ascontiguousarray(velocity.T)
        motion = self._motion.push(np.ascontiguousarray(position.T), velocities)
        self._finished = np.concatenate([self._finished, motion], axis=2)
        self._effort = np.hstack([self._effort, effort.T])
        there = np.ones(len(position), dtype=np.bool_) if measured is None else measured
        self._measured = np.concatenate([self._measured, there])
        self._use()

    def end(self, *, torn: bool = False) -> None:
        """Hand on what is left, with the end treatment of a whole run.

        Args:
            torn: whether samples were lost behind the last one.
        """
        self._finished = np.concatenate([self._finished, self._motion.end(torn=torn)], axis=2)
        self._use()
        shares = None if self._shares is None else self._shares.end()
        self._hand_on(self._decimator.end(), shares, ended=True)

    def _use(self) -> None:
        """Turn samples that are finished, and are not dropped at an end, into rows."""
        for part in self._parts():
            q, qd, qdd = (np.ascontiguousarray(signal[:, part]) for signal in self._finished)
            rows = self._regressor.compact(q, qd, qdd)
            for joint, effort in zip(self._regressor.joint_rows, self._effort, strict=True):
                rows[joint.rows.stop] = effort[part]
            self._speed = np.hstack([self._speed, qd])
            shares = self._measured_shares(self._measured[part])
            if shares is not None:
                rows[:, ~self._measured[part]] = 0.0
            self._decimated += rows.shape[1]
            self._hand_on(self._decimator.push(rows), shares, ended=False)

    def _measured_shares(self, measured: Flags) -> Array | None:
        """Return (1, outputs) the shares of measured samples that belong to the next rows.

        They are decimated as the rows are, from the first sample that was lost on.
        """
        if self._shares is None:
            if measured.all():
                return None
            self._shares = self._new_shares()
            for first in range(0, self._decimated, _ONES):
                self._shares.push(np.ones((1, min(_ONES, self._decimated - first))))
        return self._shares.push(measured[None].astype(np.float64))

    def _parts(self) -> Iterator[slice]:
        """Yield parts of the finished samples to use; forget those that are used or dropped."""
        drop = min(max(self._processing.drop_start - self._used, 0), self._finished.shape[2])
        self._forget(drop)
        last = self._received - self._processing.drop_end - self._used
        stop = min(self._finished.shape[2], max(last, 0))
        for first in range(0, stop, _SAMPLES):
            yield slice(first, min(first + _SAMPLES, stop))
        self._forget(stop)

    def _forget(self, samples: int) -> None:
        self._used += samples
        self._finished = self._finished[:, :, samples:]
        self._effort = self._effort[:, samples:]
        self._measured = self._measured[samples:]

    def _hand_on(self, rows: Array, shares: Array | None, *, ended: bool) -> None:
        count = rows.shape[1]
        if not count:
            return
        numbers = self._outputs + np.arange(count, dtype=np.intp)
        places = numbers * self._factor - self._speed_start
        kept = self._choice.moving(self._speed, places, self._factor)
        kept[:, numbers < self._cut] = False
        if ended and self._cut:
            kept[:, -self._cut :] = False
        scale = self._decimator.gain
        if shares is not None:
            own = shares[0] / scale
            self.missed += int(np.count_nonzero(kept[:, own < LEAST_SHARE]))
            kept[:, own < LEAST_SHARE] = False
            rows = rows / np.maximum(own, LEAST_SHARE)
        self._outputs += count
        reach = int(self._processing.velocity_threshold_window * self._factor)
        spare = max(self._outputs * self._factor - reach - self._speed_start, 0)
        self._speed = self._speed[:, spare:]
        self._speed_start += spare
        times = self._begin + self._period * self._factor * numbers.astype(np.float64)
        self._take(rows / scale, kept, np.asarray(times, dtype=np.float64))
