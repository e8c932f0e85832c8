"""Confirmation of motion: by when joint states must show that the robot follows its reference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.arrays import Array, by_value
from robot_identification.ros.common.joint_states import NANOSECONDS
from robot_identification.ros.supervision.phases import Command, MotionSettings

_GRID = 0.02
_BLOCK = 500
"""Number of moments that are looked at together for the first that shows motion: of an hour of
motion all of them would take longer than there is until its start."""
_MARGIN = 0.2


@by_value
@dataclass(frozen=True)
class Confirmation:
    """Motion that joint states have to show.

    Attributes:
        start: stamp of the start of the trajectory, in ns; earlier states show nothing.
        deadline: stamp, in ns, of the last state that need not show motion.
        origin: (joints,) where the robot stood, in rad or m.
        distance: what counts as motion, in rad or m.
    """

    start: int
    deadline: int
    origin: Array
    distance: float

    def shown_at(self, position: Array) -> bool:
        """Tell whether a robot at a position, (joints,) in rad or m, has moved."""
        return bool(np.abs(position - self.origin).max() >= self.distance)


def confirmation_of(
    command: Command, origin: Array, settings: MotionSettings
) -> Confirmation | None:
    """Return what has to show after a command; None where its reference hardly moves.

    The deadline is later for a reference that begins slowly.

    Args:
        command: what the robot is to follow.
        origin: (joints,) where it stands, in rad or m.
        settings: how the motion is watched.
    """
    away = _first_away(command.trajectory, settings.confirm_distance)
    if away is None:
        return None
    late = max(settings.confirm_within, away + _MARGIN)
    deadline = command.start + round(late * NANOSECONDS)
    return Confirmation(command.start, deadline, origin, settings.confirm_distance)


def _first_away(trajectory: Trajectory, distance: float) -> float | None:
    """Return when a trajectory has gone far enough to be seen, in s; None: it never does."""
    count = int(np.ceil(trajectory.duration / _GRID)) + 1
    for begin in range(0, count, _BLOCK):
        times = _GRID * np.arange(begin, min(begin + _BLOCK, count))
        way = np.abs(trajectory.sample(times)[0] - trajectory.positions[0]).max(axis=1)
        away = np.flatnonzero(way >= 2.0 * distance)
        if away.size:
            return float(times[away[0]])
    return None
