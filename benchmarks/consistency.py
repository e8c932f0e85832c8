"""Published parameter sets of random robots: how many cannot exist, how many are refused.

    python benchmarks/consistency.py [CASES] [FIRST_SEED]

Every case draws a robot (1 to 7 joints, revolute and prismatic, branched, some with a coupled
wrist), true parameters (bodies from round to needles), a prior (near, far, impossible, with gaps,
or none), noise from 0 to half of the effort, short and long recordings, and a space.  What is
published goes through a URDF text, is read again, and tested with the checks of the package and,
independently, by principal moments.  A case counts as feasible always: consistent parameters exist
whatever the data, at some loss of fit.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from pathlib import Path

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))

import numpy as np

from random_calibrations import publish, random_case, survives_urdf
from robot_identification.errors import NotExcitedError, RobotIdentificationError

CASES = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
FIRST = int(sys.argv[2]) if len(sys.argv) > 2 else 0


def main() -> None:
    """Run the cases and print the counts."""
    counts: Counter[str] = Counter()
    steps: Counter[str] = Counter()
    seconds, increases = [], []
    for seed in range(FIRST, FIRST + CASES):
        case = random_case(np.random.default_rng(seed))
        begin = time.perf_counter()
        try:
            calibrated = publish(case)
        except NotExcitedError:
            counts["not determined by the data"] += 1
            continue
        except RobotIdentificationError as error:
            counts["refused"] += 1
            print(f"seed {seed}: {type(error).__name__}: {error}")
            continue
        seconds.append(time.perf_counter() - begin)
        increases.append(calibrated.error.total - calibrated.error_free.total)
        steps[calibrated.step.value] += 1
        if survives_urdf(case.robot, calibrated):
            counts["published"] += 1
        else:
            counts["INCONSISTENT"] += 1
            print(f"seed {seed}: inconsistent after the round trip")
    feasible = sum(counts.values()) - counts["not determined by the data"]
    print(f"{CASES} cases: {dict(counts)}; {dict(steps)}")
    print(f"published {counts['published'] / max(feasible, 1):.4%} of {feasible} feasible cases")
    print(f"seconds per case: median {np.median(seconds):.4f}, largest {max(seconds):.3f}")
    share = np.quantile(increases, [0.5, 0.9, 0.99])
    print("added to the relative error: median {:.2e}, 90 % {:.2e}, 99 % {:.2e}".format(*share))


if __name__ == "__main__":
    main()
