"""Contacts: external efforts beyond their thresholds, with hysteresis."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from robot_identification.dynamics.external_efforts.levels import JudgedEfforts
from robot_identification.dynamics.external_efforts.settings import ExternalEffortSettings
from robot_identification.dynamics.external_efforts.settled import SettledMean

SETTLING = 4.0
"""Time constants after which an effort has settled behind the filters of the observer."""


@dataclass(frozen=True)
class ContactEvent:
    """Beginning or end of an external effort on a joint that exceeds its threshold.

    Attributes:
        stamp: of the sample in ns.
        joint: name of the joint.
        ended: whether it has ended; else it has begun.
        effort: of largest magnitude since it began, in N m or N.
        threshold: magnitude that it exceeded when it began, in N m or N.
        duration: time since it began, in s.
        settled: mean over the contact, weighted with what is known of each sample, without its
            first and last moments; NaN where it has just begun or was shorter than those.
        settled_deviation: standard deviation of that; infinite where it is NaN.
    """

    stamp: int
    joint: str
    ended: bool
    effort: float
    threshold: float
    duration: float
    settled: float = math.nan
    settled_deviation: float = math.inf


@dataclass
class _Contact:
    """A contact under way.

    Attributes:
        begin: stamp in ns.
        effort: of largest magnitude.
        threshold: that it exceeded.
        mean: over the samples that are well inside.
        waiting: the last samples, which may belong to its end: stamp, then arguments of the mean.
        quiet_since: stamp from which on it may have ended.
    """

    begin: int
    effort: float
    threshold: float
    mean: SettledMean
    waiting: deque[tuple[int, tuple[float, ...]]] = field(default_factory=deque)
    quiet_since: int | None = None

    def add(self, stamp: int, sample: tuple[float, ...], settling: int) -> None:
        """Take in a sample in contact; older ones that are well inside go into the mean."""
        while self.waiting and stamp - self.waiting[0][0] >= settling:
            self.mean.add(*(np.array([value]) for value in self.waiting.popleft()[1]))
        if stamp - self.begin >= settling:
            self.waiting.append((stamp, sample))


class ContactDetector:
    """Finds contacts in judged efforts.

    A contact begins with the first sample whose effort exceeds its threshold.  It ends when the
    effort has stayed below a share of that for some time, the observer begins anew, or nobody
    looks for contacts any more (:meth:`end`).

    Args:
        names: of the joints.
        settings: hysteresis, time constant.
    """

    def __init__(self, names: tuple[str, ...], settings: ExternalEffortSettings) -> None:
        self._names = names
        self._release = settings.release
        self._quiet = round(settings.release_time * 1e9)
        self._time_constant = settings.time_constant
        self._settling = round(SETTLING * settings.time_constant * 1e9)
        self._contacts: dict[int, _Contact] = {}
        self._last = 0

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints in contact."""
        return tuple(self._names[joint] for joint in sorted(self._contacts))

    def push(self, block: JudgedEfforts) -> list[ContactEvent]:
        """Take in efforts and return the events among them, in order."""
        size = np.abs(block.effort)
        beyond = size > block.threshold
        if not (self._contacts or beyond.any()):
            self._last = int(block.stamps[-1]) if len(block.stamps) else self._last
            return []
        quiet = size < self._release * block.threshold
        events: list[ContactEvent] = []
        for k, stamp in enumerate(block.stamps.tolist()):
            if block.interval[k] == 0.0:
                events += self.end()
            for joint in sorted({*self._contacts, *np.flatnonzero(beyond[k]).tolist()}):
                events += self._sample(block, k, stamp, joint, quiet=bool(quiet[k, joint]))
            self._last = stamp
        return events

    def end(self) -> list[ContactEvent]:
        """End all contacts with the last sample that came, and return these events, in order."""
        return [self._end(joint, self._last) for joint in sorted(self._contacts)]

    def _sample(
        self, block: JudgedEfforts, k: int, stamp: int, joint: int, *, quiet: bool
    ) -> list[ContactEvent]:
        """Take in sample k of a joint that is in contact or beyond its threshold."""
        contact, effort = self._contacts.get(joint), float(block.effort[k, joint])
        if contact is None:
            threshold = float(block.threshold[k, joint])
            mean = SettledMean(self._time_constant)
            self._contacts[joint] = _Contact(stamp, effort, threshold, mean)
            return [ContactEvent(stamp, self._names[joint], False, effort, threshold, 0.0)]
        if abs(effort) > abs(contact.effort):
            contact.effort = effort
        if not quiet:
            contact.quiet_since = None
            known = float(block.deviation[k, joint]), float(block.lasting[k, joint])
            sample = float(block.interval[k]), effort, *known
            contact.add(stamp, sample, self._settling)
            return []
        if contact.quiet_since is None:
            contact.quiet_since = stamp
        return [self._end(joint, stamp)] if stamp - contact.quiet_since >= self._quiet else []

    def _end(self, joint: int, stamp: int) -> ContactEvent:
        contact = self._contacts.pop(joint)
        return ContactEvent(
            stamp,
            self._names[joint],
            True,
            contact.effort,
            contact.threshold,
            (stamp - contact.begin) * 1e-9,
            *contact.mean.value,
        )
