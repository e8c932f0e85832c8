"""Identification while the robot still moves: rows are folded in as samples arrive.

The estimate is that of weighted least squares on everything folded in so far, with the rows that
the offline path makes of the same samples.  Memory does not grow with the recording.
"""

from __future__ import annotations

import time
from dataclasses import replace

from robot_identification.dynamics.regressor import Regressor
from robot_identification.errors import MissingSignalError, RecordingError
from robot_identification.identification import least_squares
from robot_identification.identification.bands import BandGrams
from robot_identification.identification.base import BaseParameters
from robot_identification.identification.essential import EliminationRule
from robot_identification.identification.factor import JointFactor
from robot_identification.identification.joint_noise import refuse_silent_joints, weight_warnings
from robot_identification.identification.result import IdentificationResult, Regrouping, Source
from robot_identification.identification.result_warnings import warnings_of
from robot_identification.identification.robust import robust_std
from robot_identification.identification.row_groups import GroupedRows
from robot_identification.identification.stacked import Stacked, essential_only
from robot_identification.identification.streamed_rows import StreamedRows
from robot_identification.identification.streamed_run import StreamedRun
from robot_identification.identification.streamed_settings import Settled, Settling
from robot_identification.robot.drives import to_joint_side
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.online_grid import OnlineGrid, Piece
from robot_identification.signals.recording import RawSamples, RecordingStatistics
from robot_identification.signals.settings import streaming_warnings

SETTLE = 8.0
"""Seconds of motion that settings are derived from where nobody states them."""
STREAMING = "streaming"
"""Setting that marks a streamed result."""

# With hardly more rows than parameters the residual vanishes, and so would standard deviations.
_ROWS_PER_PARAMETER = 3
_REMARK = "streamed while the recording ran: ask for an identification of the whole of it"


class StreamingIdentification:
    """Weighted least squares of one recording, growing with every block of samples.

    Args:
        robot: the robot, with the meaning of the efforts of these samples.
        base: its base parameters.
        source: identifier of the recording.
        overrides: processing settings that replace recommended and derived ones.
        settle: seconds of motion that settings are derived from where nobody states them.
        prompt: whether rows count as soon as the samples that follow can change them little.
        apart: whether rows are kept in groups too, for :meth:`groups`.

    Raises:
        SettingError: nobody has said what effort means.
    """

    def __init__(
        self,
        robot: RobotModel,
        base: BaseParameters,
        source: str,
        *,
        overrides: ProcessingSettings | None = None,
        settle: float = SETTLE,
        prompt: bool = True,
        apart: bool = False,
    ) -> None:
        self._robot, self._base, self._source = robot, base, source
        self._prompt, self._apart = prompt, apart
        self._regrouping = Regrouping.of(base)
        self._regressor = Regressor(robot, base.base_columns, spare=1)
        self._settling = Settling(robot, overrides or ProcessingSettings(), settle)
        self._settled: Settled | None = None
        self._rows: StreamedRows | None = None
        self._grid: OnlineGrid | None = None
        self._run: StreamedRun | None = None
        self._first_stamp: int | None = None
        self._last_stamp = 0
        self._samples = 0

    @property
    def rows(self) -> int:
        """Number of rows folded in."""
        return sum(f.rows for f in self._rows.factors()) if self._rows is not None else 0

    @property
    def settled(self) -> Settled | None:
        """The settings, once the motion has told them."""
        return self._settled

    @property
    def samples(self) -> int:
        """Number of samples taken in."""
        return self._samples

    @property
    def statistics(self) -> RecordingStatistics:
        """What happened to the samples on their way."""
        if self._grid is None or self._settled is None:
            return RecordingStatistics(received=self._samples)
        clock = self._settled.clock
        return RecordingStatistics(
            received=self._samples,
            out_of_order=self._grid.dropped,
            lost=self._grid.lost,
            gaps=self._grid.gaps,
            resampled=clock.resampled,
            jitter=clock.jitter,
        )

    @property
    def duration(self) -> float:
        """Time from the first to the newest sample, in s."""
        return (self._last_stamp - (self._first_stamp or 0)) / 1e9

    @property
    def last_stamp(self) -> int:
        """Stamp of the newest sample taken in, in ns."""
        return self._last_stamp

    def push(self, raw: RawSamples) -> None:
        """Take in samples as measured, in order of their stamps.

        Raises:
            SettingError: a setting is impossible, or does not suit the sampling rate.
            ShapeError: there is not a column per joint.
            MissingSignalError: positions or efforts are missing.
        """
        if not len(raw.stamps):
            return
        joints = to_joint_side(self._robot, raw.position, None, raw.effort)
        if joints.position is None or joints.effort is None:
            raise MissingSignalError("position or effort", self._source)
        if self._first_stamp is None:
            self._first_stamp = int(raw.stamps[0])
        self._last_stamp = int(raw.stamps[-1])
        self._samples += len(raw.stamps)
        if self._grid is not None:
            self._fold(self._grid.push(raw.stamps, joints.position, joints.effort))
            return
        settled = self._settling.push(raw.stamps, joints.position, joints.effort)
        if settled is not None:
            self._begin(settled)

    def finish(self) -> None:
        """Fold in what the filters have held back; nothing follows.

        Raises:
            SettingError: a setting is impossible, or does not suit the sampling rate.
        """
        if self._grid is None:
            settled = self._settling.end()
            if settled is None:
                return
            self._begin(settled)
        if self._grid is not None:
            self._fold(self._grid.end())
        self._end_run()

    def folded(self) -> tuple[tuple[JointFactor, ...], BandGrams] | None:
        """Return one factor per joint and the bands of all rows so far, None if there is no row."""
        if self._rows is None or not self.rows:
            return None
        return self._rows.factors(), self._rows.grams()

    def groups(self, count: int) -> tuple[tuple[str, ...], GroupedRows] | None:
        """Return all rows so far in groups of about the same length; None if there is no row.

        Args:
            count: number of groups.

        Returns:
            From when to when each of them is, in s after the first sample, and the rows.
        """
        return self._rows.groups(count) if self._rows is not None and self.rows else None

    def result(
        self, *, robust: bool = True, essential: EliminationRule | None = None
    ) -> IdentificationResult:
        """Return the estimate from everything folded in so far.

        Args:
            robust: whether to give standard deviations for coloured residuals too.
            essential: how to find the essential parameters, the others becoming zero; by default
                all base parameters are kept.

        Raises:
            RecordingError: too few rows have been folded in yet for deviations to mean anything, or
                nobody measured the efforts.
            NotExcitedError: the rows so far do not determine every base parameter.
        """
        begin = time.monotonic()
        needed = _ROWS_PER_PARAMETER * self._base.rank
        if self._rows is None or self._settled is None or self.rows < needed:
            raise RecordingError(f"{self._source}: {self.rows} rows; an estimate needs {needed}")
        processing, base = self._settled.processing, self._base
        factors = self._rows.factors()
        refuse_silent_joints([factors], [self._source])
        estimate = least_squares.weighted(factors, base.names, processing.residual_divisor)
        elimination = None
        if robust or essential is not None:
            grams = self._rows.grams()
            deviations = robust_std(grams, factors, estimate.values, estimate.weights)
            estimate = replace(estimate, std_robust=deviations)
            if essential is not None:
                divisor = processing.residual_divisor
                elimination = essential_only(
                    base.names,
                    GroupedRows((factors,), (grams,)),
                    Stacked(estimate, factors),
                    essential,
                    divisor,
                )
                estimate = elimination.estimate
        return IdentificationResult(
            robot=self._robot.name,
            robot_digest=self._robot.digest,
            joint_names=self._robot.joint_names,
            sources=(Source(self._source, "", self._samples, self.duration),),
            method="wls",
            settings={**processing.entries(), STREAMING: self._mark(self._settled)},
            regrouping=self._regrouping,
            estimate=estimate,
            factors=factors,
            elimination=elimination,
            seconds=time.monotonic() - begin,
            warnings=(
                _REMARK,
                *streaming_warnings(processing),
                *weight_warnings(factors),
                *(warnings_of(base.names, estimate) if robust else ()),
            ),
        )

    def _mark(self, settled: Settled) -> dict[str, object]:
        reason = f"settings from the first {settled.seconds:.3g} s in which the robot moved"
        return {"value": True, "reason": reason}

    def _begin(self, settled: Settled) -> None:
        self._settled = settled
        self._rows = StreamedRows(
            self._robot, self._base.base_columns, settled.processing, apart=self._apart
        )
        self._grid = OnlineGrid(settled.clock)
        self._fold(self._grid.push(settled.stamps, settled.position, settled.effort))

    def _fold(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            if piece.begins:
                self._end_run()
                self._begin_run(piece.begun)
            if self._run is not None:
                self._run.push(piece.position, piece.effort)

    def _begin_run(self, stamp: int) -> None:
        if self._settled is not None and self._rows is not None:
            settled = self._settled
            period = settled.clock.period_ns / 1e9
            self._run = StreamedRun(
                self._robot,
                self._regressor,
                settled.processing,
                period,
                self._rows.take,
                begin=(stamp - (self._first_stamp or 0)) / 1e9,
                prompt=self._prompt,
            )

    def _end_run(self) -> None:
        if self._run is not None and self._rows is not None:
            self._run.end()
            self._rows.interrupt()
            self._run = None


def is_streamed(result: IdentificationResult) -> bool:
    """Tell whether a result is an estimate from a recording that was still running."""
    return STREAMING in result.settings
