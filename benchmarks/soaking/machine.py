"""What the nodes ran on, and how much of it was theirs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

_POLICIES = {os.SCHED_OTHER: "other", os.SCHED_RR: "round robin", os.SCHED_FIFO: "first in"}
_STOLEN = 7  # field of /proc/stat: time in which a virtual machine's host ran something else


class Machine:
    """Load and stolen time of a machine, as the kernel counts them."""

    def __init__(self) -> None:
        self._loads: list[float] = []
        self._stolen: list[float] = []
        self._before = _ticks()

    def look(self) -> None:
        """Look up load and stolen time since the last look."""
        now = _ticks()
        passed = now - self._before
        self._before = now
        self._loads.append(os.getloadavg()[0])
        self._stolen.append(float(passed[_STOLEN] / max(passed.sum(), 1.0)))

    def summary(self) -> dict[str, Any]:
        """Return cores, scheduling, mean and largest load, and shares of time that were stolen."""
        return {
            "cores": os.cpu_count(),
            "scheduling": _POLICIES.get(os.sched_getscheduler(0), "another"),
            "priority": os.sched_getparam(0).sched_priority,
            "load_mean": float(np.mean(self._loads)) if self._loads else 0.0,
            "load_largest": max(self._loads, default=0.0),
            "stolen_mean": float(np.mean(self._stolen)) if self._stolen else 0.0,
            "stolen_largest": max(self._stolen, default=0.0),
        }


def _ticks() -> np.ndarray:
    """Return the time that all cores have spent so far in each of the ways that there are."""
    first = Path("/proc/stat").read_text().splitlines()[0]
    return np.array(first.split()[1:9], dtype=np.float64)
