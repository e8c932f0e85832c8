"""Excitation: the objective with its exact gradient, and feasible plans for six joints.

The objective is the smoothed condition number of the dynamic model over 1000 samples, for the
unknowns of six points (positions and velocities).  Finite differences need one value more than
there are unknowns: of the same objective from ours, or of the condition number from Pinocchio's
loop and `numpy.linalg.cond`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from threadpoolctl import threadpool_limits

from goals import regressor as regressor_row
from goals import robots
from goals.least_squares import peer_columns
from goals.measuring import Candidate, Options, Row, Verdict, interleaved, ratio, timed
from goals.robots import Arm
from robot_identification.dynamics.regressor import Regressor
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.objective.criterion import Criterion
from robot_identification.excitation.objective.curve import Curve
from robot_identification.excitation.objective.effort_rows import DynamicObservation
from robot_identification.excitation.objective.smooth_criterion import smooth_condition
from robot_identification.excitation.plan import plan
from robot_identification.excitation.plan_settings import PlanSettings
from robot_identification.excitation.search.dynamic import sensible_threads
from robot_identification.excitation.search.problem import PointProblem, point_problem
from robot_identification.robot.arrays import Array
from robot_identification.robot.files.loading import load_robot

TITLE = "excitation"
OURS, DIFFERENCES, PINOCCHIO = "ours, exact gradient", "ours, finite differences", "Pinocchio loop"
_SAMPLES, _POINTS = 200, 6
_SHARPNESS = 2.0
_PASSES = 9  # over the entries: made, weighted (2), 2 products (3), swept, weighed (2)
_CALLS = 20  # one after the other, as an optimiser calls it


def measure(options: Options) -> Row:
    """Measure the row."""
    row = Row(TITLE)
    for arm in (robots.six_joints(), robots.seven_joints()):
        _gradient(arm, options, row)
    for name in ("tx40",) if options.quick else ("tx40", "ur10"):
        _plan(name, row)
    return row


def _gradient(arm: Arm, options: Options, row: Row) -> None:
    observation = DynamicObservation(arm.base, Curve.midpoints(_SAMPLES), 0.05)
    rng = np.random.default_rng(0)
    limits = MotionLimits.of(arm.robot)
    durations = np.full(_POINTS - 1, 2.0)
    problem = point_problem(observation, Criterion(), limits, durations, rng)
    z = problem.random_start(rng)
    unknowns = problem.variables
    candidates = [
        Candidate(
            OURS, lambda: [problem.smooth(z, _SHARPNESS, 0.0) for _ in range(_CALLS)], _CALLS
        ),
        Candidate(
            DIFFERENCES,
            lambda: [_objective(problem, z) for _ in range(4)],
            4.0 / (unknowns + 1),
        ),
        Candidate(PINOCCHIO, lambda: _by_pinocchio(arm, problem, z), 1.0 / (unknowns + 1)),
    ]
    times, columns = interleaved(candidates, options.rounds), arm.base.base_columns
    case = f"{arm.name}, {unknowns} unknowns, {_SAMPLES * (_POINTS - 1)} samples"
    row.add_times(case, times, "ms", 1e3)
    entries = np.array([len(joint.columns) for joint in Regressor(arm.robot, columns).joint_rows])
    samples = _SAMPLES * (_POINTS - 1)
    products = 4.0 * samples * float((entries**2).sum())  # W^T W, and derivatives over entries
    moved = 8.0 * _PASSES * samples * float(entries.sum())
    bound = options.peaks.share(products, moved, times[OURS].median) + " (products alone)"
    for peer, wanted in ((DIFFERENCES, 40.0), (PINOCCHIO, 300.0)):
        goal = f"times {peer}"
        row.verdicts.append(
            Verdict(case, goal, wanted, ratio(times[peer], times[OURS]), bound=bound)
        )


def _objective(problem: PointProblem, z: Array) -> float:
    """Return the objective as ours gives it, without a gradient."""
    gram, _ = problem.observation.gram(problem.points(z))
    return smooth_condition(gram, _SHARPNESS)[0]


def _by_pinocchio(arm: Arm, problem: PointProblem, z: Array) -> float:
    """Return the condition number as Pinocchio's loop and NumPy give it."""
    samples = Curve.midpoints(_SAMPLES).sample(problem.points(z))
    signals = np.stack([part.reshape(-1, arm.joints) for part in vars(samples).values()])
    W = regressor_row.stored_loop(arm, signals)()
    return float(np.linalg.cond(W.reshape(-1, W.shape[2])[:, peer_columns(arm)]))


def _plan(name: str, row: Row) -> None:
    robot = load_robot(name)
    found = []
    with _as_in_a_command():
        threads = min(2, sensible_threads())
        wall, spent = timed(lambda: found.append(plan(robot, PlanSettings(model="dynamic"))))
    result = found[0]
    row.add_spread(name, "plan of 30 s, dynamic model, by the clock", [wall], "s")
    row.add_spread(name, "likewise, processor", [spent], "s")
    row.add_spread(name, "its condition number", [result.trajectory_condition_number], "")
    feasible = result.certificate.passed
    row.verdicts.append(
        Verdict(
            name,
            "s by the clock until a feasible plan is certified",
            10.0,
            wall if feasible else float("inf"),
            at_least=False,
            bound=f"six searches, {threads} at a time",
        )
    )


@contextmanager
def _as_in_a_command() -> Iterator[None]:
    """Linear algebra has one thread, in libraries too that were imported since, and says so."""
    name = "OPENBLAS_NUM_THREADS"
    before = os.environ[name]
    os.environ[name] = "1"
    try:
        with threadpool_limits(1):
            yield
    finally:
        os.environ[name] = before
