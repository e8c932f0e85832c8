"""The delay between efforts and the motion that they belong to, from the inverse dynamics.

The motion is moved by trial delays, the efforts are left alone, and every joint's rows are fitted
by least squares; the delay is where the residual is smallest.  This asks nothing but the structure
of the model: whatever torque goes with the motion, gravity, friction and coupling included, is in
the regressor, where a correlation with fewer signals would put what is missing into the delay.
Moving the filtered motion, whose band is limited, leaves the noise of the efforts as it is; an
interpolation of the efforts would smooth noise between samples and so favour halves of a period.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy.ndimage
import scipy.optimize

from robot_identification.dynamics.regressor import Regressor
from robot_identification.errors import CancelledError, RecordingError
from robot_identification.identification.base import BaseParameters, base_parameters
from robot_identification.identification.factor import JointFactor, merge
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.stream import (
    BLOCK_OUTPUTS,
    Cancelled,
    FactorStream,
    decimated_rows,
)
from robot_identification.robot.model import Array, RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.processing import Processing
from robot_identification.signals.recording import Recording, Segment
from robot_identification.signals.resampling import interpolate
from robot_identification.signals.samples import FilteredSegment, filter_recording, kept_rows
from robot_identification.signals.settings import resolve_processing

LARGEST = 0.05
"""Largest delay that is looked for, in s, to both sides."""

EFFORT_DELAY = "effort_delay"
"""Name of the setting."""

_STEPS = 5  # of the coarse search, to each side
_BLOCKS = 10
_FEWEST_BLOCKS = 4
_MOST_SECONDS = 40.0
_SPLINE = 3
_PRECISION = 1e-6
_WIDEST = 10.0
_ROWS_PER_COLUMN = 5


@dataclass(frozen=True)
class DelayEstimate:
    """How far efforts lie behind the motion that they belong to.

    Attributes:
        delay: in s; positive where the efforts come later.
        std: its standard deviation in s, by a jackknife over blocks of time, so that coloured
            residuals count.
        residual_ratio: residual of all joints at this delay over that without one.
    """

    delay: float
    std: float
    residual_ratio: float

    def __str__(self) -> str:
        return f"{1e3 * self.delay:.3f} ms +- {1e3 * self.std:.3f} ms"


def estimate_effort_delay(
    robot: RobotModel,
    recordings: Sequence[Recording],
    *,
    largest: float = LARGEST,
    cancelled: Cancelled | None = None,
) -> DelayEstimate:
    """Estimate the delay of the efforts of recordings behind their motion.

    At most 40 s of the recordings are used, in blocks spread over them; their processing follows
    from the data alone.

    Args:
        robot: the robot.
        recordings: joint states on the joint side; all have the same delay.
        largest: largest delay that is looked for, in s.
        cancelled: asked now and then whether to stop.

    Raises:
        RecordingError: the recordings are too short, or tell no delay in that range.
        SettingError: a setting is not possible.
        CancelledError: if ``cancelled`` says so.
    """
    # What a robot file recommends for identification may leave too few rows, of too narrow a band.
    plain = replace(robot, processing=ProcessingSettings())
    processing = resolve_processing(plain, recordings)
    segments = [s for r in recordings for s in filter_recording(r, processing)]
    blocks = [_Movable.of(block, largest) for block in _spread(segments, processing, largest)]
    residual = _Residual(base_parameters(robot), blocks, processing, largest, cancelled)
    residual.require_rows()
    trials = np.linspace(-largest, largest, 2 * _STEPS + 1)
    sizes = [residual(float(trial)) for trial in trials]
    best = int(np.argmin(sizes))
    if best in (0, len(trials) - 1):
        raise RecordingError(
            f"the delay between efforts and motion cannot be estimated: up to {1e3 * largest:g} ms "
            "the residual of the inverse dynamics has no minimum; check the clocks of both, and "
            "that the robot moves"
        )
    step = float(trials[1] - trials[0])
    found = scipy.optimize.minimize_scalar(
        residual,
        bounds=(float(trials[best]) - step, float(trials[best]) + step),
        method="bounded",
        options={"xatol": _PRECISION},
    )
    delay = float(found.x)
    span = min(step / 4.0, 0.25 / processing.cutoff_hz)
    vertex, std = residual.jackknife(delay, span)
    ratio = float(np.exp(0.5 * (residual(vertex) - residual(0.0))))
    return DelayEstimate(vertex, std, ratio)


class _Residual:
    """Size of the residual at a trial delay: mean of the joints' log variances.

    Its minimum is the maximum of the likelihood with a variance of its own for every joint.  The
    rows are the same at every delay: those around reversals, whose friction would change its sign
    at one delay or another, are left out.
    """

    def __init__(
        self,
        base: BaseParameters,
        blocks: Sequence[_Movable],
        processing: Processing,
        largest: float,
        cancelled: Cancelled | None,
    ) -> None:
        window = processing.velocity_threshold_window + largest * processing.rate_hz
        wider = replace(processing, velocity_threshold_window=min(window, _WIDEST))
        self._base = base
        self._regressor = Regressor(base.robot, base.base_columns, spare=1)
        self._blocks = [(block, kept_rows(base.robot, block.moved(0.0), wider)) for block in blocks]
        self._processing = processing
        self._cancelled = cancelled

    def __call__(self, delay: float) -> float:
        return _log_variance(self._factors(delay, self._blocks))

    def require_rows(self) -> None:
        """Refuse data that hardly have more rows than the model has parameters.

        Raises:
            RecordingError: for a joint there are too few.
        """
        for factor in self._factors(0.0, self._blocks):
            if factor.rows < _ROWS_PER_COLUMN * len(factor.columns):
                raise RecordingError(
                    f"{factor.rows} rows of joint {factor.joint} are too few to estimate the delay "
                    "between efforts and motion; record longer"
                )

    def jackknife(self, delay: float, span: float) -> tuple[float, float]:
        """Return the delay at the vertex of a parabola, and its standard deviation.

        Args:
            delay: near the minimum, in s.
            span: distance to the two other points of the parabola, in s.
        """
        points = np.array([delay - span, delay, delay + span])
        parts = [[self._factors(float(p), [block]) for block in self._blocks] for p in points]
        count = len(self._blocks)

        def vertex(left_out: int | None) -> float:
            used = [i for i in range(count) if i != left_out]
            logs = np.array([_log_variance(_merged([part[i] for i in used])) for part in parts])
            sizes = np.exp(logs - logs[1])
            curvature = sizes[0] - 2.0 * sizes[1] + sizes[2]
            if curvature <= 0.0:
                raise RecordingError(
                    "the delay between efforts and motion cannot be estimated: the residual of the "
                    "inverse dynamics hardly changes with it; record a faster motion"
                )
            return float(delay + 0.5 * span * (sizes[0] - sizes[2]) / curvature)

        without = np.array([vertex(i) for i in range(count)])
        spread = without - without.mean()
        return vertex(None), float(np.sqrt((count - 1) / count * (spread @ spread)))

    def _factors(self, delay: float, blocks: Sequence[_Block]) -> tuple[JointFactor, ...]:
        if self._cancelled is not None and self._cancelled():
            raise CancelledError("cancelled while estimating the delay of the efforts")
        stream = FactorStream(self._base.robot, self._base.base_columns, self._processing)
        for block, kept in blocks:
            segment = block.moved(delay)
            decimator = self._processing.decimator(segment.period)
            for window in decimator.blocks(segment.samples, BLOCK_OUTPUTS):
                rows = decimated_rows(self._regressor, segment, window, decimator)
                stream.add(rows, kept[:, window.outputs])
        return stream.factors()


def _merged(parts: Sequence[Sequence[JointFactor]]) -> list[JointFactor]:
    return [merge(of_joint) for of_joint in zip(*parts, strict=True)]


def _log_variance(factors: Sequence[JointFactor]) -> float:
    """Return the mean over rows of the log of their joint's residual variance."""
    rows = np.array([max(factor.rows, 1) for factor in factors], dtype=np.float64)
    floor = np.finfo(float).tiny
    sizes = np.array([max(factor.own_fit[0] ** 2, floor) for factor in factors])
    weighted: Array = rows * np.log(sizes / rows)
    return float(np.sum(weighted) / np.sum(rows))


@dataclass(frozen=True)
class _Movable:
    """A block of filtered samples whose motion can be moved against its efforts.

    Attributes:
        segment: the samples, with a margin on both sides.
        splines: coefficients of position, velocity and acceleration.
        margin: samples on each side that moving uses up.
    """

    segment: FilteredSegment
    splines: tuple[Array, Array, Array]
    margin: int

    @classmethod
    def of(cls, segment: FilteredSegment, largest: float) -> _Movable:
        position, velocity, acceleration = (
            np.asarray(scipy.ndimage.spline_filter1d(signal, _SPLINE, axis=1, mode="mirror"))
            for signal in (segment.position, segment.velocity, segment.acceleration)
        )
        return cls(segment, (position, velocity, acceleration), _margin(largest, segment.period))

    def moved(self, delay: float) -> FilteredSegment:
        """Return the block with the motion later by a delay in s, without the margins."""
        used = slice(self.margin, self.segment.samples - self.margin)
        shift = delay / self.segment.period
        position, velocity, acceleration = (
            np.array([_shifted_signal(joint, shift) for joint in spline]) for spline in self.splines
        )
        return replace(
            self.segment,
            time=self.segment.time[used],
            position=position[:, used],
            velocity=velocity[:, used],
            acceleration=acceleration[:, used],
            effort=self.segment.effort[:, used],
        )


def _shifted_signal(spline: Array, shift: float) -> Array:
    shifted: Array = scipy.ndimage.shift(
        spline, shift, order=_SPLINE, mode="mirror", prefilter=False
    )
    return shifted


_Block = tuple[_Movable, npt.NDArray[np.bool_]]


def _margin(largest: float, period: float) -> int:
    return int(np.ceil(largest / period)) + 1


def _spread(
    segments: Sequence[FilteredSegment], processing: Processing, largest: float
) -> list[FilteredSegment]:
    """Return blocks of segments, spread over them all.

    Raises:
        RecordingError: there are not enough of them.
    """
    total = sum(s.samples * s.period for s in segments)
    wanted = min(total, _MOST_SECONDS) / _BLOCKS
    blocks: list[FilteredSegment] = []
    for segment in segments:
        margins = 2 * _margin(largest, segment.period)
        least = processing.shortest_segment(segment.period) + margins
        size = max(round(wanted / segment.period), least)
        share = segment.samples * segment.period / total
        count = min(segment.samples // size, max(round(_BLOCKS * share), 1))
        begins = np.linspace(0, segment.samples - size, count).astype(int)
        blocks.extend(_part(segment, slice(begin, begin + size)) for begin in begins)
    if len(blocks) < _FEWEST_BLOCKS:
        raise RecordingError(
            f"{total:.1f} s of unbroken samples are too short to estimate the delay between "
            "efforts and motion; record longer"
        )
    return blocks


def _part(segment: FilteredSegment, samples: slice) -> FilteredSegment:
    return replace(
        segment,
        time=segment.time[samples],
        position=segment.position[:, samples],
        velocity=segment.velocity[:, samples],
        acceleration=segment.acceleration[:, samples],
        effort=segment.effort[:, samples],
    )


def shift_efforts(recording: Recording, delay: float) -> Recording:
    """Return a recording whose efforts are taken later by a delay, so that it is gone.

    Within every segment the efforts are interpolated; what they do not reach is cut off.

    Args:
        recording: on one clock.
        delay: by which the efforts lie behind the motion, in s.

    Raises:
        RecordingError: no segment is longer than the delay.
    """
    moved = [_shifted(s, delay / recording.period) for s in recording.segments]
    segments = tuple(s for s in moved if len(s.time))
    if not segments:
        raise RecordingError(
            f"{recording.source}: no run of samples is longer than the delay of {delay:g} s"
        )
    return replace(recording, segments=segments)


def _shifted(segment: Segment, periods: float) -> Segment:
    count = len(segment.time)
    instants = np.arange(count, dtype=np.float64) + np.float64(periods)
    there = np.flatnonzero((instants >= 0.0) & (instants <= count - 1))
    if len(there) == 0:
        return segment.part(slice(0, 0))
    used = slice(int(there[0]), int(there[-1]) + 1)
    effort = interpolate(np.arange(count, dtype=np.float64), segment.effort, instants[used])
    return replace(segment.part(used), effort=effort)


def with_known_delay(
    robot: RobotModel,
    recordings: Sequence[Recording],
    *,
    estimated: bool = False,
    cancelled: Cancelled | None = None,
) -> list[Recording]:
    """Return recordings of which the delay of the efforts is known, and told in ``warnings``.

    By default it is estimated for recordings with efforts of a topic of their own, and told; the
    efforts stay where their stamps put them.

    Args:
        robot: the robot.
        recordings: joint states on the joint side.
        estimated: whether the efforts of all recordings are moved by the estimate.
        cancelled: asked now and then whether to stop.

    Raises:
        RecordingError: the efforts are to be moved, and their delay cannot be estimated.
        SettingError: a setting is not possible.
        CancelledError: if ``cancelled`` says so.
    """
    return [
        _with_known_delay(robot, recording, cancelled, estimated=estimated)
        if (estimated or recording.effort_topic) and _has_positions(recording)
        else recording
        for recording in recordings
    ]


def _has_positions(recording: Recording) -> bool:
    """Tell whether the positions of a recording are there; DIDIM does without."""
    return all(bool(np.isfinite(s.position).all()) for s in recording.segments)


def _with_known_delay(
    robot: RobotModel,
    recording: Recording,
    cancelled: Cancelled | None,
    *,
    estimated: bool,
) -> Recording:
    what = f"{recording.source}: efforts" + (
        f" on {recording.effort_topic}" if recording.effort_topic else ""
    )
    try:
        found = estimate_effort_delay(robot, [recording], cancelled=cancelled)
    except RecordingError as error:
        if estimated:
            raise
        return _told(recording, f"{what}: {error}")
    applied = recording.effort_delay
    lag = f"{what} lie {found} behind the motion"
    beyond = f", beyond the {1e3 * applied:g} ms stated" if applied else ""
    if not estimated:
        advice = "not corrected; state a delay of"
        return _told(recording, f"{lag}{beyond}; {advice} {1e3 * (applied + found.delay):.3f} ms")
    moved = shift_efforts(recording, found.delay)
    return _told(
        replace(moved, effort_delay=applied + found.delay), f"{lag}{beyond}; corrected by that"
    )


def _told(recording: Recording, line: str) -> Recording:
    return replace(recording, warnings=(*recording.warnings, line))


def with_delay(
    result: IdentificationResult, recordings: Sequence[Recording]
) -> IdentificationResult:
    """Return a result whose settings tell the delay of the efforts that was accounted for, in s.

    They do where a recording has efforts of a topic of their own, or a delay.

    Args:
        result: the result.
        recordings: what it was made from, from :func:`with_known_delay`.
    """
    if not any(r.effort_topic or r.effort_delay for r in recordings):
        return result
    topics = sorted({r.effort_topic or "the joint states" for r in recordings})
    entry: dict[str, object] = {
        "value": [r.effort_delay for r in recordings],
        "reason": f"efforts on {', '.join(topics)}; one value for each recording",
    }
    return replace(result, settings={**result.settings, EFFORT_DELAY: entry})
