"""Excitation: the objective with its exact gradient, and feasible plans for six joints.

The objective is the smoothed condition number of the dynamic model over 1000 samples, for the
unknowns of six points (positions and velocities).  Finite differences need one value of the
condition number more than there are unknowns: from ours, or from Pinocchio's loop and
`numpy.linalg.cond`.
"""

from __future__ import annotations

import numpy as np

from goals import regressor as regressor_row
from goals import robots
from goals.least_squares import peer_columns
from goals.measuring import Candidate, Options, Row, Verdict, interleaved, ratio, timed
from goals.robots import Arm
from robot_identification.excitation.criterion import Criterion, condition
from robot_identification.excitation.curve import Curve
from robot_identification.excitation.dynamic_observation import DynamicObservation
from robot_identification.excitation.limits import MotionLimits
from robot_identification.excitation.plan import PlanSettings, plan
from robot_identification.excitation.problem import PointProblem, point_problem
from robot_identification.robot.loading import load_robot
from robot_identification.robot.model import Array

TITLE = "excitation"
OURS, DIFFERENCES, PINOCCHIO = "ours, exact gradient", "ours, finite differences", "Pinocchio loop"
_SAMPLES, _POINTS = 200, 6
_SHARPNESS = 2.0


def measure(options: Options) -> Row:
    """Measure the row."""
    row = Row(TITLE)
    for arm in (robots.six_joints(), robots.seven_joints()):
        _gradient(arm, options, row)
    for name in ("tx40",) if options.quick else ("tx40", "ur10"):
        _plan(name, row)
    return row


def _gradient(arm: Arm, options: Options, row: Row) -> None:
    observation = DynamicObservation(arm.base, _SAMPLES, 0.05)
    rng = np.random.default_rng(0)
    limits = MotionLimits.of(arm.robot)
    durations = np.full(_POINTS - 1, 2.0)
    problem = point_problem(observation, Criterion(), limits, durations, rng)
    z = problem.random_start(rng)
    unknowns = problem.variables
    candidates = [
        Candidate(OURS, lambda: problem.smooth(z, _SHARPNESS, 0.0)),
        Candidate(
            DIFFERENCES,
            lambda: [_objective(problem, z) for _ in range(4)],
            4.0 / (unknowns + 1),
        ),
        Candidate(PINOCCHIO, lambda: _by_pinocchio(arm, problem, z), 1.0 / (unknowns + 1)),
    ]
    times = interleaved(candidates, options.rounds)
    case = f"{arm.name}, {unknowns} unknowns, {_SAMPLES * (_POINTS - 1)} samples"
    row.add_times(case, times, "ms", 1e3)
    rows, columns = _SAMPLES * (_POINTS - 1) * arm.joints, observation.columns
    bound = options.peaks.share(
        4.0 * rows * columns**2, 8.0 * 6 * rows * columns, times[OURS].median
    )
    for peer, wanted in ((DIFFERENCES, 40.0), (PINOCCHIO, 300.0)):
        goal = f"times {peer}"
        row.verdicts.append(
            Verdict(case, goal, wanted, ratio(times[peer], times[OURS]), bound=bound)
        )


def _objective(problem: PointProblem, z: Array) -> float:
    """Return the condition number as ours gives it, without a gradient."""
    return condition(problem.observation.rows(problem.points(z)))


def _by_pinocchio(arm: Arm, problem: PointProblem, z: Array) -> float:
    """Return the condition number as Pinocchio's loop and NumPy give it."""
    samples = Curve((np.arange(_SAMPLES) + 0.5) / _SAMPLES).sample(problem.points(z))
    signals = np.stack([part.reshape(-1, arm.joints) for part in vars(samples).values()])
    W = regressor_row.stored_loop(arm, signals)()
    return float(np.linalg.cond(W.reshape(-1, W.shape[2])[:, peer_columns(arm)]))


def _plan(name: str, row: Row) -> None:
    robot = load_robot(name)
    found = []
    wall, spent = timed(lambda: found.append(plan(robot, PlanSettings(model="dynamic"))))
    result = found[0]
    row.add_spread(name, "plan of 30 s, dynamic model, by the clock", [wall], "s")
    row.add_spread(name, "likewise, processor", [spent], "s")
    row.add_spread(name, "its condition number", [result.trajectory_condition_number], "")
    feasible = result.certificate.passed
    row.verdicts.append(
        Verdict(
            name,
            "s of the processor until a feasible plan is certified",
            10.0,
            spent if feasible else float("inf"),
            at_least=False,
            bound="four starts of the search, one thread",
        )
    )
