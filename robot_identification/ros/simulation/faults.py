"""Faults of joint states on their way, each kind done to messages on purpose.

A fault acts on the messages whose stamps lie in its interval, with a probability and a seed of its
own, so that the same messages are spoilt in the same way every time.
"""

from __future__ import annotations

import copy
import math
import random
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum

from sensor_msgs.msg import JointState

from robot_identification.ros.common.joint_states import NANOSECONDS, stamp_of
from robot_identification.ros.messages.common import time_of

SIGNALS = ("position", "velocity", "effort")


class Kind(Enum):
    """Effect of a fault on a message."""

    NOT_A_NUMBER = "not_a_number"
    INFINITE = "infinite"
    MISSING = "missing"
    PERMUTE = "permute"
    RENAME = "rename"
    DROP = "drop"
    DUPLICATE = "duplicate"
    SWAP = "swap"
    CLOCK_JUMP = "clock_jump"
    FREEZE = "freeze"
    REPEAT = "repeat"
    DELAY = "delay"


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong.

    Attributes:
        kind: what it does.
        begin: first moment, in s after the first message.
        end: moment from which on it is over, in s after the first message.
        probability: share of the messages in between on which it acts, chosen at random.
        joint: joint whose value or name it spoils; empty: all, or the first to be renamed.
        signal: what it spoils: position, velocity or effort.
        to: new name of a renamed joint.
        by: what a clock jumps by, or the longest delay, in s.
        seed: of the choice of messages.
    """

    kind: Kind
    begin: float = 0.0
    end: float = math.inf
    probability: float = 1.0
    joint: str = ""
    signal: str = "effort"
    to: str = "unknown_joint"
    by: float = 0.0
    seed: int = 0


@dataclass
class _Course:
    """A fault in its course: its dice, the message that it remembers, those that are late."""

    fault: Fault
    dice: random.Random
    kept: JointState | None = None
    count: int = 0
    waiting: deque[tuple[float, JointState]] = field(default_factory=deque)

    def strikes(self, seconds: float) -> bool:
        """Tell whether it acts on a message some time after the first one."""
        fault = self.fault
        if not fault.begin <= seconds < fault.end or self.dice.random() >= fault.probability:
            return False
        self.count += 1
        return True


@dataclass
class Injector:
    """Spoils messages; the faults act one after the other.

    Attributes:
        faults: what goes wrong.
    """

    faults: Sequence[Fault]
    _first: int | None = None
    _courses: list[_Course] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._courses = [
            _Course(fault, random.Random(f"{fault.seed} {place}"))  # noqa: S311
            for place, fault in enumerate(self.faults)
        ]

    @property
    def counts(self) -> list[tuple[str, int]]:
        """Every fault's kind, and on how many messages it has acted."""
        return [(course.fault.kind.value, course.count) for course in self._courses]

    def apply(self, message: JointState) -> list[JointState]:
        """Return what becomes of a message: none, it, or several, in the order of sending."""
        stamp = stamp_of(message)
        self._first = stamp if self._first is None else self._first
        seconds = (stamp - self._first) / NANOSECONDS
        messages = [copy.deepcopy(message)]
        for course in self._courses:
            strikes = course.strikes(seconds)
            messages = [out for one in messages for out in _through(course, one, strikes)]
        return messages

    def apply_all(self, messages: Iterable[JointState]) -> list[JointState]:
        """Return what becomes of messages."""
        return [out for message in messages for out in self.apply(message)]


def _through(course: _Course, message: JointState, strikes: bool) -> list[JointState]:
    """Send a message through a fault; one that was held back comes behind it."""
    if course.fault.kind is Kind.DELAY:
        return _delayed(course, message, strikes)
    if course.fault.kind is Kind.SWAP:
        held, course.kept = course.kept, None
        if held is not None:
            return [message, held]
    if strikes:
        return _ACTIONS[course.fault.kind](course, message)
    if course.fault.kind in (Kind.FREEZE, Kind.REPEAT):
        course.kept = message
    return [message]


def _delayed(course: _Course, message: JointState, strikes: bool) -> list[JointState]:
    """Return the messages that have waited long enough by the stamp of this one, in their order."""
    now = stamp_of(message) / NANOSECONDS
    delay = course.dice.uniform(0.0, course.fault.by) if strikes else 0.0
    course.waiting.append((now + delay, message))
    out = []
    while course.waiting and course.waiting[0][0] <= now:
        out.append(course.waiting.popleft()[1])
    return out


def _spoil(value: float) -> Callable[[_Course, JointState], list[JointState]]:
    def act(course: _Course, message: JointState) -> list[JointState]:
        values = getattr(message, course.fault.signal)
        for place, name in enumerate(message.name[: len(values)]):
            if course.fault.joint in ("", name):
                values[place] = value
        return [message]

    return act


def _missing(course: _Course, message: JointState) -> list[JointState]:
    setattr(message, course.fault.signal, [])
    return [message]


def _permute(course: _Course, message: JointState) -> list[JointState]:
    order = list(range(len(message.name)))
    course.dice.shuffle(order)
    for signal in SIGNALS:
        values = getattr(message, signal)
        if len(values) == len(order):
            setattr(message, signal, [values[i] for i in order])
    message.name = [message.name[i] for i in order]
    return [message]


def _rename(course: _Course, message: JointState) -> list[JointState]:
    old = course.fault.joint or message.name[0]
    message.name = [course.fault.to if name == old else name for name in message.name]
    return [message]


def _hold(course: _Course, message: JointState) -> list[JointState]:
    course.kept = message
    return []


def _jump(course: _Course, message: JointState) -> list[JointState]:
    message.header.stamp = time_of(stamp_of(message) + round(course.fault.by * NANOSECONDS))
    return [message]


def _freeze(course: _Course, message: JointState) -> list[JointState]:
    course.kept = course.kept or message
    frozen = copy.deepcopy(course.kept)
    frozen.header = message.header
    return [frozen]


def _repeat(course: _Course, message: JointState) -> list[JointState]:
    course.kept = course.kept or message
    return [copy.deepcopy(course.kept)]


_ACTIONS: dict[Kind, Callable[[_Course, JointState], list[JointState]]] = {
    Kind.NOT_A_NUMBER: _spoil(math.nan),
    Kind.INFINITE: _spoil(math.inf),
    Kind.MISSING: _missing,
    Kind.PERMUTE: _permute,
    Kind.RENAME: _rename,
    Kind.DROP: lambda _, _message: [],
    Kind.DUPLICATE: lambda _, message: [message, copy.deepcopy(message)],
    Kind.SWAP: _hold,
    Kind.CLOCK_JUMP: _jump,
    Kind.FREEZE: _freeze,
    Kind.REPEAT: _repeat,
}
