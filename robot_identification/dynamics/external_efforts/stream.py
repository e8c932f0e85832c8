"""External efforts of a stream of joint states, whether their velocities are measured or not."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.external_efforts.momentum_observer import (
    NANOSECOND,
    MomentumObserver,
    ObservedEfforts,
    Stamps,
)
from robot_identification.dynamics.external_efforts.settings import ExternalEffortSettings
from robot_identification.dynamics.tree import Floats
from robot_identification.errors import MissingSignalError
from robot_identification.robot.model import RobotModel
from robot_identification.signals.positions.turns import Turns


class MidpointStates:
    """States with velocities out of positions alone: those half way between two samples.

    Positions and efforts there are means, velocities differences, which is right to second order
    and late by nothing; a state comes when the sample behind it does.  Positions that a driver
    wraps into one turn go on over the turn.

    Args:
        longest_gap: between two samples, in s; no state lies in a longer one.
    """

    def __init__(self, longest_gap: float) -> None:
        self._longest = longest_gap / NANOSECOND
        self._last: tuple[Stamps, Floats, Floats] | None = None
        self._turns = Turns()

    def push(
        self, stamps: Stamps, position: Floats, effort: Floats
    ) -> tuple[Stamps, Floats, Floats, Floats]:
        """Return stamps, positions, velocities and efforts half way; see the observer's ``push``.

        A sample with a NaN takes those beside it along; the observer refuses them.
        """
        position = self._turns.continued(stamps, position)
        if self._last is not None:
            stamps = np.concatenate([self._last[0], stamps])
            position = np.concatenate([self._last[1], position])
            effort = np.concatenate([self._last[2], effort])
        if len(stamps):
            self._last = stamps[-1:], position[-1:], effort[-1:]
        step = np.diff(stamps)
        kept = (step > 0) & (step <= self._longest)
        velocity = np.diff(position, axis=0)[kept] / (step[kept] * NANOSECOND)[:, None]
        halves = (0.5 * (signal[1:] + signal[:-1])[kept] for signal in (position, effort))
        q, tau = halves
        return stamps[:-1][kept] + step[kept] // 2, q, velocity, tau


class EffortStream:
    """A momentum observer of joint states: velocities measured if the first have some, else not.

    Args:
        robot: the robot.
        values: (full columns,) its parameters.
        settings: of the observer.

    Raises:
        ShapeError, SampleError, SettingError: as :class:`.MomentumObserver`.
    """

    def __init__(
        self, robot: RobotModel, values: npt.ArrayLike, settings: ExternalEffortSettings
    ) -> None:
        self._observer = MomentumObserver(robot, values, settings)
        self._longest_gap = settings.longest_gap
        self.restart()

    def restart(self) -> None:
        """Forget what has come, and whether velocities are measured."""
        self._observer.restart()
        self._begun = False
        self._midpoints: MidpointStates | None = None

    def push(
        self, stamps: Stamps, position: Floats, velocity: Floats | None, effort: Floats
    ) -> ObservedEfforts:
        """Take in samples on the joint side, oldest first.

        Args:
            stamps: (samples,) in ns.
            position: (samples, joints) in rad or m.
            velocity: (samples, joints); None: not measured.
            effort: (samples, joints) measured, in N m or N.

        Raises:
            ShapeError, SampleError: as :meth:`.MomentumObserver.push`.
            MissingSignalError: there are no velocities, and the first samples had some.
        """
        if not self._begun:
            self._begun = True
            if velocity is None:
                self._midpoints = MidpointStates(self._longest_gap)
        if self._midpoints is not None:
            stamps, position, velocity, effort = self._midpoints.push(stamps, position, effort)
        elif velocity is None:
            raise MissingSignalError("velocity", "joint states that had some")
        return self._observer.push(stamps, position, velocity, effort)
