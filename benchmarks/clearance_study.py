"""Certified motions among random boxes, judged by another program: nothing is nearer than stated.

Random motions that the certificate passes are sampled every 10 ms, with braking from random moments
at random shares of the speed, by Pinocchio's kinematics and coal on the meshes as they are.  Of
motions that are free with a centimetre to spare it is counted how many the certificate refuses; of
plans, how many touch something where nothing is known of obstacles.

Usage: clearance_study.py [--arms NAME...] [--motions N] [--plans N] [--seed N]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before NumPy is imported
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))

import numpy as np
from clearances.arms import ARMS, PACKAGES, Arm, arm, boxes, described
from clearances.judge import Judge

from made_up_plans import random_plan
from robot_identification.errors import NotCertifiedError
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.motions.approach import approach
from robot_identification.excitation.motions.braking import braking_times, release_time
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.plan import plan
from robot_identification.excitation.plan_settings import PlanSettings
from robot_identification.excitation.search.points import PointSettings

STATED = 0.02  # m
SPARE = 0.01  # m
PERIOD = 0.01  # s, between samples of the run
BRAKING_SAMPLES = 60
PLAN_LASTS, ROWS = 8.0, 8  # s, intervals
CELL_LASTS = 20
"""Motions after which other boxes take the place of those before."""


def main() -> int:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arms", nargs="+", default=list(ARMS), choices=ARMS)
    parser.add_argument("--motions", type=int, default=20, help="certified motions of each arm")
    parser.add_argument("--plans", type=int, default=0, help="plans of each arm, with approaches")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    violated = 0
    for name in options.arms:
        with tempfile.TemporaryDirectory() as folder:
            one = arm(name, Path(folder))
            for study, count in ((_motions, options.motions), (_plans, options.plans)):
                if count:
                    found = study(one, count, options.seed, Path(folder))
                    violated += found["nearer than stated"]
                    print(json.dumps({name: found}), flush=True)
    return int(violated > 0)


def _motions(one: Arm, count: int, seed: int, folder: Path) -> dict[str, float]:
    """Judge random motions that the certificate passes, and those that it refuses."""
    rng, limits = np.random.default_rng(seed), MotionLimits.of(one.robot)
    certified = tried = refused = violated = 0
    seconds = []
    while certified < count:
        if tried % CELL_LASTS == 0:
            model = described(one, boxes(rng), folder)
            around, judge = Surroundings(collisions=model), Judge(one.path, PACKAGES, model)
        tried += 1
        run = _small(one, rng, limits)
        begin = time.perf_counter()
        clearance = around.clearance(run, limits)
        seconds.append(time.perf_counter() - begin)
        if clearance.kept:
            certified += 1
            violated += not judge.keeps(_sampled(run, limits, rng, 5), STATED)
        else:
            refused += judge.keeps(_sampled(run, limits, rng, 20), STATED + SPARE)
    return {
        "certified": certified,
        "tried": tried,
        "nearer than stated": violated,
        "free with a centimetre to spare, refused": refused,
        "share refused": refused / (certified + refused),
        "seconds, median": float(np.median(seconds)),
        "seconds, longest": float(np.max(seconds)),
    }


def _plans(one: Arm, count: int, seed: int, folder: Path) -> dict[str, object]:
    """Judge plans among boxes, with the ways to their starts; and plans that know of nothing."""
    rng, limits = np.random.default_rng(seed), MotionLimits.of(one.robot)
    made = tried = violated = ways = around_something = touching = 0
    figures: list[tuple[bool, float, float]] = []
    while made < count:
        tried += 1
        model = described(one, boxes(rng), folder)
        around, judge = Surroundings(collisions=model), Judge(one.path, PACKAGES, model)
        points = PointSettings(starts=1, seed=tried)
        settings = PlanSettings(model="dynamic", points=points, duration=PLAN_LASTS, rows=ROWS)
        try:
            if not made:
                plan(one.robot, settings, surroundings=around)  # compiled code is loaded
            begin = time.process_time()
            found = plan(one.robot, settings, surroundings=around)
        except NotCertifiedError:
            continue
        between = time.process_time()
        blind = plan(one.robot, settings)
        end = time.process_time()
        made += 1
        violated += not judge.keeps(_sampled(found.trajectory, limits, rng, 50), STATED)
        posture = around.free_posture(limits, rng.uniform(limits.lower, limits.upper))
        way, certificate = approach(one.robot, found.trajectory, posture, surroundings=around)
        if certificate.passed:
            ways += 1
            around_something += len(way.times) > 2
            violated += not judge.keeps(_sampled(way, limits, rng, 50), STATED)
        free = judge.keeps(_postures(blind.trajectory), 0.0)
        touching += not free
        worse = found.after.condition_number / blind.after.condition_number
        figures.append((free, worse, (between - begin) / (end - between)))
    return {
        "plans": made,
        "tried": tried,
        "ways to the start": ways,
        "of them around something": around_something,
        "nearer than stated": violated,
        "plans without knowledge of obstacles that touch something": touching,
        "condition number over theirs": [worse for _, worse, _ in figures],
        "where theirs touch nothing": [worse for free, worse, _ in figures if free],
        "time over theirs": [longer for _, _, longer in figures],
    }


def _sampled(
    run: Trajectory, limits: MotionLimits, rng: np.random.Generator, brakings: int
) -> np.ndarray:
    """Return postures of a motion, and of braking from random moments of it."""
    return np.vstack([_postures(run), *(_braked(run, limits, rng) for _ in range(brakings))])


def _postures(run: Trajectory) -> np.ndarray:
    """Return postures of a motion."""
    return run.sample(np.arange(0.0, run.duration, PERIOD))[0]


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
