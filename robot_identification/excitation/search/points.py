"""Points that condition the energy model well: several seeded starts, several optimisers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from robot_identification.errors import SettingError
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.objective.criterion import Criterion, condition, equilibrium
from robot_identification.excitation.objective.curve import Points
from robot_identification.excitation.objective.motion_map import Observation
from robot_identification.excitation.search.optimizers import (
    OPTIMIZERS,
    Cancelled,
    Minimum,
    minimise,
)
from robot_identification.excitation.search.problem import PointProblem, point_problem
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.settings import Settings, setting

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class PointSettings(Settings):
    """Settings of the search of points.

    Attributes:
        criterion: what is to become small.
    """

    criterion: Criterion = field(default_factory=Criterion)
    optimizers: tuple[str, ...] = setting(
        "optimisers that are tried; the best result of all counts",
        ("gradient",),
        choices=OPTIMIZERS,
    )
    starts: int = setting("starts of each optimiser", 4, minimum=1, maximum=1000, metavar="N")
    evaluations: int = setting("most evaluations of each start", 20_000, minimum=1)
    seed: int = setting("same seed, same motion", 0, minimum=0, metavar="N")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.optimizers:
            raise SettingError("optimizers", "none", f"choose from {', '.join(OPTIMIZERS)}")


@by_value
@dataclass(frozen=True)
class Quality:
    """Quality of a system: condition number and equilibrium.

    Attributes:
        condition_number: in the 2-norm.
        equilibrium: S.
        singular_values: (columns,) largest first.
    """

    condition_number: float
    equilibrium: float
    singular_values: Array

    @classmethod
    def of(cls, W: Array) -> Quality:
        """Return the quality of a system (rows, columns)."""
        singular_values = read_only(np.linalg.svd(W, compute_uv=False))
        return cls(condition(W), equilibrium(W), singular_values)


@dataclass(frozen=True)
class PointPlan:
    """The best points found.

    Attributes:
        points: the points.
        before: quality at the start that led to them.
        after: quality of the points.
        optimizer: the one that won.
        variables: number of unknowns.
        evaluations: evaluations of all starts together.
    """

    points: Points
    before: Quality
    after: Quality
    optimizer: str
    variables: int
    evaluations: int


def optimise_points(
    observation: Observation[Points],
    limits: MotionLimits,
    durations: Array,
    settings: PointSettings | None = None,
    *,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> PointPlan:
    """Search points inside the limits that make the criterion small (section 4).

    Args:
        observation: the system that points give.
        limits: of positions and velocities at the points.
        durations: (points - 1,) durations between the points, in s; they matter for friction.
        settings: how to search.
        progress: told the stage and the fraction that is done.
        cancelled: asked now and then whether to stop.

    Raises:
        SettingError: there are fewer rows than columns.
        CancelledError: if ``cancelled`` says so.
    """
    chosen = settings or PointSettings()
    root = np.random.SeedSequence(chosen.seed)
    problem = point_problem(
        observation, chosen.criterion, limits, durations, np.random.default_rng(root)
    )
    _refuse_too_few_rows(problem)
    seeds = root.spawn(chosen.starts)
    runs: list[tuple[Minimum, Array, str]] = []
    for i, seed in enumerate(seeds):
        start = problem.random_start(np.random.default_rng(seed))
        for k, name in enumerate(chosen.optimizers):
            if progress is not None:
                done = (i * len(chosen.optimizers) + k) / (len(seeds) * len(chosen.optimizers))
                progress(f"points: {name}, start {i + 1} of {len(seeds)}", done)
            run = minimise(problem, start, name, chosen.evaluations, cancelled)
            runs.append((run, start, name))
    best, start, winner = min(runs, key=lambda run: run[0].value)
    points = problem.points(best.unknowns)
    return PointPlan(
        points=points,
        before=Quality.of(observation.rows(problem.points(start))),
        after=Quality.of(observation.rows(points)),
        optimizer=winner,
        variables=problem.variables,
        evaluations=sum(run.evaluations for run, _, _ in runs),
    )


def _refuse_too_few_rows(problem: PointProblem) -> None:
    rows, columns = problem.observation.rows(problem.filling).shape
    if rows < columns:
        raise SettingError("rows", rows, f"must be at least {columns}, the number of parameters")
