"""Tables 3 to 12 of Gautier and Khalil 1992: noise on the energy model, 200 draws each.

Noise has the standard deviation k/4 of the largest |Y| on Y, and k/4 of the position ranges and of
the largest velocities on the points that W is made from.  The published figures are single draws.
"informed" points are optimised with a prior model whose values are 20 % off, five such priors.

Usage: noise_study.py [DRAWS]
"""

from __future__ import annotations

import os
import sys

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from dataclasses import replace

import numpy as np

from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.objective.criterion import Criterion, condition, equilibrium
from robot_identification.excitation.objective.curve import Points
from robot_identification.excitation.objective.energy_rows import EnergyObservation
from robot_identification.excitation.search.points import PointSettings, optimise_points
from robot_identification.excitation.search.problem import point_problem
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.estimators.energy import solve
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values

ROBOT = load_robot("three_dof")
BASE = base_parameters(ROBOT)
OBSERVATION = EnergyObservation(BASE)
LIMITS = MotionLimits.of(ROBOT)
TRUTH = BASE.values(load_values("three_dof", ROBOT)[BASE.columns])
PUBLISHED = {
    (30, "Y"): ((4.7e-4, 0.007, 0.059), (0.018, 0.161, 1.796)),
    (30, "W"): ((0.0041, 0.0384, 0.4691), (0.013, 0.1853, 2.0129)),
    (30, "both"): ((0.0042, 0.0559, 0.4749), (0.010, 0.129, 1.662)),
    (15, "Y"): ((0.0047, 0.05, 0.53), (0.39, 5.35, 53.55)),
    (15, "W"): ((0.0057, 0.0923, 0.7935), (0.75, 1.57, 104.5)),
    (15, "both"): ((0.016, 0.121, 0.677), (0.548, 3.64, 86.0)),
}
RANDOM_CONDITION = {30: 1020.0, 15: 30790.0}


def random_sequence(rows: int) -> Points:
    """Return the random points of which the condition number is nearest to the published one."""
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        for share in (1.0, 0.5):
            limits = LIMITS.tightened(velocity=share)
            points = point_problem(OBSERVATION, Criterion(), limits, np.ones(rows), rng).filling
            away = abs(np.log(condition(OBSERVATION.rows(points)) / RANDOM_CONDITION[rows]))
            found.append((away, seed, share, points))
    return min(found, key=lambda entry: entry[:3])[3]


def errors(points: Points, k: float, noisy: str, draws: int) -> float:
    """Return the median relative error of the estimate."""
    rng = np.random.default_rng(0)
    exact = OBSERVATION.rows(points)
    Y = exact @ TRUTH
    found = []
    for _ in range(draws):
        W, y = exact, Y
        if noisy in ("Y", "both"):
            y = Y + rng.normal(size=len(Y)) * k / 4.0 * np.abs(Y).max()
        if noisy in ("W", "both"):
            shape = points.positions.shape
            q = points.positions + rng.normal(size=shape) * k / 4.0 * 2.0 * LIMITS.half_range
            qd = points.velocities + rng.normal(size=shape) * k / 4.0 * LIMITS.velocity
            W = OBSERVATION.rows(replace(points, positions=q, velocities=qd))
        estimate = np.linalg.lstsq(W, y, rcond=None)[0]
        found.append(np.linalg.norm(estimate - TRUTH) / np.linalg.norm(TRUTH))
    return float(np.median(found))


def informed(rows: int, seed: int) -> Points:
    """Return points optimised with approximate values of the parameters."""
    off = 0.2 * np.random.default_rng(1000 + seed).normal(size=TRUTH.size)
    criterion = Criterion(prior=TRUTH * (1.0 + off))
    settings = PointSettings(starts=4, seed=seed, criterion=criterion)
    return optimise_points(OBSERVATION, LIMITS, np.ones(rows), settings).points


def informed_table(rows: int, draws: int) -> None:
    """Print the errors of the informed points."""
    for seed in range(5):
        points = informed(rows, seed)
        W = OBSERVATION.rows(points)
        found = ", ".join(
            f"{noisy} {errors(points, 0.001, noisy, draws):.2e}" for noisy in ("Y", "W", "both")
        )
        print(
            f"  r = {rows} informed, seed {seed}: Cond {condition(W):.2f}, S {equilibrium(W):.0f}; "
            f"k = 0.001, noise on {found}"
        )


def component_table(points: Points, k: float) -> None:
    """Print one draw by component with standard deviations (Tables 6, 7, 11, 12)."""
    W = OBSERVATION.rows(points)
    Y = W @ TRUTH
    noise = np.random.default_rng(1).normal(size=len(Y)) * k / 4.0 * np.abs(Y).max()
    # With as many rows as parameters nothing is left over to tell the noise from: it is known.
    covariance = np.linalg.inv(W.T @ W) * (k / 4.0 * np.abs(Y).max()) ** 2
    values = np.linalg.lstsq(W, Y + noise, rcond=None)[0]
    for i, name in enumerate(BASE.names):
        std = np.sqrt(covariance[i, i])
        print(f"    {name:6s} {TRUTH[i]:8.4f} {values[i]:9.4f} +- {std:.4f}")


def main() -> None:
    """Print all tables."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for rows in (30, 15):
        best = optimise_points(OBSERVATION, LIMITS, np.ones(rows), PointSettings(starts=4)).points
        rough = random_sequence(rows)
        for name, points in (("optimised", best), ("random", rough)):
            W = OBSERVATION.rows(points)
            print(f"r = {rows} {name}: Cond {condition(W):.2f}, S {equilibrium(W):.3g}")
        print("  noise on   k      optimised (published)      random (published)     ratio")
        for noisy in ("Y", "W", "both"):
            good, bad = PUBLISHED[rows, noisy]
            for i, k in enumerate((0.001, 0.01, 0.1)):
                ours, theirs = (errors(p, k, noisy, draws) for p in (best, rough))
                print(
                    f"  {noisy:5s} {k:8g}  {ours:10.2e} ({good[i]:.2e})   {theirs:10.2e} "
                    f"({bad[i]:.2e})   {theirs / ours:6.1f}"
                )
        informed_table(rows, draws)
        k = 0.01 if rows == 30 else 0.001
        for name, points in (("optimised", best), ("random", rough)):
            print(f"  r = {rows}, {name}, noise on Y only, k = {k}: truth, estimate, std")
            component_table(points, k)
    W = OBSERVATION.rows(optimise_points(OBSERVATION, LIMITS, np.ones(30)).points)
    estimate = solve(W, W @ TRUTH, BASE.names)
    print(f"without noise: error {np.linalg.norm(estimate.values - TRUTH):.1e}")


if __name__ == "__main__":
    main()
