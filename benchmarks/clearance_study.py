"""Certified motions among random boxes, judged by another program: nothing is nearer than stated.

Random motions that the certificate passes are sampled ten times finer than anything in it, with
braking from random moments at random shares of the speed, by Pinocchio's kinematics and coal on the
meshes as they are.  Of motions that are free with a centimetre to spare it is counted how many the
certificate refuses.

Usage: clearance_study.py [--arms NAME...] [--motions N] [--brakings N] [--seed N]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))

import numpy as np
from clearances.arms import ARMS, PACKAGES, Arm, arm, boxes, described
from clearances.judge import Judge

from made_up_plans import random_plan
from robot_identification.excitation.braking import braking_times, release_time
from robot_identification.excitation.limits import MotionLimits
from robot_identification.excitation.surroundings import Surroundings
from robot_identification.excitation.trajectory import Trajectory

STATED = 0.02  # m
SPARE = 0.01  # m
PERIOD = 0.01  # s, between samples of the run
BRAKING_SAMPLES = 60
CELL_LASTS = 20
"""Motions after which other boxes take the place of those before."""


def main() -> int:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arms", nargs="+", default=list(ARMS), choices=ARMS)
    parser.add_argument("--motions", type=int, default=20, help="certified motions of each arm")
    parser.add_argument("--brakings", type=int, default=5, help="of each motion")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found = {}
    for name in options.arms:
        with tempfile.TemporaryDirectory() as folder:
            one = arm(name, Path(folder))
            found[name] = _study(one, options, Path(folder))
        print(json.dumps({name: found[name]}), flush=True)
    return int(any(one["nearer than stated"] for one in found.values()))


def _study(one: Arm, options: argparse.Namespace, folder: Path) -> dict[str, object]:
    rng, limits = np.random.default_rng(options.seed), MotionLimits.of(one.robot)
    certified = tried = free = refused = 0
    violated, seconds = 0, []
    while certified < options.motions:
        if tried % CELL_LASTS == 0:
            model = described(one, boxes(rng), folder)
            around, judge = Surroundings(collisions=model), Judge(one.path, PACKAGES, model)
        tried += 1
        run = _small(one, rng, limits)
        begin = time.perf_counter()
        clearance = around.clearance(run, limits)
        seconds.append(time.perf_counter() - begin)
        brakings = [_braked(run, limits, rng) for _ in range(options.brakings)]
        moved = run.sample(np.arange(0.0, run.duration, PERIOD))[0]
        if clearance.kept:
            certified += 1
            violated += not judge.keeps(np.vstack([moved, *brakings]), STATED)
            continue
        more = [_braked(run, limits, rng) for _ in range(20)]
        if judge.keeps(np.vstack([moved[::5], *more]), STATED + SPARE):
            free, refused = free + 1, refused + 1
    free += certified
    return {
        "certified": certified,
        "tried": tried,
        "nearer than stated": violated,
        "free with a centimetre to spare, refused": refused,
        "share refused": refused / max(free, 1),
        "seconds, median": float(np.median(seconds)),
        "seconds, longest": float(np.max(seconds)),
    }


def _small(one: Arm, rng: np.random.Generator, limits: MotionLimits) -> Trajectory:
    """Return a random motion, drawn in towards a random posture so that some are free."""
    run = random_plan(one.robot, rng, points=int(rng.integers(3, 8)))
    share, middle = rng.uniform(0.05, 0.5), limits.middle
    goal = middle + 0.6 * limits.half_range * rng.uniform(-1.0, 1.0, len(middle))
    scaled = goal * (1.0 - share) + share * run.positions
    return Trajectory(
        run.joint_names, run.times, scaled, share * run.velocities, share * run.accelerations
    )


def _braked(run: Trajectory, limits: MotionLimits, rng: np.random.Generator) -> np.ndarray:
    """Return postures on the way to rest from a random moment, at a random share of the speed.

    The acceleration falls to zero, then every joint brakes on its own.
    """
    share = rng.uniform(0.2, 1.0)
    q, qd, qdd = (x[0] for x in run.sample(rng.uniform(0.0, run.duration)))
    v, a, u = share * qd, share**2 * qdd, release_time(limits)
    x = np.linspace(0.0, 1.0, 5)[:, None]
    released = q + v * u * x + a * u**2 * (x**2 / 2.0 - x**3 / 6.0)
    w = v + a * u / 2.0
    own = braking_times(limits, w[None])[0]
    s = np.linspace(0.0, 1.0, BRAKING_SAMPLES)[:, None]
    s = np.minimum(s * own.max() / np.where(own > 0.0, own, 1.0), 1.0)
    return np.vstack([released, released[-1] + w * own * (s - s**3 + s**4 / 2.0)])


if __name__ == "__main__":
    sys.exit(main())
