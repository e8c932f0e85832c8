"""Contacts: external efforts beyond their thresholds, with hysteresis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_identification.dynamics.external_efforts.momentum_observer import ObservedEfforts
from robot_identification.dynamics.external_efforts.settings import ExternalEffortSettings
from robot_identification.dynamics.tree import Floats


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
    """

    stamp: int
    joint: str
    ended: bool
    effort: float
    threshold: float
    duration: float


@dataclass
class _Contact:
    """A contact under way."""

    begin: int
    effort: float
    threshold: float
    quiet_since: int | None = None


class ContactDetector:
    """Finds contacts in observed efforts.

    A contact begins with the first sample whose effort exceeds threshold and stick band.  It ends
    when the effort has stayed below a share of both for some time, or the observer begins anew.

    Args:
        names: of the joints.
        thresholds: (joints,) without the stick band, in N m or N.
        settings: hysteresis.
    """

    def __init__(
        self, names: tuple[str, ...], thresholds: Floats, settings: ExternalEffortSettings
    ) -> None:
        self._names = names
        self.thresholds = thresholds
        self._release = settings.release
        self._quiet = round(settings.release_time * 1e9)
        self._contacts: dict[int, _Contact] = {}
        self._last = 0

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints in contact."""
        return tuple(self._names[joint] for joint in sorted(self._contacts))

    def push(self, block: ObservedEfforts) -> list[ContactEvent]:
        """Take in efforts and return the events among them, in order."""
        size = np.abs(block.effort)
        threshold = self.thresholds + block.stick_band
        beyond = size > threshold
        if not (self._contacts or beyond.any()):
            self._last = int(block.stamps[-1]) if len(block.stamps) else self._last
            return []
        quiet = size < self._release * threshold
        events: list[ContactEvent] = []
        for k, stamp in enumerate(block.stamps.tolist()):
            if block.interval[k] == 0.0:
                events += [self._end(joint, self._last) for joint in sorted(self._contacts)]
            for joint in sorted({*self._contacts, *np.flatnonzero(beyond[k]).tolist()}):
                effort = float(block.effort[k, joint])
                events += self._sample(
                    stamp, joint, effort, float(threshold[k, joint]), quiet=bool(quiet[k, joint])
                )
            self._last = stamp
        return events

    def _sample(
        self, stamp: int, joint: int, effort: float, threshold: float, *, quiet: bool
    ) -> list[ContactEvent]:
        """Take in a sample of a joint that is in contact or beyond its threshold."""
        contact = self._contacts.get(joint)
        if contact is None:
            self._contacts[joint] = _Contact(stamp, effort, threshold)
            return [ContactEvent(stamp, self._names[joint], False, effort, threshold, 0.0)]
        if abs(effort) > abs(contact.effort):
            contact.effort = effort
        if not quiet:
            contact.quiet_since = None
            return []
        if contact.quiet_since is None:
            contact.quiet_since = stamp
        return [self._end(joint, stamp)] if stamp - contact.quiet_since >= self._quiet else []

    def _end(self, joint: int, stamp: int) -> ContactEvent:
        contact = self._contacts.pop(joint)
        lasted = (stamp - contact.begin) * 1e-9
        return ContactEvent(
            stamp, self._names[joint], True, contact.effort, contact.threshold, lasted
        )
