"""What messages are made of: stamps and arrays of numbers."""

from __future__ import annotations

from array import array
from typing import Any

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


def check_size(message: Any, most: int, most_text: int) -> None:
    """Refuse a message that is larger than any that is meant well, before it is worked on.

    Args:
        message: the message, with whatever messages it holds.
        most: entries of its arrays, in all.
        most_text: characters of its texts, in all.

    Raises:
        ValueError: it is larger.
    """
    entries = text = 0
    waiting = [message]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            text += len(part)
        elif hasattr(part, "get_fields_and_field_types"):
            waiting += [getattr(part, name) for name in part.get_fields_and_field_types()]
        elif hasattr(part, "__len__"):
            entries += len(part)
            if entries <= most and isinstance(part, list):
                waiting += part
        if entries > most or text > most_text:
            raise ValueError(f"it holds more than {most} entries or {most_text} characters")
