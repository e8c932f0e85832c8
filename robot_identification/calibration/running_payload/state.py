"""State of the running estimate of a payload: status, body and its changes so far."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from robot_identification.calibration.running_payload.body import ConditionedBody
from robot_identification.robot.arrays import by_value


class PayloadStatus(IntEnum):
    """The constants of the message PayloadEstimate."""

    LEARNING = 0
    UNDETERMINED = 1
    NONE = 2
    CARRIED = 3
    CHANGING = 4
    CONTACT = 5


@by_value
@dataclass(frozen=True)
class PayloadState:
    """The payload at one instant.

    Attributes:
        stamp: of the newest row, in ns, whether or not the robot moves in it.
        status: what can be told.
        body: the payload; None where nothing has been told of one.
        seconds: of motion that the estimate rests on, since the last change.
        change_stamp: when the payload is thought to have changed last, in ns; 0: not yet.
        changes: changes that were seen, those that turned out contacts included.
        ratio: largest likelihood ratio of a change in the newest rows.
        limit: ratio that says that there is one.
        misfit: root mean square of what is left of the rows, in deviations of the noise of free
            motion; 1 where these hold.
        learned: share of the free motion that is needed.
    """

    stamp: int
    status: PayloadStatus
    body: ConditionedBody | None = None
    seconds: float = 0.0
    change_stamp: int = 0
    changes: int = 0
    ratio: float = 0.0
    limit: float = np.inf
    misfit: float = 1.0
    learned: float = 1.0
