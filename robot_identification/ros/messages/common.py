"""Common parts of messages: stamps, arrays of numbers, settings."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from builtin_interfaces.msg import Time

from robot_identification.ros.common.joint_states import NANOSECONDS
from robot_identification.settings import Settings


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


def stated(message: Any, kind: type[Settings], names: Iterable[str] = ()) -> dict[str, Any]:
    """Return what the fields of a message state of settings, without those that say nothing.

    Args:
        message: has a field for every name.
        kind: class of the settings.
        names: of those that are fields; none: all.

    Raises:
        SettingError: if one has a value that it cannot have.
    """
    table = kind.table()
    found = {name: getattr(message, name) for name in names or kind.in_requests()}
    return {
        name: table[name].read(list(value) if table[name].kind.is_list else value)
        for name, value in found.items()
        if table[name].is_said(value)
    }
