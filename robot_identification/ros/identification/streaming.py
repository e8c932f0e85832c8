"""Streamed estimates: a thread that folds blocks in as they come and refreshes the estimate."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from rclpy.impl.rcutils_logger import RcutilsLogger

from robot_identification.errors import InputError, RecordingError, ResultRefusedError
from robot_identification.errors.numerical import NUMERICAL_ERRORS
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.estimators.estimator import Choice
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.rows.growing import SETTLE, StreamingIdentification
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.ros.acquisition.recorder import Block
from robot_identification.ros.identification.recordings.selection import measured_as
from robot_identification.settings import Settings, setting

# Blocks that may wait: at ten a second, more than the thread can ever be behind on a sound machine.
_WAITING = 2000
# Recordings of which a block may come again: far more than are kept.
_REMEMBERED = 1000

Publish = Callable[[IdentificationResult, int], None]


@dataclass(frozen=True)
class StreamingOptions(Settings):
    """Settings of streamed estimates.

    Attributes:
        overrides: processing settings that replace recommended and derived ones.
        choice: how to estimate.
    """

    overrides: ProcessingSettings
    choice: Choice
    settle: float = setting(
        "motion from which streamed estimates derive the settings that the robot file leaves open",
        SETTLE,
        minimum=1.0,
        maximum=120.0,
        unit="s",
    )
    refresh_period: float = setting(
        "time between two streamed estimates", 1.0, minimum=0.05, maximum=3600.0, unit="s"
    )


class StreamedEstimates:
    """Estimates of the recording that runs, until somebody asks for a result of it.

    Args:
        robot: the robot.
        base: its base parameters.
        options: asked for when a recording begins; None streams none of it.
        publish: given an estimate and the stamp of the last sample behind it.
        log: told what went wrong.
    """

    def __init__(
        self,
        robot: RobotModel,
        base: BaseParameters,
        options: Callable[[], StreamingOptions | None],
        publish: Publish,
        log: RcutilsLogger,
    ) -> None:
        self._robot, self._base, self._options = robot, base, options
        self._publish, self._log = publish, log
        self._queue: queue.Queue[tuple[int, Block | None, str] | None] = queue.Queue(_WAITING)
        self._publishing = threading.Lock()
        self._recording = ""  # the one whose blocks are handed over
        self._before: deque[str] = deque(maxlen=_REMEMBERED)  # those that had their turn
        self._next_block = 0  # number of its block that is to come
        self._remark = ""  # what every further estimate of it has to say
        self._number = 0  # of that recording, from 1
        self._closed = 0  # estimates of recordings up to this number are not published any more
        self._begun, self._begun_name = 0, ""  # the recording that the thread is at
        self._stream: StreamingIdentification | None = None
        self._options_now: StreamingOptions | None = None
        self._refreshed = 0.0
        self._rows = 0
        self._thread = threading.Thread(target=self._work, name="streaming", daemon=True)
        self._thread.start()

    def add(self, block: Block, effort_meaning: str) -> None:
        """Hand over a block; returns at once.

        One of a recording that another one has followed comes again, or too late, and is ignored.
        """
        with self._publishing:
            if block.recording != self._recording:
                if block.recording in self._before:
                    return
                self._before.append(self._recording)
                self._recording, self._next_block, self._remark = block.recording, 0, ""
                self._number += 1
            number = self._number
            if number <= self._closed or block.sequence < self._next_block:
                return
            self._next_block = block.sequence + 1
        try:
            self._queue.put_nowait((number, block, effort_meaning))
        except queue.Full:
            self._give_up(number, block.recording, "the machine is too slow for the samples")

    def remark(self, recording: str, line: str) -> None:
        """Have every further estimate of a recording say something, and one say so at once.

        Args:
            recording: its identifier.
            line: what to say; the first one stays.
        """
        with self._publishing:
            if recording != self._recording or self._remark:
                return
            self._remark, number = line, self._number
        with suppress(queue.Full):
            self._queue.put_nowait((number, None, ""))

    def answered(self, publish: Callable[[], None]) -> None:
        """Publish a result that was asked for; no estimate of the recordings so far follows it.

        Args:
            publish: publishes the result.
        """
        with self._publishing:
            self._closed = self._number
            publish()

    def stop(self) -> None:
        """End the thread; what waits is not folded in."""
        self.answered(lambda: None)
        if self._thread.is_alive():
            self._queue.put(None)
            self._thread.join()

    def _work(self) -> None:
        while True:
            try:
                item = self._queue.get(timeout=self._patience())
            except queue.Empty:
                self._guarded(self._refresh)
                continue
            if item is None:
                return
            self._guarded(self._take, *item)

    def _guarded(self, work: Callable[..., None], *arguments: Any) -> None:
        """Do a piece of work; where it fails the thread goes on with the next recording."""
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # what comes of that is told below
                work(*arguments)
        except InputError as error:
            reason = str(error)
        except NUMERICAL_ERRORS as error:
            reason = f"its samples lead to no numbers ({error})"
        else:
            return
        self._stream = None
        self._give_up(self._begun, self._begun_name, reason)

    def _patience(self) -> float | None:
        """Return how long to wait for a block while there is something to show, s."""
        if self._stream is None or self._options_now is None or self._stream.rows == self._rows:
            return None
        return max(self._refreshed + self._options_now.refresh_period - time.monotonic(), 0.0)

    def _take(self, number: int, block: Block | None, effort_meaning: str) -> None:
        """Fold in a block; None: what was shown of a recording is to be shown again."""
        if block is None:
            if number == self._begun:
                self._rows = 0
                self._refresh()
            return
        if number <= self._closed:
            self._stream = None
            return
        if number != self._begun:
            self._begun, self._begun_name = number, block.recording
            self._begin(block.recording, effort_meaning)
        if self._stream is None or self._options_now is None:
            return
        self._stream.push(block.samples)
        if block.last:
            self._stream.finish()
        if block.last or time.monotonic() - self._refreshed >= self._options_now.refresh_period:
            self._refresh(last=block.last)

    def _begin(self, recording: str, effort_meaning: str) -> None:
        self._stream, self._options_now = None, self._options()
        if self._options_now is None:
            return
        self._refreshed, self._rows = time.monotonic(), 0
        self._stream = StreamingIdentification(
            measured_as(self._robot, effort_meaning),
            self._base,
            recording,
            overrides=self._options_now.overrides,
            settle=self._options_now.settle,
        )

    def _refresh(self, *, last: bool = False) -> None:
        """Publish an estimate if there is something new and the motion determines it.

        The last one is of all samples, also where a robot at rest has added no row to it.
        """
        stream, options = self._stream, self._options_now
        if stream is None or options is None or (stream.rows == self._rows and not last):
            return
        self._rows = stream.rows
        try:
            result = stream.result(options.choice)
        except (RecordingError, ResultRefusedError) as error:
            if last:
                self._log.info(f"no streamed estimate of this recording: {error}")
            return
        finally:
            # However long that took, there is time to fold blocks in before the next estimate.
            self._refreshed = time.monotonic()
        with self._publishing:
            if self._begun > self._closed:
                remarks = [self._remark] if self._remark and self._begun == self._number else []
                told = replace(result, warnings=(*result.warnings, *remarks))
                self._publish(told, stream.last_stamp)

    def _give_up(self, number: int, recording: str, reason: str) -> None:
        """Stop the estimates of a recording; the recording itself is kept all the same."""
        with self._publishing:
            if number <= self._closed:
                return
            self._closed = number
        self._log.warning(f"{recording}: estimates are no longer streamed: {reason}")
