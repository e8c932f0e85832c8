"""Filtered positions and their derivatives while a run of samples is still growing.

The forward pass of the zero-phase filter is carried on from block to block, and the backward pass
begins where the samples end so far: what lies far enough before that place is finished.  Begin and
end of a run are treated as those of a whole one.
"""

from __future__ import annotations

import numpy as np
import scipy

from robot_identification.errors import MeasuredVelocityError
from robot_identification.robot.arrays import Array
from robot_identification.signals.filters import filtering
from robot_identification.signals.processing.complete import Processing

# What samples that have not come yet may still change in a filtered position.
LEVEL = 1e-8


class OnlineMotion:
    """Filters and differentiates the positions of one run of samples.

    Measured velocities, where the settings ask for them, pass the filter beside the positions.

    Args:
        joints: number of joints.
        period: sampling period in s.
        processing: cut-off, order of the filter and of the differences, which velocities.
        level: what samples that have not come yet may still change, relative to the positions.
        torn: whether samples were lost before the first one.

    Raises:
        SettingError: the cut-off does not suit the sampling rate.
    """

    def __init__(
        self,
        joints: int,
        period: float,
        processing: Processing,
        *,
        level: float = LEVEL,
        torn: bool = False,
    ) -> None:
        order = processing.filter_order
        self._period = period
        self._sections = filtering.butterworth(processing.cutoff_hz, order, period)
        self._steady = scipy.signal.sosfilt_zi(self._sections)[:, None, :]
        self._least = filtering.padding(order)
        self._memory = filtering.memory(self._sections)
        self._pad = self._memory if torn else self._least  # at the begin
        self._reach = filtering.decay_samples(self._sections, level)
        self._order = processing.difference_order
        self._state: Array | None = None
        self._joints = joints
        self._measured = processing.velocities == "measured"
        signals = 2 * joints if self._measured else joints  # positions, below them velocities
        self._raw = np.zeros((signals, 0))  # the newest samples, for the continuation at the end
        self._forward = np.zeros((signals, 0))  # passed forward, not yet backward
        self._smooth = np.zeros((signals, 0))  # filtered, differences not finished
        self._begun = False  # whether differences have been given out

    def push(self, position: Array, velocity: Array | None = None) -> Array:
        """Take in positions.

        Args:
            position: (joints, samples) what follows.
            velocity: (joints, samples) measured; not used where the settings say ``derived``.

        Returns:
            (3, joints, finished) positions, velocities and accelerations that follow those given
            out before.

        Raises:
            MeasuredVelocityError: the settings ask for velocities, and there are none.
        """
        if self._measured:
            if velocity is None:
                raise MeasuredVelocityError("")
            position = np.concatenate([position, velocity])
        if self._state is None:
            position = np.hstack([self._raw, position])
            if position.shape[1] <= self._pad:
                self._raw = position
                return self._nothing()
            self._begin(position, self._pad)
        passed, self._state = scipy.signal.sosfilt(self._sections, position, zi=self._state)
        self._forward = np.hstack([self._forward, passed])
        self._raw = np.hstack([self._raw, position])[:, -self._memory - 1 :]
        finished = self._forward.shape[1] - self._reach
        if finished <= 0:
            return self._nothing()
        smooth = self._backward(self._forward)
        self._smooth = np.hstack([self._smooth, smooth[:, :finished]])
        self._forward = self._forward[:, finished:]
        return self._differences(self._smooth.shape[1] - self._order)

    def _begin(self, position: Array, pad: int) -> None:
        """Set the state before the first position, continued by so many samples."""
        before = filtering.continued(position, pad, 0)[:, :pad]
        _, self._state = scipy.signal.sosfilt(
            self._sections, before, zi=self._steady * before[None, :, :1]
        )

    def end(self, *, torn: bool = False) -> Array:
        """Return (3, joints, rest) what is left, with the end treatment of a whole run.

        Args:
            torn: whether samples were lost behind the last one.
        """
        if self._state is None:
            waiting = self._raw
            if waiting.shape[1] <= self._least:
                return self._nothing()
            self._begin(waiting, waiting.shape[1] - 1)
            self._forward, self._state = scipy.signal.sosfilt(
                self._sections, waiting, zi=self._state
            )
        pad = min(self._memory if torn else self._least, self._raw.shape[1] - 1)
        behind = filtering.continued(self._raw, 0, pad)[:, -pad:]
        passed, _ = scipy.signal.sosfilt(self._sections, behind, zi=self._state)
        smooth = self._backward(np.hstack([self._forward, passed]))
        self._smooth = np.hstack([self._smooth, smooth[:, : self._forward.shape[1]]])
        return self._differences(self._smooth.shape[1])

    def _backward(self, passed: Array) -> Array:
        turned, _ = scipy.signal.sosfilt(
            self._sections, passed[:, ::-1], zi=self._steady * passed[None, :, -1:]
        )
        result: Array = turned[:, ::-1]
        return result

    def _differences(self, stop: int) -> Array:
        """Return position and derivatives before a place, and forget what none will need."""
        start = self._order if self._begun else 0
        if stop <= start or self._smooth.shape[1] < 2:
            return self._nothing()
        position, velocity = self._smooth[: self._joints], self._smooth[self._joints :]
        if not self._measured:
            velocity = filtering.differentiate(position, self._period, self._order)
        acceleration = filtering.differentiate(velocity, self._period, self._order)
        given = np.stack([position, velocity, acceleration])[:, :, start:stop]
        if stop > self._order:
            self._smooth = self._smooth[:, stop - self._order :]
            self._begun = True
            return given
        return self._nothing()

    def _nothing(self) -> Array:
        return np.zeros((3, self._joints, 0))
