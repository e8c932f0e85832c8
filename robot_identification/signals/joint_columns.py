"""Columns of a robot's joints in recorded arrays, by the names that come with these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from robot_identification.errors import JointNameError, RecordingError
from robot_identification.robot.model import RobotModel
from robot_identification.signals.recording import Recording

Columns = npt.NDArray[np.intp]
"""(joints,) places of a robot's joints among those of a recording or a message."""

_MOST_OTHERS = 100
"""States of other joints in a row from which on the names of the robot's own seem to be wrong."""


def refuse_other_joints(robot: RobotModel, recordings: Iterable[Recording]) -> None:
    """Refuse recordings whose columns are not those of the joints of a robot, in its order.

    Raises:
        JointNameError: there is one.
    """
    for recording in recordings:
        if recording.joint_names != robot.active_names:
            raise JointNameError(robot.active_names, recording.joint_names, recording.source)


class JointColumns:
    """Finds the joints of a robot among recorded ones, whatever their order; others are ignored.

    Args:
        joint_names: joints of the robot, in the order wanted.
        source: the bag or topic, for error messages.
    """

    def __init__(self, joint_names: Sequence[str], source: str) -> None:
        self._joint_names = tuple(joint_names)
        self._source = source
        self._recorded: Sequence[str] | None = None
        self._columns: Columns = np.arange(0)
        self._others = 0  # states in a row that were of other joints

    def concern(self, recorded: Sequence[str]) -> bool:
        """Tell whether states of recorded joints concern the robot: whether any joint is its own.

        The drivers of a gripper or of another arm may publish on the same topic.  Where none but
        theirs come for long, they concern it: then the names are wrong, which :meth:`of` tells.
        """
        if recorded != self._recorded and set(self._joint_names).isdisjoint(recorded):
            self._others += 1
            return self._others > _MOST_OTHERS
        self._others = 0
        return True

    def of(self, recorded: Sequence[str]) -> Columns:
        """Return (joints,) the places of the robot's joints among recorded ones.

        Asked again for the same names, as messages of one driver have them, it looks nothing up.

        Raises:
            JointNameError: a joint of the robot is missing.
            RecordingError: one is named twice.
        """
        if recorded != self._recorded:
            self._columns = self._found(recorded)
            self._recorded = recorded[:]
        return self._columns

    def _found(self, recorded: Sequence[str]) -> Columns:
        place = {name: i for i, name in enumerate(recorded)}
        missing = [name for name in self._joint_names if name not in place]
        if missing:
            raise JointNameError(missing, recorded, self._source)
        if len(place) < len(recorded):
            for name in self._joint_names:
                if list(recorded).count(name) > 1:
                    raise RecordingError(
                        f"{self._source}: joint {name} is named twice in one message"
                    )
        return np.array([place[name] for name in self._joint_names], dtype=np.intp)
