"""Certify random plans and the same plans broken in every way.

None that violates a limit on a grid of 400 places per interval may be certified, and at least 99 %
of the valid ones must be.

Usage: certificates.py [NUMBER]     (100 000 plans by default, half of them broken)
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))

import numpy as np

from made_up_plans import broken, random_plan, violates
from robot_identification.excitation.certification.certificate import certify_values
from robot_identification.robot.files.loading import load_robot

ROBOTS = ("three_dof", "tx40")
BATCH = 500


def batch(number: int) -> np.ndarray:
    """Return counts: valid, valid and certified, broken, violating, violating and certified."""
    rng = np.random.default_rng(number)
    robot = load_robot(ROBOTS[number % 2])
    counts = np.zeros(5, dtype=int)
    for _ in range(BATCH):
        trajectory = random_plan(robot, rng, points=int(rng.integers(2, 6)))
        t = trajectory
        values = (t.joint_names, t.times, t.positions, t.velocities, t.accelerations)
        counts[:2] += 1, certify_values(robot, *values).passed
        other, changed = broken(robot, trajectory, rng)
        wrong = violates(other, *changed)
        counts[2:] += 1, wrong, wrong and certify_values(other, *changed).passed
    return counts


def main() -> None:
    """Run all batches on two processes."""
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    begin = time.monotonic()
    with ProcessPoolExecutor(2) as pool:
        counts = sum(pool.map(batch, range(max(1, wanted // (2 * BATCH)))))
    valid, certified, spoilt, wrong, missed = (int(count) for count in counts)
    print(f"{valid} valid plans, {certified} certified ({100.0 * certified / valid:.3f} %)")
    print(f"{spoilt} broken plans, {wrong} of them wrong, {missed} of these certified")
    print(f"{time.monotonic() - begin:.0f} s on two processes")


if __name__ == "__main__":
    main()
