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
import scipy

from robot_identification.dynamics.regressor import Regressor
from robot_identification.errors import CancelledError, RecordingError
from robot_identification.identification.base.parameters import BaseParameters, base_parameters
from robot_identification.identification.delays.movable_blocks import MovableBlock, spread_blocks
from robot_identification.identification.friction.options import (
    COULOMB_VISCOUS,
    needs_whole,
    starting_robot,
)
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.identification.rows.groups import merged
from robot_identification.identification.rows.whole import (
    BLOCK_OUTPUTS,
    Cancelled,
    FactorStream,
    decimated_rows,
)
from robot_identification.identification.statistics.joint_noise import (
    LEAST_FREEDOM,
    refuse_silent_joints,
)
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.filtered import filter_recording
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.processing.settings import resolve_processing
from robot_identification.signals.recording import Recording
from robot_identification.signals.rows import kept_rows, measured_shares

LARGEST = 0.05
"""Largest delay that is looked for, in s, to both sides."""

_STEPS = 5  # of the coarse search, to each side
_PRECISION = 1e-6
_WIDEST = 10.0
_GROUPS = 10  # of rows that follow each other, for the jackknife

_Factors = tuple[JointFactor, ...]


@dataclass(frozen=True)
class DelayEstimate:
    """Estimated delay of the efforts behind the motion that they belong to.

    Attributes:
        delay: in s; positive where the efforts come later.
        std: its standard deviation in s, by a jackknife over blocks of time, so that coloured
            residuals count.
    """

    delay: float
    std: float

    def __str__(self) -> str:
        return f"{1e3 * self.delay:.3f} ms +- {1e3 * self.std:.3f} ms"


def estimate_effort_delay(
    robot: RobotModel,
    recordings: Sequence[Recording],
    *,
    stated: ProcessingSettings | None = None,
    largest: float = LARGEST,
    cancelled: Cancelled | None = None,
) -> DelayEstimate:
    """Estimate the delay of the efforts of recordings behind their motion.

    Some 40 s of the recordings are used, in blocks spread over them; their processing is as the
    caller states, or else follows from the data alone.  Where shapes or loads of friction are open,
    which identification estimates, friction is that of Coulomb and viscous.

    Args:
        robot: the robot.
        recordings: joint states on the joint side; all have the same delay.
        stated: processing settings that the caller states.
        largest: largest delay that is looked for, in s.
        cancelled: asked now and then whether to stop.

    Raises:
        RecordingError: the recordings are too short, or tell no delay in that range; NoEffortError:
            nobody measured the efforts of a joint.
        SettingError: a setting is not possible.
        CancelledError: if ``cancelled`` says so.
    """
    if needs_whole(robot):
        robot = starting_robot(robot, COULOMB_VISCOUS)
    # What a robot file recommends for identification may leave too few rows, of too narrow a band.
    plain = replace(robot, processing=ProcessingSettings())
    processing = resolve_processing(plain, recordings, stated)
    segments = [s for r in recordings for s in filter_recording(r, processing)]
    blocks = spread_blocks(segments, processing, largest)
    source = ", ".join(recording.source for recording in recordings)
    residual = _Residual(base_parameters(robot), blocks, processing, largest, source, cancelled)
    residual.require_rows()
    trials = np.linspace(-largest, largest, 2 * _STEPS + 1)
    step = float(trials[1] - trials[0])
    delay = _minimum(residual, trials)
    span = min(step / 4.0, 0.25 / processing.cutoff_hz)
    vertex, std = residual.jackknife(delay, span)
    return DelayEstimate(vertex, std)


def _minimum(residual: _Residual, trials: Array) -> float:
    """Return the delay of the smallest residual, in s, near the best of evenly spaced trials.

    Raises:
        RecordingError: the best is the first or the last of them, or it is another one without
            this or that part of the recordings: the residual has several minima then, and which
            of them is the deepest is left to chance.
    """
    parts = [residual.groups(float(trial), _GROUPS) for trial in trials]
    best = int(np.argmin([_log_variance(merged(part)) for part in parts]))
    if best in (0, len(trials) - 1):
        raise RecordingError(
            f"the delay between efforts and motion cannot be estimated: up to {1e3 * trials[-1]:g} "
            "ms the residual of the inverse dynamics has no minimum; check the clocks of both, and "
            "that the robot moves"
        )
    without = [
        int(np.argmin([_log_variance(merged(part[:i] + part[i + 1 :])) for part in parts]))
        for i in range(_GROUPS)
    ]
    if max(without) > best + 1 or min(without) < best - 1:
        low, high = (1e3 * trials[place] for place in (min(without), max(without)))
        raise RecordingError(
            "the delay between efforts and motion cannot be estimated: without this or that tenth "
            f"of the samples it would be {low:.0f} or {high:.0f} ms; record longer, or a faster "
            "motion"
        )
    found = scipy.optimize.minimize_scalar(
        residual,
        bounds=(float(trials[best - 1]), float(trials[best + 1])),
        method="bounded",
        options={"xatol": _PRECISION},
    )
    return float(found.x)


class _Residual:
    """Size of the residual at a trial delay: mean of the joints' log variances.

    Its minimum is the maximum of the restricted likelihood with a variance of its own for every
    joint: a joint counts as much as it has degrees of freedom.  The rows are the same at every
    delay: those around reversals, whose friction would change its sign at one delay or another, are
    left out.
    """

    def __init__(
        self,
        base: BaseParameters,
        blocks: Sequence[MovableBlock],
        processing: Processing,
        largest: float,
        source: str,
        cancelled: Cancelled | None,
    ) -> None:
        window = processing.velocity_threshold_window + largest * processing.rate_hz
        wider = replace(processing, velocity_threshold_window=min(window, _WIDEST))
        self._base = base
        self._regressor = Regressor(base.robot, base.base_columns, spare=1)
        self._blocks = [(block, kept_rows(base.robot, block.moved(0.0), wider)) for block in blocks]
        self._processing = processing
        self._source = source
        self._cancelled = cancelled

    def __call__(self, delay: float) -> float:
        return _log_variance(merged(self.groups(delay, 1)))

    def require_rows(self) -> None:
        """Refuse data with hardly more rows than they take to fit each joint, or without efforts.

        Raises:
            RecordingError: there is no joint with enough of them; NoEffortError: nobody measured
                the efforts of a joint.
        """
        factors = merged(self.groups(0.0, 1))
        refuse_silent_joints([factors], [self._source])
        if not any(_freedom(factor) for factor in factors):
            most = max(factors, key=lambda factor: factor.rows - len(factor.columns))
            raise RecordingError(
                "the delay between efforts and motion cannot be estimated: no joint has enough "
                f"rows beside its parameters, {most.joint} has {most.rows} for "
                f"{len(most.columns)}; record longer, or raise the rate after decimation"
            )

    def jackknife(self, delay: float, span: float) -> tuple[float, float]:
        """Return the delay at the vertex of a parabola, and its standard deviation.

        Args:
            delay: near the minimum, in s.
            span: distance to the two other points of the parabola, in s.

        Raises:
            RecordingError: the residual hardly changes with the delay.
        """
        points = np.array([delay - span, delay, delay + span])
        parts = [self.groups(float(point), _GROUPS) for point in points]

        def vertex(left_out: int | None) -> float:
            used = [i for i in range(_GROUPS) if i != left_out]
            logs = np.array([_log_variance(merged([part[i] for i in used])) for part in parts])
            sizes = np.exp(logs - logs[1])
            curvature = sizes[0] - 2.0 * sizes[1] + sizes[2]
            if curvature <= 0.0:
                raise RecordingError(
                    "the delay between efforts and motion cannot be estimated: the residual of the "
                    "inverse dynamics hardly changes with it; record a faster motion"
                )
            return float(delay + 0.5 * span * (sizes[0] - sizes[2]) / curvature)

        without = np.array([vertex(i) for i in range(_GROUPS)])
        spread = without - without.mean()
        return vertex(None), float(np.sqrt((_GROUPS - 1) / _GROUPS * (spread @ spread)))

    def groups(self, delay: float, groups: int) -> list[_Factors]:
        """Return the factors at a trial delay of groups of rows that follow each other."""
        if self._cancelled is not None and self._cancelled():
            raise CancelledError("cancelled while estimating the delay of the efforts")
        streams = [FactorStream(self._base.robot, self._base.base_columns) for _ in range(groups)]
        total = sum(kept.shape[1] for _, kept in self._blocks)
        begin = 0
        for block, kept in self._blocks:
            segment = block.moved(delay)
            decimator = self._processing.decimator(segment.period)
            numbers = np.arange(begin, begin + kept.shape[1]) * groups // total
            begin += kept.shape[1]
            measured = measured_shares(segment, decimator)
            for window in decimator.blocks(segment.samples, BLOCK_OUTPUTS):
                rows = decimated_rows(
                    self._regressor, segment, window, decimator, measured=measured
                )
                for number in np.unique(numbers[window.outputs]):
                    own = kept[:, window.outputs] & (numbers[window.outputs] == number)
                    streams[number].add(rows, own)
        return [stream.factors() for stream in streams]


def _freedom(factor: JointFactor) -> int:
    """Return the degrees of freedom of a joint's own fit; none where there are too few to tell."""
    freedom = factor.rows - factor.own_fit[1]
    return freedom if freedom >= LEAST_FREEDOM else 0


def _log_variance(factors: Sequence[JointFactor]) -> float:
    """Return the mean of the log of every joint's residual variance, by degrees of freedom."""
    freedom = np.array([_freedom(factor) for factor in factors], dtype=np.float64)
    floor = np.finfo(float).tiny
    sizes = np.array([max(factor.own_fit[0] ** 2, floor) for factor in factors])
    weighted: Array = freedom * np.log(sizes / np.maximum(freedom, 1.0))
    return float(np.sum(weighted) / max(np.sum(freedom), 1.0))
