"""Identification while the robot still moves: rows are folded in as samples arrive.

The estimate is that of everything folded in so far, with the rows that the offline path makes of
the same samples.  Memory does not grow with the recording.
"""

from __future__ import annotations

import time

from robot_identification.dynamics.friction import refuse_temperature
from robot_identification.dynamics.regressor import Regressor
from robot_identification.errors import MeasuredVelocityError, MissingSignalError, RecordingError
from robot_identification.identification.assembly import Subject, result_of
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.estimators.choice import DEFAULT, fit
from robot_identification.identification.estimators.estimator import Choice
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.result_warnings import statistics_warnings
from robot_identification.identification.rows.groups import BLOCKS
from robot_identification.identification.rows.growing_rows import StreamedRows
from robot_identification.identification.rows.growing_run import StreamedRun
from robot_identification.identification.rows.growing_settings import Settled, Settling
from robot_identification.identification.rows.source import FoldedRows
from robot_identification.identification.source import Source
from robot_identification.robot.drives import to_joint_side
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.growing.grid import OnlineGrid, Piece
from robot_identification.signals.processing.settings import processing_warnings
from robot_identification.signals.raw_samples import RawSamples
from robot_identification.signals.recording import RecordingStatistics
from robot_identification.signals.velocities import VelocityWatch

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
        apart: whether rows are kept in groups too, for cross-validation.

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
        base = base.of(robot)
        self._robot, self._base, self._source = robot, base, source
        self._prompt, self._apart = prompt, apart
        self._subject = Subject.of(base)
        refuse_temperature(robot, "an estimate while the robot moves")
        self._regressor = Regressor(robot, base.base_columns, spare=1)
        stated = overrides or ProcessingSettings()
        self._velocities = robot.processing.overridden_by(stated).velocities == "measured"
        self._settling = Settling(robot, stated, settle)
        self._settled: Settled | None = None
        self._rows: StreamedRows | None = None
        self._grid: OnlineGrid | None = None
        self._run: StreamedRun | None = None
        self._watch: VelocityWatch | None = None  # of the run
        self._first_stamp: int | None = None
        self._last_stamp = 0
        self._samples = 0
        self._missed = 0  # rows of the runs before, for lost samples

    @property
    def rows(self) -> int:
        """Number of rows folded in."""
        return self._rows.count if self._rows is not None else 0

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
        """Counts of the samples that were moved, dropped or lost."""
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
            bridged=self._grid.bridged,
            longest_bridged=clock.longest_bridged_ns / 1e9 if self._grid.lost else 0.0,
            pauses=self._grid.pauses,
            paused=self._grid.paused,
            strays=self._grid.strays,
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
            MeasuredVelocityError: measured velocities are wanted, and there are none, or they
                contradict the positions.
        """
        if not len(raw.stamps):
            return
        velocity = raw.velocity if self._velocities else None
        if self._velocities and velocity is None:
            raise MeasuredVelocityError(self._source)
        joints = to_joint_side(self._robot, raw.position, velocity, raw.effort)
        if joints.position is None or joints.effort is None:
            raise MissingSignalError("position or effort", self._source)
        if self._first_stamp is None:
            self._first_stamp = int(raw.stamps[0])
        self._last_stamp = int(raw.stamps[-1])
        self._samples += len(raw.stamps)
        if self._grid is not None:
            signals = (joints.position, joints.effort, joints.velocity)
            self._fold(self._grid.push(raw.stamps, *signals))
            return
        samples = RawSamples(raw.stamps, joints.position, joints.velocity, joints.effort)
        settled = self._settling.push(samples)
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

    @property
    def source(self) -> Source:
        """Provenance of a result of the recording so far."""
        statistics, missed = self.statistics, self._missed
        missed += 0 if self._run is None else self._run.missed
        return Source(
            self._source,
            "",
            self._samples,
            self.duration,
            warnings=statistics_warnings(self._source, statistics, missed),
            bridged=statistics.bridged,
            rows_missed=missed,
        )

    def folded(self, *, bands: bool = True) -> FoldedRows | None:
        """Return all rows so far, None if there is no row.

        They are one group, or groups of about the same length where they were kept apart.

        Args:
            bands: whether Gram matrices come with them, for robust standard deviations.
        """
        if self._rows is None or self._settled is None or not self.rows:
            return None
        names, rows = self._rows.groups(BLOCKS if self._apart else 1, bands=bands)
        return FoldedRows(
            base=self._base,
            names=self._base.names,
            divisor=self._settled.processing.residual_divisor,
            scheme="blocks",
            groups=names,
            bags=(self._source,),
            kept=rows,
        )

    def result(self, choice: Choice | None = None, *, robust: bool = True) -> IdentificationResult:
        """Return the estimate from everything folded in so far.

        Args:
            choice: how to estimate; by default by weighted least squares.
            robust: whether to give standard deviations for coloured residuals too.

        Raises:
            RecordingError: too few rows have been folded in yet for deviations to mean anything, or
                nobody measured the efforts.
            NotExcitedError: the rows so far do not determine every base parameter.
            SettingError: the choice is not possible, or needs the samples.
        """
        begin = time.monotonic()
        choice = choice or Choice(DEFAULT)
        needed = _ROWS_PER_PARAMETER * self._base.rank
        rows = self.folded(bands=robust) if self.rows >= needed else None
        if rows is None or self._settled is None:
            raise RecordingError(f"{self._source}: {self.rows} rows; an estimate needs {needed}")
        return result_of(
            self._subject,
            choice.method,
            fit(choice, rows),
            rows,
            begin=begin,
            sources=[self.source],
            settings={**self._settled.processing.entries(), STREAMING: self._mark(self._settled)},
            warnings=[_REMARK, *processing_warnings(self._settled.processing)],
        )

    def _mark(self, settled: Settled) -> dict[str, object]:
        reason = f"settings from the first {settled.seconds:.3g} s in which the robot moved"
        return {"value": True, "reason": reason}

    def _begin(self, settled: Settled) -> None:
        self._settled = settled
        self._rows = StreamedRows(self._robot, self._base.base_columns, apart=self._apart)
        self._grid = OnlineGrid(settled.clock, settled.still)
        first = settled.samples
        self._fold(self._grid.push(first.stamps, first.position, first.effort, first.velocity))

    def _fold(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            if piece.begins:
                self._end_run(torn=piece.torn)
                self._begin_run(piece.begun, torn=piece.torn)
            if self._watch is not None and piece.velocity is not None:
                self._watch.push(piece.position, piece.velocity)
            if self._run is not None:
                self._run.push(piece.position, piece.effort, piece.measured, piece.velocity)

    def _begin_run(self, stamp: int, *, torn: bool) -> None:
        if self._settled is not None and self._rows is not None:
            settled = self._settled
            period = settled.clock.period_ns / 1e9
            if self._velocities:
                self._watch = VelocityWatch(
                    self._source, self._robot.joint_names, period, settled.processing
                )
            self._run = StreamedRun(
                self._robot,
                self._regressor,
                settled.processing,
                period,
                self._rows.take,
                begin=(stamp - (self._first_stamp or 0)) / 1e9,
                prompt=self._prompt,
                torn=torn,
            )

    def _end_run(self, *, torn: bool = False) -> None:
        if self._watch is not None:
            self._watch.end()
            self._watch = None
        if self._run is not None and self._rows is not None:
            self._run.end(torn=torn)
            self._missed += self._run.missed
            self._rows.interrupt()
            self._run = None


def is_streamed(result: IdentificationResult) -> bool:
    """Tell whether a result is an estimate from a recording that was still running."""
    return STREAMING in result.settings
