"""Preparation of DIDIM: data, settings, first parameters, first gains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robot_identification.dynamics.reference import Reference
from robot_identification.errors import (
    MassMatrixError,
    MissingSignalError,
    NotConvergedError,
    NotExcitedError,
    SettingError,
    ShapeError,
    SimulationError,
)
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.didim import starts
from robot_identification.identification.didim.experiments import (
    along_reference,
    as_if_followed,
    experiments_of,
    has_positions,
)
from robot_identification.identification.didim.iteration import Problem, Trial
from robot_identification.identification.didim.loop import (
    inertias,
    natural_frequencies,
    positions_to_look_at,
)
from robot_identification.identification.didim.settings import DidimSettings
from robot_identification.identification.didim.simulation import Cancelled
from robot_identification.identification.didim.starts import Start, full_vector
from robot_identification.identification.identify import identify
from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.processing.settings import resolve_processing
from robot_identification.signals.recording import Recording


@by_value
@dataclass(frozen=True)
class FirstParameters:
    """Data and start of the iterations.

    Attributes:
        start: the parameters.
        smallest_eigenvalue: of their mass matrix.
        real_inertia: (joints,) what is known of the robot's inertias before the first step.
    """

    start: Start
    smallest_eigenvalue: float
    real_inertia: Array


def prepare(
    base: BaseParameters,
    recordings: Sequence[Recording],
    references: Sequence[Reference],
    start: str | Start,
    settings: DidimSettings,
    overrides: ProcessingSettings | None,
    cancelled: Cancelled | None,
) -> tuple[Problem, FirstParameters]:
    """Return what stays the same in all iterations, and what they begin with.

    Arguments and errors as those of
    :func:`~robot_identification.identification.didim.run.identify_didim`.
    """
    robot = base.robot
    experiments = experiments_of(recordings, references)
    processing = _processing(robot, recordings, references, overrides)
    positions = positions_to_look_at(robot, np.vstack([e.followed()[0] for e in experiments]))
    problem = Problem(base, experiments, processing, settings, positions, cancelled)
    chosen = _start(problem, start, recordings, overrides)
    found = inertias(robot, full_vector(base, chosen.values), positions)
    if not found.smallest_eigenvalue > 0.0:
        raise NotConvergedError(
            f"the start ({chosen.name}) cannot be simulated: its mass matrix has the eigenvalue "
            f"{found.smallest_eigenvalue:.3g}; start from other parameters, such as regular"
        )
    real_inertia = _real_inertia(problem, chosen, found.joints)
    first = FirstParameters(chosen, found.smallest_eigenvalue, real_inertia)
    return _without_transient(problem, real_inertia), first


def first_trial(problem: Problem, first: FirstParameters) -> Trial:
    """Return the simulation with the first parameters.

    Raises:
        NotConvergedError: if it breaks down.
    """
    try:
        return problem.simulate(first.start.values, first.real_inertia)
    except (SimulationError, MassMatrixError) as error:
        raise NotConvergedError(
            f"the start ({first.start.name}) cannot be simulated: {error}"
        ) from error


def _processing(
    robot: RobotModel,
    recordings: Sequence[Recording],
    references: Sequence[Reference],
    overrides: ProcessingSettings | None,
) -> Processing:
    """Return complete settings; what is derived follows from the motion of the reference.

    A cut-off for positions says nothing here: simulated ones need no filter.
    """
    stated = replace(overrides or ProcessingSettings(), cutoff_hz=None)
    without_cutoff = replace(robot, processing=replace(robot.processing, cutoff_hz=None))
    followed = [
        as_if_followed(recording, reference)
        for recording, reference in zip(recordings, references, strict=True)
    ]
    found = resolve_processing(without_cutoff, followed, stated)
    reasons = dict(found.reasons)
    reasons["cutoff_hz"] = f"DIDIM: filters nothing; {reasons['cutoff_hz']}"
    changes: dict[str, Any] = {}
    if stated.velocity_threshold is None:
        changes["velocity_threshold"] = (0.0,) * len(robot.joints)
        reasons["velocity_threshold"] = "DIDIM: simulated velocities and stiction are exact"
    for name in ("drop_start", "drop_end"):
        if reasons[name].startswith("derived"):
            changes[name] = 0
            reasons[name] = "DIDIM: no filter but that of decimation"
    # What is doubtful concerns the cut-off and the thresholds of measured positions.
    return replace(found, **changes, reasons=reasons, warnings=())


def _start(
    problem: Problem,
    start: str | Start,
    recordings: Sequence[Recording],
    overrides: ProcessingSettings | None,
) -> Start:
    """Return the first parameters."""
    if isinstance(start, Start):
        if start.values.shape != (problem.base.rank,):
            raise ShapeError("start", start.values.shape, f"({problem.base.rank},)")
        return start
    if start == starts.IDIM:
        if not has_positions(recordings):
            raise MissingSignalError("position", ", ".join(r.source for r in recordings))
        found = identify(
            problem.base.robot,
            recordings,
            method=problem.settings.weighting,
            overrides=overrides,
            cancelled=problem.cancelled,
        )
        return Start(f"idim, {problem.settings.weighting}", found.estimate.values)
    if start != starts.REGULAR:
        raise SettingError("start", start, "choose regular, idim, or give parameters")
    return starts.regular(problem.base, problem.positions)[0]


def _real_inertia(problem: Problem, start: Start, own: Array) -> Array:
    """Return what is known of the robot's inertias before the first step.

    They are those of the start if it is an estimate.  If not, those that least squares gives
    along the reference, in place of the motion: crude, but enough for the first gains.
    """
    if start.is_estimate:
        return own
    segments = [along_reference(experiment) for experiment in problem.experiments]
    try:
        estimate = problem.solve(problem.rows(segments, start.values).rows("none").merged())
    except NotExcitedError:
        return own
    found = problem.inertia(estimate.values)
    return np.where(found > 0.0, found, own)


def _without_transient(problem: Problem, real_inertia: Array) -> Problem:
    """Return the problem without the samples that a wrong initial state reaches.

    Raises:
        SettingError: if no sample would be left.
    """
    settings = problem.settings
    slowest = float(natural_frequencies(problem.base.robot, real_inertia).min())
    seconds = settings.transient / (slowest * settings.bandwidth)
    processing = problem.processing
    shortened = []
    for experiment in problem.experiments:
        drop = max(math.ceil(seconds / experiment.period), processing.drop_start)
        kept = experiment.samples - drop - processing.drop_end
        if kept >= processing.shortest_segment(experiment.period):
            shortened.append(replace(experiment, drop_start=drop, drop_end=processing.drop_end))
    if not shortened:
        raise SettingError(
            "transient",
            settings.transient,
            f"a transient of {seconds:.3g} s leaves nothing of the longest unbroken run; "
            "record longer, or give a smaller multiple",
        )
    return replace(problem, experiments=tuple(shortened), transient=seconds)
