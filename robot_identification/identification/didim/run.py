"""DIDIM from recordings to a result (Gautier et al. 2013, section IV)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from robot_identification.dynamics.reference import Reference
from robot_identification.errors import ModelMismatchError, NotConvergedError
from robot_identification.identification.base.parameters import BaseParameters, base_parameters
from robot_identification.identification.didim.iteration import Iterations
from robot_identification.identification.didim.preparation import first_trial, prepare
from robot_identification.identification.didim.settings import DidimSettings
from robot_identification.identification.didim.simulation import Cancelled
from robot_identification.identification.didim.starts import Start
from robot_identification.identification.didim.verdict import judged, mismatch_text, outcome
from robot_identification.identification.history import CONVERGED, Iteration
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.source import refuse_double
from robot_identification.robot.loops import refuse_loops
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.recording import Recording


@dataclass(frozen=True)
class DidimProgress:
    """Progress of the iterations.

    Attributes:
        stage: what is being done.
        fraction: share of the largest number of iterations that is done.
        iteration: newest set of parameters that was simulated; None before the first.
    """

    stage: str
    fraction: float
    iteration: Iteration | None = None


Progress = Callable[[DidimProgress], None]


def identify_didim(
    robot: RobotModel,
    recordings: Sequence[Recording],
    references: Sequence[Reference],
    *,
    start: Literal["regular", "idim"] | Start = "regular",
    settings: DidimSettings | None = None,
    overrides: ProcessingSettings | None = None,
    base: BaseParameters | None = None,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> IdentificationResult:
    """Identify the base parameters of a robot from efforts and references alone.

    Recorded positions are used for the start ``idim``, and for the noise floor where the measured
    efforts alone leave the verdict open; they may be NaN.

    Args:
        robot: the robot; it must declare its controller.
        recordings: efforts on the joint side; simulated apart, fitted together.
        references: what the controller followed in each of them, time 0 at its first stamp.
        start: ``regular`` (needs no knowledge), ``idim`` (least squares on the measured motion),
            or parameters.
        settings: how the iterations run and end.
        overrides: settings of the decimation that replace recommended and derived ones.
        base: base parameters of the robot, where they are known already; those of one with
            another controller or other drives will do.
        progress: told what is being done, and every set of parameters that was simulated.
        cancelled: asked often, from several threads, whether to stop.

    Returns:
        The result, with the iterations in ``history``.

    Raises:
        SettingError: if a setting is not possible, the robot declares no controller, or a recording
            would count twice.
        RecordingError: if the recordings are of no use, or not as many as the references.
        MissingSignalError: if the start ``idim`` lacks positions.
        NotExcitedError: if the motion does not determine every base parameter.
        NotConvergedError: if the iterations do not come to an end; with what was reached.
        ModelMismatchError: if they do, but the torque error stays above three times the noise
            floor; with what was reached.
        CancelledError: if ``cancelled`` says so.
    """
    refuse_loops(robot, "DIDIM")
    refuse_double(recordings)
    begin = time.monotonic()
    chosen = settings or DidimSettings()
    report = progress or _silent

    def observe(iteration: Iteration) -> None:
        share = min(iteration.number / chosen.max_iterations, 1.0)
        report(DidimProgress("iterations", share, iteration))

    report(DidimProgress("start", 0.0))
    known = base_parameters(robot) if base is None else base.of(robot)
    problem, first = prepare(known, recordings, references, start, chosen, overrides, cancelled)
    report(DidimProgress("iterations", 0.0))
    iterations = Iterations(problem, first_trial(problem, first), observe)
    iterations.run()
    history = judged(problem, first, iterations, recordings, overrides)
    result = outcome(problem, recordings, iterations, history, begin)
    report(DidimProgress("done", 1.0, iterations.history[-1]))
    if not iterations.converged:
        raise NotConvergedError(iterations.failure, result)
    if history.verdict != CONVERGED:
        raise ModelMismatchError(mismatch_text(history, robot.joint_names), result)
    return result


def _silent(_progress: DidimProgress) -> None:
    """Report to nobody."""
