"""Samples that arrive nearly in order, put in order without keeping all of them."""

from __future__ import annotations

import numpy as np

from robot_identification.errors import SettingError
from robot_identification.signals.recording import RawSamples


class StampOrder:
    """Holds back the newest samples, so that later ones can still take their place among them.

    Attributes:
        duplicates: samples dropped because another had the same stamp.
        late: samples dropped because their place had already been passed on.

    Args:
        hold: number of samples held back; a sample that is later than that has no place left.

    Raises:
        SettingError: ``hold`` is negative.
    """

    def __init__(self, hold: int) -> None:
        if hold < 0:
            raise SettingError("hold", hold, "must not be negative")
        self.duplicates = 0
        self.late = 0
        self._hold = hold
        self._held: RawSamples | None = None
        self._passed = np.iinfo(np.int64).min

    def push(self, samples: RawSamples) -> RawSamples:
        """Take in samples in order of arrival; return those that are settled, in order of stamps.

        Velocities and references are not kept.
        """
        joined = _joined(self._held, samples)
        in_time = joined.stamps > self._passed
        self.late += int(np.count_nonzero(~in_time))
        order = np.argsort(joined.stamps, kind="stable")
        order = order[in_time[order]]
        new = np.ones(len(order), dtype=np.bool_)
        new[1:] = np.diff(joined.stamps[order]) > 0
        self.duplicates += int(np.count_nonzero(~new))
        order = order[new]
        settled = _chosen(joined, order[: max(len(order) - self._hold, 0)])
        self._held = _chosen(joined, order[len(settled.stamps) :])
        if len(settled.stamps):
            self._passed = int(settled.stamps[-1])
        return settled

    def end(self) -> RawSamples | None:
        """Return the samples that are still held back, None if there never was one."""
        held, self._held = self._held, None
        return held


def _joined(first: RawSamples | None, second: RawSamples) -> RawSamples:
    if first is None:
        return second
    return RawSamples(
        np.concatenate([first.stamps, second.stamps]),
        np.concatenate([first.position, second.position]),
        None,
        np.concatenate([first.effort, second.effort]),
    )


def _chosen(samples: RawSamples, places: np.typing.NDArray[np.intp]) -> RawSamples:
    return RawSamples(
        samples.stamps[places], samples.position[places], None, samples.effort[places]
    )
