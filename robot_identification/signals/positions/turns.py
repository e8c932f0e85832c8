"""Joints that turn without end: positions that a driver wraps into one turn, made continuous.

Drivers of such joints send -179 degrees after 179.  For a model that is the same place, for a
filter a jump that no motion explains.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from robot_identification.robot.arrays import Array
from robot_identification.signals.clock.stamps import LONGEST_BRIDGED_NS
from robot_identification.signals.raw_samples import RawSamples
from robot_identification.signals.rows import Flags

TURN = 2.0 * np.pi

_TOLERANCE = 0.5
_SPEED = 2.5
"""A step may differ from a turn by the way that a joint goes in it: 0.5 rad, or what it goes at
this speed in rad/s, whichever is more.  In 0.4 s, the longest gap that is bridged, only joints of
more than 13 rad/s could go from one end of a turn to the other."""
_LOWEST = np.array([[-np.pi], [0.0]])
"""Where the turns begin that drivers wrap positions into, in rad."""
_ROUNDING = 0.01
_BLOCK = 4096


def added_turns(before: Array, after: Array, durations: npt.ArrayLike) -> Array:
    """Return (..., joints) what is to be added to positions from steps on, in rad.

    Args:
        before: (..., joints) positions before each step, as measured, in rad.
        after: (..., joints) those after it.
        durations: (...) of the steps in ns.
    """
    steps, lasted = after - before, np.asarray(durations, dtype=np.float64)[..., None]
    quick = lasted <= LONGEST_BRIDGED_NS
    inside = (_fits(before) & _fits(after)).any(axis=0)
    wrapped = quick & inside & (np.abs(np.abs(steps) - TURN) < _tolerance(lasted))
    added: Array = np.where(wrapped, -TURN * np.sign(steps), 0.0)
    return added


def _tolerance(durations: Array) -> Array:
    """Return by how much steps that last so long, in ns, may differ from a turn, in rad."""
    return np.maximum(_TOLERANCE, _SPEED * 1e-9 * durations)


def way_apart(first: float, second: float) -> float:
    """Return how far two positions of a joint are apart; whole turns, by which some wrap, are none.

    Args:
        first: in rad or m.
        second: likewise; nobody measures 6.28 m without meaning a turn.
    """
    return abs(math.remainder(second - first, math.tau))


def _fits(position: Array) -> Flags:
    """Return (2, ..., joints) whether positions lie in each of the turns."""
    lowest = _LOWEST.reshape(2, *[1] * position.ndim)
    return np.asarray(np.abs(position - lowest - TURN / 2.0) <= TURN / 2.0 + _ROUNDING)


class Turns:
    """Counts the turns of joints over samples that arrive in order.

    A driver that wraps positions sends none beyond one turn: joints that go further are not
    wrapped.

    Attributes:
        wraps: (joints,) how often positions were wrapped; empty before the first sample.
    """

    def __init__(self) -> None:
        self.wraps: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._last: tuple[npt.NDArray[np.int64], Array] | None = None
        self._turned: Array = np.zeros(0)
        self._lowest: Array = np.zeros(1)  # which lies in each of the turns
        self._highest: Array = np.zeros(1)

    def continued(self, stamps: npt.NDArray[np.int64], position: Array) -> Array:
        """Return (samples, joints) positions that go on from those before, in rad.

        Args:
            stamps: (samples,) rising, in ns.
            position: (samples, joints) as measured, on the joint side.
        """
        if not len(stamps):
            return position
        if self._last is None:
            self._last = stamps[:1], position[:1]
            self.wraps = np.zeros(position.shape[1], dtype=np.int64)
            self._turned = np.zeros(position.shape[1])
        last, self._last = self._last, (stamps[-1:], position[-1:])
        columns = np.ascontiguousarray(position.T)  # in which extremes are found quickly
        self._lowest = np.minimum(self._lowest, columns.min(axis=1))
        self._highest = np.maximum(self._highest, columns.max(axis=1))
        largest = max(largest_step(position), float(np.abs(position[0] - last[1]).max()))
        durations = np.diff(stamps, prepend=last[0])
        longest = np.minimum(durations.max(), LONGEST_BRIDGED_NS)
        if not self._turned.any() and largest < TURN - float(_tolerance(longest)):
            return position
        before = np.concatenate([last[1], position[:-1]])
        added = added_turns(before, position, durations)
        within = (_fits(self._lowest) & _fits(self._highest)).any(axis=0)
        added = np.where(within, added, 0.0)
        self.wraps += np.count_nonzero(added, axis=0)
        turned = self._turned + np.cumsum(added, axis=0)
        self._turned = turned[-1]
        return np.asarray(position + turned)


def largest_step(position: Array) -> float:
    """Return how far any joint goes in a sample.

    In blocks that stay in the processor's cache, this takes a seventh of the time.

    Args:
        position: (samples, joints) in rad or m.
    """
    largest = 0.0
    for first in range(0, len(position) - 1, _BLOCK):
        steps = np.diff(position[first : first + _BLOCK + 1], axis=0)
        largest = max(largest, float(np.abs(steps, out=steps).max()))
    return largest


def continuous_samples(
    raw: RawSamples, joint_names: Sequence[str], where: str
) -> tuple[RawSamples, tuple[str, ...]]:
    """Return samples whose positions have no jumps of a turn, and what there is to be told.

    Args:
        raw: samples in the order of their stamps, on the joint side.
        joint_names: names of the joints.
        where: the source.
    """
    turns = Turns()
    position = turns.continued(raw.stamps, raw.position)
    if not turns.wraps.any():
        return raw, ()
    reference = raw.reference
    if reference is not None:  # that of a controller may be wrapped elsewhere, or not at all
        reference = reference + TURN * np.rint((position - reference) / TURN)
    told = tuple(
        f"{where}: the driver wraps the positions of {name} into one turn ({count} times); they "
        "were made continuous"
        for name, count in zip(joint_names, turns.wraps.tolist(), strict=True)
        if count
    )
    return replace(raw, position=position, reference=reference), told
