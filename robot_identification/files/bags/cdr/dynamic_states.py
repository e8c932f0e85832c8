"""control_msgs/DynamicJointState in its serialised form, many messages at a time.

    representation (4 bytes), stamp, frame_id, joint_names[], interface_values[]

Every joint has interfaces of its own: names[], values[].  As for JointState, the layout of a
message follows from names and lengths, and messages of the same layout are read like a table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from robot_identification.files.bags.cdr.layouts import (
    StampedLayout,
    Table,
    begin,
    merged,
    shared_texts,
)
from robot_identification.files.bags.cdr.values import Cursor, LayoutError
from robot_identification.robot.arrays import Array

MESSAGE_TYPE = "control_msgs/msg/DynamicJointState"

DEFINITIONS = {
    "control_msgs/msg/InterfaceValue": "string[] interface_names\nfloat64[] values\n",
    MESSAGE_TYPE: (
        "std_msgs/Header header\nstring[] joint_names\nInterfaceValue[] interface_values\n"
    ),
}
"""Definitions of the messages, which bags carry with them."""

SIGNALS = ("position", "velocity", "effort", "temperature")
INTERFACES: Mapping[str, str] = {signal: signal for signal in SIGNALS}
"""Signal -> the name that an interface of it usually has."""

_NUMBER = np.arange(8)


def interfaces_of(names: Mapping[str, str]) -> Mapping[str, str]:
    """Return the names of the interfaces of all signals.

    Args:
        names: signal -> name, where that is not the usual one; others than :data:`SIGNALS` are
            passed over.
    """
    return {signal: names.get(signal, usual) for signal, usual in INTERFACES.items()}


@dataclass(frozen=True)
class DynamicLayout(StampedLayout):
    """Layout of a serialised DynamicJointState.

    Attributes:
        interfaces: the names of the interfaces of every joint.
        places: signal -> place of the number of every joint, 0 where a joint has none.
    """

    interfaces: tuple[tuple[str, ...], ...]
    places: Mapping[str, tuple[int, ...]]

    def has(self, signal: str) -> bool:
        """Tell whether any joint has a signal."""
        return any(self.places[signal])

    def numbers(self, table: Table, signal: str) -> Array:
        """Return (messages, joints) the numbers of a signal, NaN for joints without."""
        places = np.array(self.places[signal], dtype=np.intp)
        there = np.flatnonzero(places)
        found = np.full((len(table), len(places)), np.nan)
        columns = (places[there, None] + _NUMBER).ravel()
        found[:, there] = np.ascontiguousarray(table[:, columns]).view("<f8")
        return found


def dynamic_layout_of(message: bytes, interfaces: Mapping[str, str] = INTERFACES) -> DynamicLayout:
    """Return the layout of a serialised message.

    Args:
        message: the bytes.
        interfaces: signal -> name of its interface.

    Raises:
        LayoutError: if it is not a DynamicJointState in little-endian CDR, or a joint has not one
            value for each of its interfaces.
    """
    cursor, fixed, names = begin(message)
    cursor.align(4)
    first = cursor.place
    count = cursor.length()
    fixed.append((first, cursor.place))
    if count != len(names):
        raise LayoutError(f"{len(names)} joints have {count} lists of interfaces")
    own, starts = [], []
    for joint in names:
        known = shared_texts(cursor, fixed, "interfaces")
        starts.append(_values(cursor, fixed, joint, known))
        own.append(known)
    return DynamicLayout(
        names=names,
        fixed=merged(fixed),
        end=cursor.place,
        interfaces=tuple(own),
        places={
            signal: tuple(
                start + 8 * known.index(name) if name in known else 0
                for start, known in zip(starts, own, strict=True)
            )
            for signal, name in interfaces.items()
        },
    )


def _values(
    cursor: Cursor, fixed: list[tuple[int, int]], joint: str, interfaces: tuple[str, ...]
) -> int:
    """Return the place of the first value of a joint, and step over all of them."""
    cursor.align(4)
    fixed.append((cursor.place, cursor.place + 4))
    start, count = cursor.place_of_numbers()
    if count != len(interfaces):
        raise LayoutError(f"joint {joint} has {len(interfaces)} interfaces and {count} values")
    return start
