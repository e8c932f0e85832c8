"""Detection of a clock that was set back, as opposed to messages out of order."""

from __future__ import annotations

from robot_identification.nodes.joint_states import Sample

SETBACK_NS = 20_000_000
"""Messages overtake each other by milliseconds; a clock that is set back goes further."""


class SetbackWatch:
    """Looks at samples in order of arrival.

    A sample far behind the newest one is held until the next one comes.  Where that one lies far
    behind too, and after the one that is held, the clock was set back; otherwise the held one is
    merely late.
    """

    def __init__(self) -> None:
        self._newest: int | None = None
        self._held: Sample | None = None

    def take(self, sample: Sample) -> tuple[list[Sample], bool]:
        """Take in a sample; return those to record now, and whether the clock is set back there."""
        if self._newest is None or sample.stamp > self._newest - SETBACK_NS:
            self._newest = max(sample.stamp, self._newest or sample.stamp)
            return [*self.release(), sample], False
        held = self.release()
        if held and held[0].stamp < sample.stamp:
            self._newest = sample.stamp
            return [*held, sample], True
        self._held = sample
        return held, False

    def release(self) -> list[Sample]:
        """Return the sample that is held, if there is one, and hold it no longer."""
        held = [] if self._held is None else [self._held]
        self._held = None
        return held
