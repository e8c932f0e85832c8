"""How cost and memory grow with the number of samples and of joints.

The whole least-squares pass of a serial arm with two joints, for 1e3 to 1e7 samples handed over in
segments of 1e5, and of arms with 2 to 30 joints for 5000 samples.  Slopes are those of straight
lines through the logarithms; memory is what a pass adds to the resident memory.

Usage: python -m goals.growth, in benchmarks/
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from passes import pass_over
from threadpoolctl import threadpool_limits

from goals import robots
from goals.least_squares import processing, segment_of
from goals.robots import Arm
from robot_identification.identification.estimators.least_squares import ordinary
from robot_identification.signals.filtered import FilteredSegment

SAMPLES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
JOINTS = (2, 3, 5, 7, 10, 15, 20, 30)
_FEW, _ROUNDS = 5000, 5
_SEGMENT = 100_000
_PICTURE = Path(__file__).resolve().parents[2] / "docs" / "images" / "growth.png"
_DATA = Path(__file__).resolve().parents[1] / "growth.json"


def main() -> None:
    """Measure, print, write the figures and draw them."""
    arm = robots.chain(2)
    segments = {n: segment_of(arm, min(n, _SEGMENT)) for n in SAMPLES}
    cost(arm, segments[SAMPLES[0]], SAMPLES[0])
    by_samples = [(n, *usual_cost(arm, segment, n)) for n, segment in segments.items()]
    by_joints = []
    for joints in JOINTS:
        chain = robots.chain(joints)
        few = segment_of(chain, _FEW)
        by_joints.append((joints, usual_cost(chain, few, _FEW)[0]))
    figures = {
        "samples": by_samples,
        "joints": by_joints,
        "slope_samples": slope(by_samples[1:]),
        "slope_joints": slope(by_joints[3:]),
    }
    print(json.dumps(figures, indent=1))
    _DATA.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    draw(figures)


def usual_cost(arm: Arm, segment: FilteredSegment, samples: int) -> tuple[float, float]:
    """Return median seconds of a pass, and the most MB that one adds, after one for nothing."""
    cost(arm, segment, samples)
    found = np.array([cost(arm, segment, samples) for _ in range(_ROUNDS)])
    return float(np.median(found[:, 0])), float(found[:, 1].max())


def cost(arm: Arm, segment: FilteredSegment, samples: int) -> tuple[float, float]:
    """Return processor seconds of a pass, and MB that it adds to the resident memory.

    Long recordings repeat the segment, so that only the pass itself can make memory grow.
    """
    segments = [segment] * -(-samples // segment.samples)
    before = _resident()
    resident, begin = [before], time.process_time()
    source = pass_over(arm.base, segments, processing(arm.joints))
    seen = replace(source, progress=lambda _: resident.append(_resident()))
    ordinary(seen.rows("none").merged(), arm.base.names)
    return time.process_time() - begin, max(resident) - before


def slope(points: list[tuple[float, ...]]) -> float:
    """Return the slope of a straight line through the logarithms of the first two entries."""
    x, y = (np.log([point[i] for point in points]) for i in (0, 1))
    return float(np.polyfit(x, y, 1)[0])


def draw(figures: dict[str, Any]) -> None:
    """Draw seconds over samples and joints, and memory over samples."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    picture, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    n, seconds, memory = np.array(figures["samples"]).T
    left.loglog(n, seconds, "o-")
    left.set(xlabel="samples", ylabel="s", title=f"slope {figures['slope_samples']:.2f}")
    middle.semilogx(n, memory, "o-")
    middle.set(xlabel="samples", ylabel="MB added", title="resident memory", ylim=(0, 10))
    joints, taken = np.array(figures["joints"]).T
    right.loglog(joints, 1e6 * taken / _FEW, "o-")
    right.set(xlabel="joints", ylabel="us per sample")
    right.set_xticks(JOINTS, [str(joints) for joints in JOINTS])
    right.minorticks_off()
    right.set_title(f"slope {figures['slope_joints']:.2f} from {JOINTS[3]} joints")
    picture.savefig(_PICTURE, dpi=110)


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
