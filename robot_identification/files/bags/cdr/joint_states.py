"""sensor_msgs/JointState in its serialised form, many messages at a time.

The layout of a serialised message (CDR, little endian) follows from the names of its joints and
the lengths of its arrays.  Messages of the same layout lie joined in memory like rows of a table,
and their stamps and numbers are read by one NumPy view.

    representation (4 bytes), stamp (int32 s, uint32 ns), frame_id, name[], position[], velocity[],
    effort[]

Lengths are uint32; numbers are aligned to their size, counted from behind the representation.

control_msgs/JointTrajectoryControllerState begins alike: behind the names come position, velocity
and acceleration that the controller is to have.  What follows them differs between its versions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.files.bags.cdr.layouts import StampedLayout, Table, begin, merged
from robot_identification.files.bags.cdr.values import NANOSECONDS, Writing
from robot_identification.robot.arrays import Array

MESSAGE_TYPE = "sensor_msgs/msg/JointState"
CONTROLLER_STATE = "control_msgs/msg/JointTrajectoryControllerState"
ARRAYS = ("position", "velocity", "effort")


@dataclass(frozen=True)
class Layout(StampedLayout):
    """Layout of a serialised JointState.

    Attributes:
        counts: numbers in position, velocity and effort.
        offsets: places of their first numbers.
    """

    counts: tuple[int, int, int]
    offsets: tuple[int, int, int]

    def has(self, signal: str) -> bool:
        """Tell whether there are numbers of a signal."""
        return signal in ARRAYS and self.counts[ARRAYS.index(signal)] > 0

    def numbers(self, table: Table, array: str) -> Array:
        """Return (messages, numbers) of ``position``, ``velocity`` or ``effort``."""
        index = ARRAYS.index(array)
        first, count = self.offsets[index], self.counts[index]
        part = np.ascontiguousarray(table[:, first : first + 8 * count])
        return part.view("<f8").reshape(len(table), count).astype(np.float64, copy=False)


def layout_of(message: bytes) -> Layout:
    """Return the layout of a serialised message.

    Raises:
        LayoutError: if it is not a JointState in little-endian CDR.
    """
    cursor, fixed, names = begin(message)
    places = []
    for _ in ARRAYS:
        cursor.align(4)
        fixed.append((cursor.place, cursor.place + 4))
        places.append(cursor.place_of_numbers())
    return Layout(
        names=names,
        counts=(places[0][1], places[1][1], places[2][1]),
        offsets=(places[0][0], places[1][0], places[2][0]),
        fixed=merged(fixed),
        end=cursor.place,
    )


def encode(
    stamps: npt.NDArray[np.int64],
    names: tuple[str, ...],
    position: Array,
    velocity: Array | None = None,
    effort: Array | None = None,
) -> Table:
    """Serialise messages of one layout.

    Args:
        stamps: (messages,) stamps in ns.
        names: names of the joints.
        position: (messages, joints).
        velocity: (messages, joints); None leaves the array empty.
        effort: (messages, joints); None leaves the array empty.

    Returns:
        (messages, bytes), one row per message.
    """
    arrays = (position, velocity, effort)
    template = _template(names, tuple(0 if array is None else len(names) for array in arrays))
    layout = layout_of(template)
    table = np.tile(np.frombuffer(template, dtype=np.uint8), (len(stamps), 1))
    seconds, nanoseconds = np.divmod(np.asarray(stamps, dtype=np.int64), NANOSECONDS)
    table[:, 4:8] = seconds.astype("<i4")[:, None].view(np.uint8)
    table[:, 8:12] = nanoseconds.astype("<u4")[:, None].view(np.uint8)
    for first, array in zip(layout.offsets, arrays, strict=True):
        if array is not None and array.size:
            numbers = np.ascontiguousarray(array, dtype="<f8").view(np.uint8)
            table[:, first : first + numbers.shape[1]] = numbers
    return table


def _template(names: tuple[str, ...], counts: tuple[int, ...]) -> bytes:
    """Return a message with stamp and numbers of zero."""
    writing = Writing()
    writing.nanoseconds(0)
    writing.text("")
    writing.length(len(names))
    for name in names:
        writing.text(name)
    for count in counts:
        writing.numbers(np.zeros(count))
    return writing.message()
