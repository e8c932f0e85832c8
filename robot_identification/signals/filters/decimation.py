"""Parallel decimation: torque and regressor through one filter (Gautier et al. 2013, eq. 13).

The filter is the one of MATLAB's ``decimate``: Chebyshev of the first kind, order 8, 0.05 dB of
ripple, cut-off at 0.8 of the new Nyquist frequency, forward and backward.  One sample in every
``factor`` is kept, counted from the first one, as a stream must count, or from the last one, as
MATLAB does.

A regressor of a long recording is too large to exist as a whole.  :meth:`Decimator.blocks` cuts
a segment into windows of input samples, and :meth:`Decimator.decimate_window` gives for each of
them the same outputs, to about 1e-12 of the largest value, as filtering the whole segment would.
Windows are decimated by compiled code that computes nothing but the outputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy

from robot_identification.errors import RecordingError, SettingError, ShapeError
from robot_identification.robot.arrays import Array
from robot_identification.robot.processing import PinnedSample
from robot_identification.signals.filters import filtering
from robot_identification.signals.filters.decimation_kernels import decimate_rows
from robot_identification.signals.filters.modes import Complex, Modes, fading_weights, modes_of

ORDER = 8
RIPPLE_DB = 0.05
CUTOFF = 0.8
PADDING = 3 * ORDER
_NEGLIGIBLE = 1e-14


@dataclass(frozen=True)
class Window:
    """A part of a segment, and the decimated samples that can be computed from it.

    Attributes:
        start: first input sample.
        stop: input sample behind the last one.
        samples: number of input samples of the whole segment.
        first_output: number of the first decimated sample that it gives.
        last_output: number behind the last one.
    """

    start: int
    stop: int
    samples: int
    first_output: int
    last_output: int

    @property
    def inputs(self) -> slice:
        """Input samples of the window."""
        return slice(self.start, self.stop)

    @property
    def outputs(self) -> slice:
        """Decimated samples that the window gives."""
        return slice(self.first_output, self.last_output)


@dataclass(frozen=True)
class Decimator:
    """Zero-phase decimation by an integer factor.

    Attributes:
        factor: one sample in ``factor`` is kept; 1 neither filters nor drops anything.
        pinned: the sample that is kept in any case, from which the others are counted.

    Raises:
        SettingError: if the factor is not positive.
    """

    factor: int
    pinned: PinnedSample = "first"

    def __post_init__(self) -> None:
        if self.factor < 1:
            raise SettingError("decimation factor", self.factor, "must be at least 1")

    @cached_property
    def sections(self) -> Array:
        """(4, 6) second-order sections of the filter, which is stable for any factor."""
        sections: Array = scipy.signal.cheby1(ORDER, RIPPLE_DB, CUTOFF / self.factor, output="sos")
        return sections

    @cached_property
    def modes(self) -> Modes:
        """The filter as compiled decimation takes it; of a factor above 1."""
        zeros, poles, gain = scipy.signal.cheby1(
            ORDER, RIPPLE_DB, CUTOFF / self.factor, output="zpk"
        )
        return modes_of(zeros, poles, gain, self.factor)

    @property
    def gain(self) -> float:
        """Gain for constants: an even Chebyshev filter damps them by its ripple in each pass.

        Torque and regressor are damped alike, so that no parameter is biased.
        """
        return 1.0 if self.factor == 1 else float(10.0 ** (-2 * RIPPLE_DB / 20.0))

    @property
    def shortest(self) -> int:
        """Smallest number of samples that can be decimated."""
        return 1 if self.factor == 1 else PADDING + 1

    @cached_property
    def overlap(self) -> int:
        """Number of input samples beyond an output that can still be felt in it."""
        return 0 if self.factor == 1 else filtering.decay_samples(self.sections, _NEGLIGIBLE)

    @cached_property
    def _weights_before(self) -> Array:
        """Weights of the samples of a window up to its first output in the states there."""
        return np.ascontiguousarray(fading_weights(self.modes.poles, self.overlap + 1)[::-1])

    @cached_property
    def _weights_behind(self) -> Array:
        """Weights of the samples of a window behind its last output in the states there."""
        return fading_weights(self.modes.poles, self.overlap)

    def end_outputs(self, level: float) -> int:
        """Return how many outputs at each end of a segment the continuation beyond it reaches.

        Args:
            level: fraction of the peak of the impulse response that counts as reached.
        """
        if self.factor == 1:
            return 0
        settling = filtering.settling_samples(self.sections, level)
        return int(np.ceil(settling / self.factor))

    def output_count(self, samples: int) -> int:
        """Return how many of ``samples`` are kept."""
        return -(-samples // self.factor)

    def kept(self, samples: int) -> npt.NDArray[np.intp]:
        """Return (outputs,) the places of the samples that are kept."""
        first = (samples - 1) % self.factor if self.pinned == "last" else 0
        return np.arange(first, samples, self.factor, dtype=np.intp)

    def decimate(self, values: Array) -> Array:
        """Filter and decimate whole signals.

        Args:
            values: (..., samples) signals.

        Returns:
            (..., outputs) decimated signals.

        Raises:
            RecordingError: if there are fewer than :attr:`shortest` samples.
        """
        if self.factor == 1:
            return np.array(values)
        filtered = filtering.zero_phase(self.sections, PADDING, values)
        return np.ascontiguousarray(filtered[..., self.kept(values.shape[-1])])

    def blocks(self, samples: int, block_outputs: int) -> Iterator[Window]:
        """Cut a segment into windows that give a number of outputs each.

        Neighbouring windows overlap by twice :attr:`overlap`, about 350 outputs' worth of
        samples, so blocks should be no shorter than that.

        Args:
            samples: number of samples of the segment.
            block_outputs: largest number of outputs of a window.

        Raises:
            RecordingError: if there are fewer than :attr:`shortest` samples.
        """
        if samples < self.shortest:
            raise RecordingError(
                f"a segment of {samples} samples is too short to be decimated; "
                f"{self.shortest} are needed"
            )
        kept = self.kept(samples)
        for first in range(0, len(kept), max(block_outputs, 1)):
            last = min(first + max(block_outputs, 1), len(kept))
            left = int(kept[first]) - self.overlap
            right = int(kept[last - 1]) + 1 + self.overlap
            yield Window(
                start=left if left > PADDING else 0,
                stop=right if right < samples - PADDING else samples,
                samples=samples,
                first_output=first,
                last_output=last,
            )

    def decimate_window(self, values: Array, window: Window) -> Array:
        """Filter and decimate the samples of a window.

        Args:
            values: (rows, window samples) signals at ``window.inputs``.
            window: from :meth:`blocks`.

        Returns:
            (rows, window outputs) decimated signals, ``window.outputs`` of the segment; with a
            factor of 1 they may be a view of ``values``.

        Raises:
            ShapeError: if the values do not have the samples of the window.
        """
        if values.ndim != 2 or values.shape[1] != window.stop - window.start:
            raise ShapeError("values", values.shape, f"(rows, {window.stop - window.start})")
        kept = self.kept(window.samples)[window.outputs] - window.start
        if self.factor == 1:
            return np.ascontiguousarray(values[:, kept[0] : kept[-1] + 1])
        # Compiled code would be compiled again for arrays that are not writable.
        samples = np.require(values, np.float64, ["C", "W"])
        before = behind = np.empty((0, len(self.modes.poles)), dtype=np.complex128)
        begin, first = divmod(int(kept[0]), self.factor)
        last = values.shape[1] - 1
        if window.start > 0:
            begin, first = 0, int(kept[0])
            before = _states(samples[:, : first + 1], self._weights_before)
        if window.stop < window.samples:
            last = int(kept[-1])
            behind = _states(samples[:, last + 1 :], self._weights_behind)
        blocks = (last - first) // self.factor + 1
        outputs = np.empty((len(values), len(kept)))
        decimate_rows(
            samples,
            first,
            blocks,
            self.factor,
            PADDING,
            self.modes,
            begin,
            before,
            behind,
            outputs,
        )
        return outputs


def _states(values: Array, weights: Array) -> Complex:
    """Return the states (rows, modes) that samples (rows, samples) leave in the filter."""
    states: Complex = (values @ weights).view(np.complex128)
    return states
