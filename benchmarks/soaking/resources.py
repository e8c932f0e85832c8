"""What processes use while they run: memory and processor time, as the kernel counts them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from soaking.trend import trend

_MINUTE = 60.0


@dataclass(frozen=True)
class Usage:
    """What a process uses at one time.

    Attributes:
        seconds: processor time so far.
        resident: resident memory, MB.
        anonymous: part of it that is backed by no file and not shared, MB.
    """

    seconds: float
    resident: float
    anonymous: float

    @classmethod
    def of(cls, process: int) -> Usage:
        """Return what a process uses."""
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:]
        kilobytes = {line.split(":")[0]: int(line.split()[1]) for line in lines}
        return cls(
            seconds=(int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"),
            resident=kilobytes["Rss"] * 1024e-6,
            anonymous=kilobytes["Anonymous"] * 1024e-6,
        )


@dataclass
class Resources:
    """What processes have used since the beginning.

    Attributes:
        processes: name -> process.
        times: times at which that was looked up, s from the beginning.
        usages: name -> what was used at these times.
    """

    processes: Mapping[str, int]
    times: list[float] = field(default_factory=list)
    usages: dict[str, list[Usage]] = field(default_factory=dict)

    def look(self, time: float) -> None:
        """Look up what is used now, ``time`` s from the beginning."""
        self.times.append(time)
        for name, process in self.processes.items():
            self.usages.setdefault(name, []).append(Usage.of(process))

    def summary(self, name: str, warm_up: float) -> dict[str, Any]:
        """Return shares of a core and memory of a process, and how it grew after the warm-up.

        Args:
            name: of the process.
            warm_up: time that is left out of the slopes, s.
        """
        times, used = np.array(self.times), self.usages[name]
        seconds = np.array([u.seconds for u in used])
        found: dict[str, Any] = {"share_of_a_core": _share(times, seconds)}
        found["share_of_a_core_busiest_minute"] = max(
            (
                _share(times[part], seconds[part])
                for begin in np.arange(0.0, times[-1] - _MINUTE, _MINUTE)
                if (part := (times >= begin) & (times <= begin + _MINUTE)).sum() > 1
            ),
            default=_share(times, seconds),
        )
        warm = times >= warm_up
        for kind in ("resident", "anonymous"):
            megabytes = np.array([getattr(u, kind) for u in used])
            found[f"{kind}_mb"] = {
                "first": megabytes[0],
                "warm": megabytes[warm][0] if warm.any() else None,
                "last": megabytes[-1],
                "largest": megabytes.max(),
            }
            if warm.sum() >= 40:
                found[f"{kind}_mb_per_h"] = asdict(trend(times[warm] / 3600.0, megabytes[warm]))
        return found

    def series(self) -> dict[str, Any]:
        """Return everything that was looked up."""
        return {
            "time_s": [round(time, 2) for time in self.times],
            **{
                name: {
                    "resident_mb": [round(u.resident, 3) for u in used],
                    "anonymous_mb": [round(u.anonymous, 3) for u in used],
                    "processor_s": [u.seconds for u in used],
                }
                for name, used in self.usages.items()
            },
        }


def _share(times: np.ndarray, seconds: np.ndarray) -> float:
    return float((seconds[-1] - seconds[0]) / (times[-1] - times[0])) if len(times) > 1 else 0.0
