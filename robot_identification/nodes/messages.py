"""What messages are made of: stamps and arrays of numbers."""

from __future__ import annotations

from array import array

import numpy as np
import numpy.typing as npt
from builtin_interfaces.msg import Time

from robot_identification.nodes.joint_states import NANOSECONDS


def time_of(stamp: int) -> Time:
    """Return a stamp in ns as a message."""
    seconds, nanoseconds = divmod(int(stamp), NANOSECONDS)
    return Time(sec=seconds, nanosec=nanoseconds)


def floats(values: npt.ArrayLike | None) -> array[float]:
    """Return values as what float64[] takes without a look at every one; None becomes empty."""
    if values is None:
        return array("d")
    return array("d", np.ascontiguousarray(values, dtype=np.float64).tobytes())
