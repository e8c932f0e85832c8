"""Columns of a robot's joints in recorded arrays, by the names that come with these."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from robot_identification.errors import JointNameError, RecordingError


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
        self._columns: npt.NDArray[np.intp] = np.arange(0)

    def of(self, recorded: Sequence[str]) -> npt.NDArray[np.intp]:
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

    def _found(self, recorded: Sequence[str]) -> npt.NDArray[np.intp]:
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
