"""Lateness of a robot on the way of its trajectory: scaled speed, pause, lag, or an early start.

Controllers such as scaled_joint_trajectory_controller of Universal Robots follow a trajectory at a
share of its speed: that of a slider of the teach pendant, of a reduced mode, or none at all while
the robot is paused.  Others begin as soon as they receive one, whatever its start stamp says.  The
joints then leave the trajectory in time, and not in space.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.arrays import Array
from robot_identification.ros.supervision.braking import Situation

WINDOW = 0.1
"""Time, in s, over which the speed is told that a robot has followed with."""
READINGS = 5
"""Readings that it is told from at least, where they are rarer than that."""

_LONGEST = 10.0
_EARLIEST = 2.0
_GRID = 0.005
_ON_THE_WAY = 0.1
"""By which share of the tracking error that stops a motion a joint may be beside the way."""
_STANDS = 0.05
_FOLLOWS = 0.99


@dataclass(frozen=True)
class Lateness:
    """Where a robot is on the way of its trajectory, behind its reference or before it.

    Attributes:
        seconds: time since the trajectory was there, in s; negative: until it will be.
        rate: speed of the robot along the way, as a share of that of the trajectory.
    """

    seconds: float
    rate: float

    def __str__(self) -> str:
        """What it may come from and what to do, for people."""
        if self.seconds < 0.0:
            return (
                f"the robot is where the trajectory leads {-self.seconds:.2f} s later: does the "
                "controller begin as soon as it receives a trajectory, whatever its start stamp "
                "says (start this node with start_lead 0.05), or are stamps of joint states behind?"
            )
        if self.rate < _STANDS:
            return (
                f"the robot stands where the trajectory was {self.seconds:.2f} s before: is it "
                "paused, in a protective or emergency stop, or blocked; or are the states old "
                "ones with new stamps?"
            )
        late = f"the robot is where the trajectory was {self.seconds:.2f} s before"
        if self.rate < _FOLLOWS:
            return (
                f"{late}, and goes at {100.0 * self.rate:.0f} % of its speed: is the speed scaled "
                "(slider of the teach pendant, reduced mode), or the robot paused? Have it follow "
                "at 100 %, and move more slowly by the parameter speed"
            )
        return f"{late}: the controller lags, or the stamps of its joint states are ahead"


def lateness(situation: Situation, tracking_error: Array) -> Lateness | None:
    """Return how late or early a robot is; None where it is not on the way of its reference.

    Args:
        situation: the motion, and the readings of the last :data:`WINDOW`.
        tracking_error: (joints,) at which error a motion is stopped, rad or m.
    """
    if len(situation.readings) < 2:
        return None
    for before, behind in ((_LONGEST, 0.0), (0.0, _EARLIEST)):
        late = _found(situation, tracking_error, before, behind)
        if late is not None:
            return late
    return None


def _found(situation: Situation, unit: Array, before: float, behind: float) -> Lateness | None:
    """Return how late a robot is, within some seconds before or behind the reference."""
    times, places = situation.reading_times, situation.measured / unit
    first, last = (
        _passed(situation.reference, (times[i] - before, times[i] + behind), places[i], unit)
        for i in (0, -1)
    )
    if first is None or last is None:
        return None
    late, rate = float(times[-1]) - last, (last - first) / float(times[-1] - times[0])
    slowest = _FOLLOWS - _STANDS if late < 0.0 else -_STANDS
    return Lateness(late, rate) if late and slowest <= rate <= 2.0 - _FOLLOWS else None


def _passed(
    trajectory: Trajectory, within: tuple[float, float], place: Array, unit: Array
) -> float | None:
    """Return when a trajectory passes a place, in s on its clock; None: it does not.

    Args:
        trajectory: the motion.
        within: from when until when it is looked at, in s; where it passes several times, the last
            counts.
        place: (joints,) the place, in ``unit``.
        unit: (joints,) rad or m.
    """
    begin, end = max(within[0], 0.0), min(within[1], trajectory.duration)
    if end <= begin:
        return None
    grid = np.linspace(begin, end, int(np.ceil((end - begin) / _GRID)) + 1)
    way = trajectory.sample(grid)[0] / unit
    steps, there = np.diff(way, axis=0), place - way[:-1]
    squares = (steps**2).sum(axis=1)
    shares = np.clip((there * steps).sum(axis=1) / np.maximum(squares, 1e-300), 0.0, 1.0)
    beside = np.abs(there - shares[:, None] * steps).max(axis=1)
    passing = np.flatnonzero(beside <= _ON_THE_WAY)
    if not passing.size:
        return None
    jumps = np.flatnonzero(np.diff(passing) > 1)
    latest = passing[jumps[-1] + 1 :] if jumps.size else passing
    nearest = latest[beside[latest] <= beside[latest].min() + 1e-9][-1]
    return float(grid[nearest] + shares[nearest] * (grid[nearest + 1] - grid[nearest]))
