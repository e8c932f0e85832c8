"""What the watched joint states say: the newest position, and how fast the joints move."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robot_identification.errors import JointNameError, StaleStateError
from robot_identification.nodes.joint_states import NANOSECONDS, stamp_of
from robot_identification.robot.arrays import by_value
from robot_identification.robot.model import Array

_REMEMBERED = 256
_SHORT = 0.02
_LONG = 0.1


@by_value
@dataclass(frozen=True)
class Reading:
    """Where the joints were at one time.

    Attributes:
        stamp: header stamp in ns.
        position: (joints,) in rad or m.
        velocity: (joints,) in rad/s or m/s; None where the message had none.
    """

    stamp: int
    position: Array
    velocity: Array | None


class MotionStates:
    """Takes joint states in; a message of no use counts as none, and its fault is remembered.

    Args:
        joint_names: joints of the robot.
    """

    def __init__(self, joint_names: Sequence[str]) -> None:
        self._wanted = list(joint_names)
        self._names: list[str] | None = None
        self._places: npt.NDArray[np.intp] | None = None
        self._readings: deque[Reading] = deque(maxlen=_REMEMBERED)
        self.fault = "no joint states have come"

    @property
    def latest(self) -> Reading | None:
        """The newest reading."""
        return self._readings[-1] if self._readings else None

    def add(self, message: Any) -> None:
        """Take in a JointState; quick, as it is called a thousand times a second."""
        if message.name != self._names:
            self._names = list(message.name)
            self._places = self._map()
        if self._places is None:
            return
        position = self._values(message.position)
        if position is None:
            self.fault = f"positions are missing, NaN or infinite: {list(message.position)}"
            return
        stamp = stamp_of(message)
        if self._readings and stamp <= self._readings[-1].stamp:
            if self._readings[-1].stamp - stamp < NANOSECONDS:
                self.fault = "the stamps of the joint states do not rise"
                return
            self._readings.clear()  # the clock was set back
        self.fault = ""
        self._readings.append(Reading(stamp, position, self._values(message.velocity)))

    def _map(self) -> npt.NDArray[np.intp] | None:
        names = self._names or []
        if any(names.count(name) != 1 for name in self._wanted):
            missing = [name for name in self._wanted if names.count(name) != 1]
            self.fault = str(JointNameError(missing, names, "joint_states"))
            return None
        return np.array([names.index(name) for name in self._wanted], dtype=np.intp)

    def _values(self, values: Sequence[float]) -> Array | None:
        if self._places is None or len(values) != len(self._names or ()):
            return None
        array: Array = np.array(values, dtype=np.float64)[self._places]
        return array if np.isfinite(array).all() else None

    def age(self, now: int) -> float:
        """Return the age of the newest reading at a time in ns, in s; infinite without one."""
        return (now - self._readings[-1].stamp) / NANOSECONDS if self._readings else np.inf

    def fresh(self, now: int, timeout: float) -> Reading:
        """Return the newest reading if it is not older than a timeout in s.

        Raises:
            StaleStateError: there is none, or it is too old or from the future.
        """
        latest, age = self.latest, self.age(now)
        if latest is None:
            raise StaleStateError(self.fault)
        if abs(age) > timeout:
            when = f"is {age:.3f} s old" if age > 0.0 else f"is {-age:.3f} s in the future"
            why = f" ({self.fault})" if self.fault else ""
            raise StaleStateError(
                f"the last joint state {when}, more than {timeout:g} s{why}; is the driver "
                "running, and does it have the clock of this node?"
            )
        return latest

    def problem(self, now: int, timeout: float) -> str:
        """Return what :meth:`fresh` has to say against the newest reading, or an empty text."""
        try:
            self.fresh(now, timeout)
        except StaleStateError as error:
            return str(error)
        return ""

    def recent(self, window: float, least: int) -> list[Reading]:
        """Return the readings of a last while in s, but no fewer than some number if there are."""
        if not self._readings:
            return []
        begin = self._readings[-1].stamp - round(window * NANOSECONDS)
        chosen: list[Reading] = []
        for reading in reversed(self._readings):
            if reading.stamp < begin and len(chosen) >= least:
                break
            chosen.append(reading)
        return chosen[::-1]

    def velocity(self) -> Array:
        """Return the (joints,) velocity now: as published, else over the last 20 ms."""
        latest = self.latest
        if latest is not None and latest.velocity is not None:
            return latest.velocity
        return self.mean_velocity(_SHORT)

    def mean_velocity(self, window: float = _LONG) -> Array:
        """Return the (joints,) mean velocity over a last while in s; zero with one reading."""
        latest = self.latest
        if latest is None or len(self._readings) < 2:
            return np.zeros(len(self._wanted))
        begin = latest.stamp - round(window * NANOSECONDS)
        first = next((r for r in self._readings if r.stamp >= begin), latest)
        if first is latest:
            first = self._readings[-2]
        mean: Array = (latest.position - first.position) * (
            NANOSECONDS / (latest.stamp - first.stamp)
        )
        return mean
