"""Exciting trajectories beside the published figures and beside random trajectories.

Usage: excitation.py [table2] [points] [plans] [gradient]     (all by default)

table2    condition numbers of random sequences of points, ten draws for each number of rows
points    three_dof, r = 15, 20, 30: ten seeds of the optimisation of points alone
plans     TX-40 and UR10: planned trajectories of three seeds against the best of 100 random ones
          of about the same duration and the same limits, drawn three times; three_dof: motions
          that keep all limits
gradient  cost of criterion and exact gradient against finite differences
"""

from __future__ import annotations

import os
import sys
import time

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np

from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.random_points import (
    RandomPointsSettings,
    random_points,
)
from robot_identification.excitation.objective.criterion import Criterion, condition
from robot_identification.excitation.objective.energy_rows import EnergyObservation
from robot_identification.excitation.plan import plan
from robot_identification.excitation.plan_settings import PlanSettings
from robot_identification.excitation.search.points import PointSettings, optimise_points
from robot_identification.excitation.search.problem import point_problem
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.robot.files.loading import load_robot

PUBLISHED = {
    15: (5665.0, 27994.0, 94585.0, 53.0),
    20: (937.3, 1945.0, 2960.0, 30.0),
    30: (402.6, 954.0, 1698.9, 11.16),
    50: (477.2, 586.1, 750.5, None),
    100: (409.9, 496.4, 690.9, None),
    200: (382.9, 438.7, 516.2, None),
    300: (363.0, 418.2, 489.9, None),
    500: (380.4, 422.1, 460.9, None),
}


def three_dof() -> tuple[EnergyObservation, MotionLimits]:
    """Return the energy model of the published example, and its limits."""
    robot = load_robot("three_dof")
    return EnergyObservation(base_parameters(robot)), MotionLimits.of(robot)


def table2() -> None:
    """Print condition numbers of random sequences for two ranges of the velocities."""
    observation, limits = three_dof()
    print("Table 2, random sequences: min / mean / max of ten draws")
    print("   r  published                  +-pi, +-2 rad/s            +-pi, +-0.8 rad/s")
    for rows, (low, mean, high, _) in PUBLISHED.items():
        cells = [f"{low:8.0f} {mean:8.0f} {high:8.0f}"]
        for share in (1.0, 0.4):
            tight = limits.tightened(velocity=share)
            found = []
            for seed in range(10):
                rng = np.random.default_rng(seed)
                filling = point_problem(observation, Criterion(), tight, np.ones(rows), rng).filling
                found.append(condition(observation.rows(filling)))
            cells.append(f"{min(found):8.0f} {np.mean(found):8.0f} {max(found):8.0f}")
        print(f"{rows:4d}  " + "  ".join(cells))


def points() -> None:
    """Print what ten seeds of the optimisation of points reach."""
    observation, limits = three_dof()
    for rows in (15, 20, 30):
        reached = []
        for seed in range(10):
            begin = time.perf_counter()
            found = optimise_points(observation, limits, np.ones(rows), PointSettings(seed=seed))
            seconds = time.perf_counter() - begin
            after, before = found.after, found.before
            reached.append((after.condition_number, after.equilibrium, seconds))
            print(
                f"r = {rows} seed {seed}: Cond {before.condition_number:.4g} -> "
                f"{after.condition_number:.2f}, S {before.equilibrium:.3g} -> "
                f"{after.equilibrium:.0f}, {found.variables} variables, {seconds:.1f} s",
                flush=True,
            )
        worst, middle, best = (f(np.array(reached), axis=0) for f in (np.max, np.median, np.min))
        for name, figures in (("worst", worst), ("median", middle), ("best", best)):
            print(
                f"r = {rows} {name:6s}: Cond {figures[0]:.2f}, S {figures[1]:.0f}, "
                f"{figures[2]:.1f} s; published Cond {PUBLISHED[rows][3]}"
            )


def plans() -> None:
    """Print planned trajectories of several seeds against the best of 100 random ones."""
    for name in ("ur10", "tx40"):
        robot = load_robot(name)
        random = _best_random(name, 30.0)
        for best, duration in random:
            print(f"{name}: best of 100 random Cond {best:.1f} in {duration:.1f} s", flush=True)
        for seed in range(3):
            settings = PlanSettings(model="dynamic", points=PointSettings(starts=3, seed=seed))
            found = plan(robot, settings)
            number = found.trajectory_condition_number
            ratios = ", ".join(f"{best / number:.2f}" for best, _ in random)
            print(
                f"{name} seed {seed}: planned Cond {number:.1f} in {found.trajectory.duration:.1f} "
                f"s, {found.seconds:.1f} s of planning; ratios {ratios}; certified "
                f"{found.certificate.passed}",
                flush=True,
            )
    for seed in range(3):
        settings = PlanSettings(points=PointSettings(starts=3, seed=seed))
        found = plan(load_robot("three_dof"), settings)
        print(
            f"three_dof seed {seed}, all limits kept: Cond {found.before.condition_number:.4g} -> "
            f"{found.after.condition_number:.2f}, S {found.before.equilibrium:.3g} -> "
            f"{found.after.equilibrium:.0f}, {found.trajectory.duration:.1f} s long, planned in "
            f"{found.seconds:.1f} s",
            flush=True,
        )


def _best_random(name: str, duration: float) -> list[tuple[float, float]]:
    """Return smallest condition number and its duration of 100 random trajectories, three times."""
    robot = load_robot(name)
    count, length = 4, 0.0
    while length < duration:
        count += 1
        settings = RandomPointsSettings(points=count, draws=3, speed=1.0, reach=1.0, seed=1)
        length = random_points(robot, settings).trajectory.duration
    results = []
    for seed in (1, 2, 3):
        settings = RandomPointsSettings(points=count, draws=100, speed=1.0, reach=1.0, seed=seed)
        found = random_points(robot, settings)
        results.append((found.condition_number, found.trajectory.duration))
    return results


def gradient() -> None:
    """Print the cost of the criterion with its gradient, against finite differences."""
    observation, limits = three_dof()
    rng = np.random.default_rng(0)
    problem = point_problem(observation, Criterion(), limits, np.ones(30), rng)
    z = problem.random_start(rng)
    problem.smooth(z, 2.0, 0.2)
    exact, differences = [], []
    for _ in range(30):
        begin = time.perf_counter()
        problem.smooth(z, 2.0, 0.2)
        exact.append(time.perf_counter() - begin)
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(problem.variables + 1):
            problem.value(z)
        differences.append(time.perf_counter() - begin)
    ours, theirs = np.median(exact), np.median(differences)
    print(
        f"criterion and exact gradient, 155 variables: {1e3 * ours:.3f} ms; finite differences "
        f"{1e3 * theirs:.1f} ms; {theirs / ours:.0f} times"
    )


PARTS = {"table2": table2, "points": points, "plans": plans, "gradient": gradient}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
