"""Running estimate of the payload of a stream of joint states; free motion is learned first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from robot_identification.calibration.running_payload.learning import (
    FreeMotion,
    FreeMotionLearning,
)
from robot_identification.calibration.running_payload.rows import RowStream, Segment
from robot_identification.calibration.running_payload.settings import RunningPayloadSettings
from robot_identification.calibration.running_payload.state import PayloadState, PayloadStatus
from robot_identification.calibration.running_payload.tracker import PayloadTracker
from robot_identification.calibration.running_payload.window import SEGMENT
from robot_identification.calibration.spread import Spread
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.robot.arrays import Array, checked_vector
from robot_identification.robot.loops import refuse_loops
from robot_identification.robot.model import RobotModel
from robot_identification.robot.mounting import Mounting
from robot_identification.signals.clock.stamps import Stamps


class PayloadWatch:
    """Learns the residual of a bare robot in free motion, and then tells its payload.

    Args:
        robot: the robot, without loops.
        values: (full columns,) its calibrated parameters.
        mounting: frame that the payload is described in; its joint counts, whatever friction the
            robot had that it was made of.
        spread: what noise has done to the parameters of the model; None where nobody knows: then
            free motion alone tells how far they are off.
        settings: of learning, changes and memory.
        free: what free motion has told, where that is known; by default it is learned.

    Raises:
        SettingError: the robot has loops, or the number of stick speeds is wrong.
        ShapeError: the number of values differs.
    """

    def __init__(
        self,
        robot: RobotModel,
        values: npt.ArrayLike,
        mounting: Mounting,
        spread: Spread | None = None,
        settings: RunningPayloadSettings | None = None,
        *,
        free: FreeMotion | None = None,
    ) -> None:
        refuse_loops(robot, "the running estimate of a payload")
        self.settings = settings or RunningPayloadSettings()
        # With a friction law other columns belong to the link than without.
        self.mounting = replace(mounting, first=robot.layout.first(mounting.joint))
        given = checked_vector("values", values, len(robot.all_parameter_names))
        columns, errors = _errors(robot, spread)
        self._stream = RowStream(
            robot, given, self.mounting, columns, errors, self.settings.stick_speed
        )
        self._learning = FreeMotionLearning(
            robot.joint_names,
            self._stream.unknowns,
            self.settings,
            calibrated=spread is not None,
        )
        self._tracker: PayloadTracker | None = None
        self._free = free
        self._rows: Segment | None = None  # too few for a segment

    @property
    def free(self) -> FreeMotion | None:
        """What free motion has told, None until it is learned."""
        return self._free

    @property
    def learned(self) -> float:
        """Share of the free motion that is needed, 1 where it has been learned."""
        if self._free is not None:
            return 1.0
        moved = self._learning.rows * self._stream.row_period
        return min(1.0, moved / self.settings.learning_time)

    def restart(self) -> None:
        """Begin anew behind an interruption; what has been told stays."""
        self._stream.restart()
        self._rows = None
        if self._tracker is not None:
            self._tracker.interrupted()

    def forget(self) -> None:
        """Forget the payload; the estimate begins anew."""
        if self._tracker is not None:
            self._tracker.forget()

    def learn_anew(self) -> None:
        """Forget what free motion has told; it is learned from what comes now."""
        self._free = self._tracker = self._rows = None
        self._learning.restart()
        self._stream.restart()

    def push(self, stamps: Stamps, position: Array, effort: Array) -> list[PayloadState]:
        """Take in samples on the joint side, oldest first, and return the payload by them.

        Args:
            stamps: (samples,) in ns.
            position: (samples, joints) in rad or m.
            effort: (samples, joints) measured, in N m or N.

        Returns:
            A state for every quarter of a second.

        Raises:
            SampleError: a value is NaN or infinite.
            NoEffortError, EffortSignError: the efforts of joints that move are zero throughout, or
                have the wrong sign; learning begins anew.
        """
        states: list[PayloadState] = []
        for fresh in self._stream.push(stamps, position, effort):
            rows = fresh if self._rows is None else self._rows.followed_by(fresh)
            whole = len(rows.stamps) // SEGMENT * SEGMENT
            self._rows = rows.part(slice(whole, None))
            states += [
                self._taken(rows.part(slice(first, first + SEGMENT)))
                for first in range(0, whole, SEGMENT)
            ]
        return states

    def learn(self) -> FreeMotion:
        """End learning with what has come, and return what it has told.

        Raises:
            RecordingError: nothing has come.
            NoEffortError, EffortSignError: as :meth:`push`.
        """
        try:
            self._free = self._learning.learned(self._stream.row_period)
        finally:
            self._learning.restart()
        return self._free

    def _taken(self, segment: Segment) -> PayloadState:
        """Take in a segment of rows: learn from it, or tell the payload."""
        free = self._free
        if free is None:
            self._learning.add(segment)
            if self.learned < 1.0:
                stamp = int(segment.stamps[-1])
                return PayloadState(stamp, PayloadStatus.LEARNING, learned=self.learned)
            free = self.learn()
        if self._tracker is None:
            self._tracker = PayloadTracker(
                free, self.settings, self._stream.unknowns, self._stream.row_period
            )
        return self._tracker.push(segment)


def _errors(robot: RobotModel, spread: Spread | None) -> tuple[npt.NDArray[np.intp], Array]:
    """Return the columns that errors of parameters belong to, and what each error changes."""
    if spread is not None:
        columns = np.asarray(robot.standard_indices)
        return columns, spread.formula if spread.robust is None else spread.robust
    columns = base_parameters(robot).base_columns
    return columns, np.eye(len(columns))
