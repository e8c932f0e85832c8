"""Messages that bags have one by one: trajectories, arrays of efforts, temperatures.

Joint states, of which there are millions, are read many at a time (``joint_state_cdr.py``).
"""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.files.bags.cdr.values import Cursor, Writing
from robot_identification.robot.arrays import Array, by_value

_SHORTEST_TEXT = 4
_SHORTEST_POINT = 24  # four empty arrays and a duration
_SHORTEST_DIMENSION = 12


@by_value
@dataclass(frozen=True)
class PointMessage:
    """A message trajectory_msgs/JointTrajectoryPoint, but for its efforts.

    Attributes:
        time: time from the start, in ns.
        positions: of each joint; an array may be empty.
        velocities: likewise.
        accelerations: likewise.
    """

    time: int
    positions: Array
    velocities: Array
    accelerations: Array


@dataclass(frozen=True)
class TrajectoryMessage:
    """A message trajectory_msgs/JointTrajectory.

    Attributes:
        stamp: stamp of the header, in ns.
        joint_names: names of the joints.
        points: the points.
    """

    stamp: int
    joint_names: tuple[str, ...]
    points: tuple[PointMessage, ...]

    @classmethod
    def read(cls, message: bytes) -> TrajectoryMessage:
        """Return the trajectory in a serialised message.

        Raises:
            LayoutError: it is none.
        """
        cursor = Cursor(message)
        stamp = cursor.nanoseconds()
        cursor.text()
        names = tuple(cursor.text() for _ in range(cursor.elements(_SHORTEST_TEXT, "names")))
        points = [_point(cursor) for _ in range(cursor.elements(_SHORTEST_POINT, "points"))]
        cursor.check_end()
        return cls(stamp, names, tuple(points))

    def written(self) -> bytes:
        """Return the serialised message; it has no efforts.

        Raises:
            struct.error: a time does not fit a message.
        """
        writing = Writing()
        writing.nanoseconds(self.stamp)
        writing.text("")
        writing.length(len(self.joint_names))
        for name in self.joint_names:
            writing.text(name)
        writing.length(len(self.points))
        for point in self.points:
            for numbers in (point.positions, point.velocities, point.accelerations, None):
                writing.numbers(numbers)
            writing.nanoseconds(point.time)
        return writing.message()


def _point(cursor: Cursor) -> PointMessage:
    positions, velocities, accelerations, _ = (cursor.numbers() for _ in range(4))
    return PointMessage(cursor.nanoseconds(), positions, velocities, accelerations)


def read_array(message: bytes) -> Array:
    """Return the numbers of a serialised std_msgs/Float64MultiArray.

    Raises:
        LayoutError: it is none.
    """
    cursor = Cursor(message)
    for _ in range(cursor.elements(_SHORTEST_DIMENSION, "dimensions")):
        cursor.text()
        cursor.length()
        cursor.length()
    cursor.length()  # offset of the data, which no effort has
    numbers = cursor.numbers()
    cursor.check_end()
    return numbers


def read_temperature(message: bytes) -> tuple[int, float]:
    """Return stamp in ns and degrees Celsius of a serialised sensor_msgs/Temperature.

    Raises:
        LayoutError: it is none.
    """
    cursor = Cursor(message)
    stamp = cursor.nanoseconds()
    cursor.text()
    temperature = cursor.float64()
    cursor.float64()  # variance
    cursor.check_end()
    return stamp, temperature
