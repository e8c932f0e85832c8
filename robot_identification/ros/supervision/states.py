"""Joint states of a watched robot: the newest position, its age, and states that are refused.

A message of no use counts as none, and so does a state that no physical motion explains: a stamp
ahead of its time, or a position that the joint cannot have reached since the state before.  Such a
state is counted and told.  Where they persist, sound states are missing, and the robot is stopped
as if none had come at all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from robot_identification.errors import InputError, StaleStateError
from robot_identification.robot.arrays import Array, by_value
from robot_identification.ros.common.joint_states import (
    NANOSECONDS,
    NO_STAMPS,
    JointStateReader,
    Sample,
    why_not_later,
)
from robot_identification.ros.supervision.clock import Instant
from robot_identification.signals.positions.turns import added_turns

_REMEMBERED = 256
_REST_WINDOW = 0.1
_TREND = 0.05
_OVERSHOOT = 1.5
"""By how much a joint may be faster than its limit before its position counts as impossible."""
_AHEAD_SHARE = 0.25
"""By which share of the timeout a stamp may be ahead of those before: jitter of drivers."""


class Refusal(Enum):
    """Why a joint state does not count."""

    STAMP = "its stamp"
    POSITION = "its positions"
    CONTENT = "what it holds"


@by_value
@dataclass(frozen=True)
class Reading:
    """Positions and velocities of the joints at one time.

    Attributes:
        stamp: header stamp in ns.
        arrival: when it was taken in.
        position: (joints,) in rad or m.
    """

    stamp: int
    arrival: Instant
    position: Array

    @property
    def delay(self) -> int:
        """Time from the stamp to the arrival in ns, by the clocks of both sides."""
        return self.arrival.stamp - self.stamp


@by_value
@dataclass(frozen=True)
class PhysicalMotion:
    """Motion that is possible between two states.

    Attributes:
        speed: (joints,) limits of velocity in rad/s or m/s; infinite where there is none.
        tolerance: (joints,) by how much a position may be wrong, in rad or m.
    """

    speed: Array
    tolerance: Array

    def excess(self, way: Array, seconds: float) -> Array:
        """Return (joints,) ways as shares of the longest possible ones in a time in s."""
        possible = self.tolerance + _OVERSHOOT * self.speed * max(seconds, 0.0)
        with np.errstate(over="ignore"):  # a state may say anything
            share: Array = np.abs(way) / possible
        return share


class MotionStates:
    """Takes joint states in.

    Args:
        joint_names: joints of the robot.
        timeout: age in s from which on a state is stale.
        physical: what the joints can do; None: anything.

    Attributes:
        timeout: as given.
        physical: as given.
        fault: why the last message was no state; empty if it was one.
        refusal: the same as a kind; None if it was one.
        refused: how many messages were none.
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        *,
        timeout: float = 0.1,
        physical: PhysicalMotion | None = None,
    ) -> None:
        self.timeout, self.physical = timeout, physical
        self._joint_names = tuple(joint_names)
        self._reader = JointStateReader(joint_names, "joint_states", efforts=False)
        self._count = 0
        self._readings: deque[Reading] = deque(maxlen=_REMEMBERED)
        self._impossible: Reading | None = None
        self._shortest_delay = 0
        self._turned = np.zeros(len(self._joint_names))  # what is added to the newest position
        self.fault = "no joint states have come"
        self.refusal: Refusal | None = None
        self.refused = 0

    @property
    def latest(self) -> Reading | None:
        """The newest reading."""
        return self._readings[-1] if self._readings else None

    def concerns(self, message: Any) -> bool:
        """Tell whether a message is to be taken in, see :meth:`.JointColumns.concern`."""
        return self._reader.concerns(message)

    def add(self, message: Any, now: Instant, *, anew: bool = False) -> None:
        """Take in a JointState; quick, as it is called a thousand times a second.

        Args:
            message: the joint states.
            now: when it is taken in.
            anew: whether to begin anew where the last state is stale: for a robot that is not
                moved, whose driver may have been started again.
        """
        self._count += 1
        try:
            sample = self._reader.read(message, self._count)
        except InputError as error:
            self._refuse(Refusal.CONTENT, str(error))
            return
        first = self.latest is None or (anew and self.stale(now))
        turned = np.zeros_like(self._turned) if first else self._turns_of(sample)
        reading = Reading(sample.stamp, now, sample.position + turned)
        wrong = self._in_the_future(reading) if first else self._wrong_stamp(reading, at_rest=anew)
        if wrong:
            self._refuse(Refusal.STAMP, wrong)
            return
        if first:
            self._readings.clear()
        wrong = self._wrong_position(reading)
        if wrong:
            self._impossible = reading
            self._refuse(Refusal.POSITION, wrong)
            return
        self._turned = turned
        self._keep(reading)

    def _turns_of(self, sample: Sample) -> Array:
        """Return (joints,) what makes the position of a state go on from that of the newest."""
        latest = self._readings[-1]
        before = latest.position - self._turned
        if np.abs(sample.position - before).max() < np.pi:
            return self._turned
        return self._turned + added_turns(before, sample.position, sample.stamp - latest.stamp)

    def _keep(self, reading: Reading) -> None:
        delays = (self._shortest_delay, reading.delay) if self._readings else (reading.delay,)
        self._shortest_delay = min(delays)
        self.fault, self.refusal, self._impossible = "", None, None
        self._readings.append(reading)

    def _refuse(self, refusal: Refusal, fault: str) -> None:
        self.fault, self.refusal = fault, refusal
        self.refused += 1

    def _wrong_stamp(self, reading: Reading, *, at_rest: bool) -> str:
        """Return what is wrong with a stamp: not after the one before, or ahead of its time.

        States may come later than they are wont to, but never earlier: their driver's clock was
        set, or their stamp is wrong.  Of a robot at rest too little may be known of how late they
        come, and nothing depends on it.
        """
        if reading.stamp <= self._readings[-1].stamp:
            return why_not_later(reading.stamp)
        ahead = (self._shortest_delay - reading.delay) / NANOSECONDS
        if ahead > _AHEAD_SHARE * self.timeout and not at_rest:
            return f"a joint state is stamped {ahead:.3f} s ahead of those before it"
        return ""

    def _in_the_future(self, reading: Reading) -> str:
        ahead = -reading.delay / NANOSECONDS
        return self._future(ahead) if ahead > self.timeout else ""

    def _future(self, ahead: float) -> str:
        return (
            f"the last joint state is {ahead:.3f} s in the future, more than {self.timeout:g} s; "
            "does its driver have the clock of this node?"
        )

    def _wrong_position(self, reading: Reading) -> str:
        """Return which joint cannot have come where a state says it is; empty if all can."""
        latest = self.latest
        if latest is None or self.physical is None:
            return ""
        seconds = (reading.stamp - latest.stamp) / NANOSECONDS
        way = reading.position - latest.position
        excess = self.physical.excess(way, seconds)
        joint = int(np.argmax(excess))
        if excess[joint] <= 1.0 and not self._goes_on_from_impossible(reading, latest):
            return ""
        return (
            f"{self._joint_names[joint]} cannot have moved by {abs(way[joint]):.4g} within "
            f"{seconds:.4f} s"
        )

    def _goes_on_from_impossible(self, reading: Reading, latest: Reading) -> bool:
        """Tell whether a state continues an impossible one rather than the last sound one.

        Otherwise a lie would become possible by being repeated for long enough.
        """
        before = self._impossible
        if before is None or self.physical is None:
            return False
        rate = self.mean_velocity(_TREND)
        from_sound, from_impossible = (
            float((np.abs(reading.position - r.position - rate * _seconds(r, reading))
                   / self.physical.tolerance).max())
            for r in (latest, before)
        )  # fmt: skip
        return from_impossible < from_sound

    def age(self, now: Instant) -> float:
        """Return the age of the newest reading by its stamp, in s; infinite without one."""
        latest = self.latest
        return np.inf if latest is None else (now.stamp - latest.stamp) / NANOSECONDS

    def silence(self, now: Instant) -> float:
        """Return for how long no state has come, in s, whatever stamps say; infinite without."""
        latest = self.latest
        return np.inf if latest is None else now.seconds_since(latest.arrival)

    def stale(self, now: Instant) -> bool:
        """Tell whether the newest reading does not say any more where the robot is."""
        return max(self.silence(now), abs(self.age(now))) > self.timeout

    def fresh(self, now: Instant) -> Reading:
        """Return the newest reading.

        Raises:
            StaleStateError: there is none, or it is too old or from the future.
        """
        latest = self.latest
        if latest is None:
            raise StaleStateError(self.fault)
        if self.stale(now):
            raise StaleStateError(self._staleness(now))
        return latest

    def problem(self, now: Instant) -> str:
        """Return what is wrong with the newest reading; empty if nothing is."""
        try:
            self.fresh(now)
        except StaleStateError as error:
            return str(error)
        return ""

    def _staleness(self, now: Instant) -> str:
        age = self.age(now)
        if age < -self.timeout:
            return self._future(-age)
        if self._readings[-1].stamp == 0 and self.silence(now) <= self.timeout:
            return NO_STAMPS
        seconds = max(age, self.silence(now))
        why = f" ({self.fault})" if self.fault else ""
        return (
            f"the last joint state is {seconds:.3f} s old, more than {self.timeout:g} s{why}; is "
            "the driver running, and does it have the clock of this node?"
        )

    def recent(self, window: float, least: int) -> list[Reading]:
        """Return the readings of a last while in s, older ones where they are fewer than ``least``.

        The newest is the last; none where no state has come.
        """
        if not self._readings:
            return []
        begin = self._readings[-1].stamp - round(window * NANOSECONDS)
        chosen: list[Reading] = []
        for reading in reversed(self._readings):
            if reading.stamp < begin and len(chosen) >= least:
                break
            chosen.append(reading)
        return chosen[::-1]

    def mean_velocity(self, window: float = _REST_WINDOW) -> Array:
        """Return the (joints,) mean velocity over a last while in s; zero with one reading."""
        readings = self.recent(window, 2)
        if len(readings) < 2:
            return np.zeros(len(self._joint_names))
        first, last = readings[0], readings[-1]
        mean: Array = (last.position - first.position) / _seconds(first, last)
        return mean


def _seconds(first: Reading, last: Reading) -> float:
    return (last.stamp - first.stamp) / NANOSECONDS
