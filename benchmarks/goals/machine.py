"""The machine that a run is made on, and what it can do at best."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

_ROOT = Path(__file__).resolve().parents[2]
_PACKAGES = (
    "numpy",
    "scipy",
    "numba",
    "pin",
    "figaroh",
    "mujoco",
    "rosbags",
    "robot_identification",
)
_ORDER = 1200
_COPIED = 12_000_000


@dataclass(frozen=True)
class Peaks:
    """Limits of the machine.

    Attributes:
        product_gflops: matrix product of one thread, 1e9 operations a second.
        product_gflops_two: likewise of two threads.
        copy_gbytes: bytes read and written by a copy of one thread, 1e9 a second.
    """

    product_gflops: float
    product_gflops_two: float
    copy_gbytes: float

    def share(self, operations: float, moved: float, seconds: float) -> str:
        """Return in words what shares of the limits some work reaches.

        Args:
            operations: operations on numbers.
            moved: bytes that must be read and written.
            seconds: how long it takes.
        """
        rate, flow = operations / seconds / 1e9, moved / seconds / 1e9
        return (
            f"{rate:.1f} GF/s, {100.0 * rate / self.product_gflops:.0f} % of the peak; "
            f"{flow:.1f} GB/s, {100.0 * flow / self.copy_gbytes:.0f} % of a copy"
        )


def peaks() -> Peaks:
    """Measure the limits: the best of several runs each."""
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, _ORDER, _ORDER))
    x, y = np.ones(_COPIED), np.zeros(_COPIED)
    product, operations = (lambda: np.matmul(a, b, out=c)), 2.0 * _ORDER**3
    with threadpool_limits(1):
        one = operations / _best(product, time.process_time)
        copied = 16.0 * _COPIED / _best(lambda: np.copyto(y, x), time.process_time)
    with threadpool_limits(2):
        two = operations / _best(product, time.perf_counter)
    return Peaks(one / 1e9, two / 1e9, copied / 1e9)


def _best(work: Callable[[], object], clock: Callable[[], float], runs: int = 9) -> float:
    """Return the least of the times of several runs: of the processor or of the clock."""
    seconds = []
    for _ in range(runs):
        begin = clock()
        work()
        seconds.append(clock() - begin)
    return min(seconds)


def description(found: Peaks) -> dict[str, Any]:
    """Return the machine, the versions and the commit as plain data."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "cores_used": len(os.sched_getaffinity(0)),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "peaks": vars(found),
        "load_at_start": round(os.getloadavg()[0], 1),
        "commit": _git("rev-parse", "HEAD"),
        "changed": bool(_git("status", "--porcelain", "--", "robot_identification", "benchmarks")),
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _git(*words: str) -> str:
    found = subprocess.run(
        ["git", "-C", str(_ROOT), *words], capture_output=True, text=True, check=False
    )
    return found.stdout.strip()
