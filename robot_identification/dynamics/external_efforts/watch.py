"""External efforts and contacts of a stream of joint states, thresholds learned as it goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.external_efforts.contacts import ContactDetector, ContactEvent
from robot_identification.dynamics.external_efforts.learning import LevelLearning
from robot_identification.dynamics.external_efforts.levels import JudgedEfforts, ResidualLevels
from robot_identification.dynamics.external_efforts.momentum_observer import ObservedEfforts, Stamps
from robot_identification.dynamics.external_efforts.settings import ExternalEffortSettings
from robot_identification.dynamics.external_efforts.stream import EffortStream
from robot_identification.dynamics.tree import Floats
from robot_identification.errors import EffortSignError, NoEffortError
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel


@dataclass(frozen=True)
class WatchedEfforts:
    """What has come of a block of samples.

    Attributes:
        observed: external efforts as the observer has them.
        judged: the same without the bias of free motion, with deviations and thresholds; None until
            these are known.
        events: contacts that have begun or ended.
    """

    observed: ObservedEfforts
    judged: JudgedEfforts | None
    events: Sequence[ContactEvent]


class ExternalEffortWatch:
    """Observes a robot that moves freely at first, and tells contacts from then on.

    Args:
        robot: the robot.
        values: (full columns,) its parameters.
        settings: of observer, thresholds and contacts.
        residual_std: (joints,) standard deviation that the identification left, in N m or N, which
            levels do not go below.
        rate_hz: of its rows, of which the observer lets a part pass.
        levels: of free motion, where they are known; by default they are learned.

    Raises:
        ShapeError, SampleError, SettingError: as :class:`.MomentumObserver`.
    """

    def __init__(
        self,
        robot: RobotModel,
        values: npt.ArrayLike,
        settings: ExternalEffortSettings | None = None,
        *,
        residual_std: npt.ArrayLike | None = None,
        rate_hz: float | None = None,
        levels: ResidualLevels | None = None,
    ) -> None:
        self.settings = settings or ExternalEffortSettings()
        self.names = robot.active_names
        self._stream = EffortStream(robot, values, self.settings)
        floor = np.zeros(len(self.names))
        if residual_std is not None and rate_hz is not None:
            # White up to half the rate, through a filter whose noise bandwidth is 1 / (4 T).
            passed = 1.0 / (2.0 * self.settings.time_constant * rate_hz)
            floor = np.asarray(residual_std) * np.sqrt(min(1.0, passed))
        self._zones = self.settings.speed_zones(robot)
        self._learning = LevelLearning(self.names, floor, self._zones)
        self._detector = ContactDetector(self.names, self.settings)
        self._levels = levels

    @property
    def thresholds(self) -> Array | None:
        """(joints,) thresholds of joints that slide, None until they are learned."""
        levels = self._levels
        return None if levels is None else levels.thresholds(self.settings.false_alarms)

    @property
    def learned(self) -> float:
        """Share of the free motion that is needed, 1 where thresholds are known."""
        if self._levels is not None:
            return 1.0
        return min(1.0, self._learning.moved / self.settings.learning_time)

    @property
    def in_contact(self) -> tuple[str, ...]:
        """Names of the joints in contact."""
        return self._detector.joints

    def push(
        self, stamps: Stamps, position: Floats, velocity: Floats | None, effort: Floats
    ) -> WatchedEfforts:
        """Take in samples on the joint side, oldest first; see :meth:`.EffortStream.push`.

        Raises:
            ShapeError, SampleError, MissingSignalError: as there.
            EffortSignError, NoEffortError: the efforts of joints have the wrong sign, or are zero
                throughout; learning begins anew.
        """
        observed = self._stream.push(stamps, position, velocity, effort)
        if self._levels is None:
            self._learn(observed)
            return WatchedEfforts(observed, None, ())
        judged = self._levels.judge(observed, self._zones, self.settings.false_alarms)
        return WatchedEfforts(observed, judged, self._detector.push(judged))

    def _learn(self, observed: ObservedEfforts) -> None:
        self._learning.add(observed)
        if self._learning.moved >= self.settings.learning_time:
            try:
                self._levels = self._learning.levels()
            except (EffortSignError, NoEffortError):
                self._learning.restart()
                raise

    def restart(self) -> None:
        """Begin anew behind an interruption; thresholds stay."""
        self._stream.restart()

    def end(self) -> Sequence[ContactEvent]:
        """Return the ends of the contacts under way; to be asked where no more samples come."""
        return self._detector.end()
