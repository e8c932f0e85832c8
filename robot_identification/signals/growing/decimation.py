"""Parallel decimation of rows while they grow, without going over any sample twice."""

from __future__ import annotations

import numpy as np

from robot_identification.errors import SettingError, ShapeError
from robot_identification.robot.arrays import Array
from robot_identification.signals.filters.decimation import PADDING, Decimator
from robot_identification.signals.filters.decimation_kernels import MODES, SUMS
from robot_identification.signals.growing.kernels import begin_rows, complete_rows, extend_rows

# What samples that have not come yet may still change in an output, as a part of the peak.
LEVEL = 1e-4


class OnlineDecimator:
    """Decimates growing rows as :class:`~.decimation.Decimator` does when they have ended.

    Args:
        decimator: factor and filter; its first sample is pinned, since nobody knows the last one.
        rows: number of rows.
        hold: outputs that wait, at least, until their successors are known.
        level: what samples that have not come yet may still change in an output, as a part of the
            peak.

    Raises:
        SettingError: the decimator pins the last sample.
    """

    def __init__(
        self, decimator: Decimator, rows: int, *, hold: int = 0, level: float = LEVEL
    ) -> None:
        if decimator.pinned == "last":
            raise SettingError("decimation_pins", "last", "rows that grow have no last sample yet")
        self._decimator = decimator
        self._hold = max(decimator.end_outputs(level), hold)
        self._causal = np.zeros((rows, MODES), dtype=np.complex128)
        self._tail = np.zeros((rows, 0))
        self._last = -1  # place in the tail of the last kept sample; -1 before the first one
        self._sums = np.zeros((rows, SUMS, 0))
        self._waiting = np.zeros((rows, 0))

    @property
    def gain(self) -> float:
        """Gain for constants, which outputs still have."""
        return self._decimator.gain

    @property
    def hold(self) -> int:
        """Number of outputs that wait until their successors are known."""
        return self._hold

    def push(self, values: Array) -> Array:
        """Take in samples.

        Args:
            values: (rows, samples) what follows.

        Returns:
            (rows, outputs) what is finished: of all but the last :attr:`hold` outputs, those that
            were not given out before.

        Raises:
            ShapeError: if there is not a value per row.
        """
        if values.ndim != 2 or len(values) != len(self._tail):
            raise ShapeError("values", values.shape, f"({len(self._tail)}, samples)")
        if self._decimator.factor == 1:
            self._waiting = np.hstack([self._waiting, values])
            return self._given(max(self._waiting.shape[1] - self._hold, 0))
        self._tail = np.hstack([self._tail, values])
        if self._last < 0 and not self._begun():
            return self._given(0)
        self._extend()
        ready = self._waiting.shape[1] - self._hold
        return self._completed(ready, ended=False) if ready > 0 else self._given(0)

    def end(self) -> Array:
        """Return (rows, outputs) what is left, with the end treatment of whole rows."""
        left = self._waiting.shape[1]
        if self._decimator.factor == 1 or left == 0:
            return self._given(left)
        return self._completed(left, ended=True)

    def _begun(self) -> bool:
        if self._tail.shape[1] <= PADDING:
            return False
        modes = self._decimator.modes
        begin_rows(self._tail, 0, PADDING, modes, self._causal)
        gains = modes.gain_real + 1j * modes.gain_imaginary
        first = (self._causal @ gains).real + modes.direct * self._tail[:, 0]
        self._waiting = np.ascontiguousarray(first[:, None])
        self._sums = np.zeros((len(first), SUMS, 1))
        self._last = 0
        return True

    def _extend(self) -> None:
        factor = self._decimator.factor
        new = (self._tail.shape[1] - 1 - self._last) // factor
        if new:
            rows = len(self._tail)
            sums = np.zeros((rows, SUMS, new + 1))
            outputs = np.empty((rows, new))
            modes = self._decimator.modes
            extend_rows(self._tail, self._last, factor, modes, self._causal, sums, outputs)
            self._sums = np.concatenate([self._sums, sums[:, :, 1:]], axis=2)
            self._waiting = np.hstack([self._waiting, outputs])
            self._last += new * factor
        spare = min(self._last, self._tail.shape[1] - 1 - PADDING)
        self._tail = np.ascontiguousarray(self._tail[:, spare:])
        self._last -= spare

    def _completed(self, count: int, *, ended: bool) -> Array:
        outputs = np.ascontiguousarray(self._waiting[:, :count])
        modes = self._decimator.modes
        complete_rows(
            self._tail, self._last, PADDING, modes, self._causal, ended, self._sums, outputs
        )
        self._sums = np.ascontiguousarray(self._sums[:, :, count:])
        self._waiting = self._waiting[:, count:]
        return outputs

    def _given(self, count: int) -> Array:
        given = np.ascontiguousarray(self._waiting[:, :count])
        self._waiting = np.ascontiguousarray(self._waiting[:, count:])
        return given
