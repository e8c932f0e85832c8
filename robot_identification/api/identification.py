"""Identify, merge and validate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeVar

from robot_identification.api.sources.parameters import (
    ParameterSource,
    ResultSource,
    base_values_of,
    result_of,
    with_law,
)
from robot_identification.api.sources.recordings import (
    Run,
    TrajectorySource,
    recordings_of,
    trajectory_of,
)
from robot_identification.api.sources.robots import RobotSource, robot_of
from robot_identification.dynamics.reference import Reference
from robot_identification.errors import MissingSignalError, SettingError
from robot_identification.files.bags.trajectories import (
    planned_reference,
    read_reference,
    sampled_reference,
)
from robot_identification.identification import identify as core
from robot_identification.identification import validate as validation
from robot_identification.identification.diagnosis.diagnosis import Diagnosis
from robot_identification.identification.diagnosis.diagnosis import diagnose as core_diagnose
from robot_identification.identification.didim import run as didim
from robot_identification.identification.didim.settings import DidimSettings
from robot_identification.identification.didim.starts import IDIM, REGULAR, Start
from robot_identification.identification.estimators.choice import DEFAULT
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.identification.estimators.huber import HuberSettings
from robot_identification.identification.estimators.weighting import Weighting
from robot_identification.identification.friction.options import STATED
from robot_identification.identification.merging import merge_results
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.rows.whole_rows import Cancelled, Progress
from robot_identification.identification.validate import Validation
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.periodic.periods import PeriodicMotion
from robot_identification.signals.recording import Recording

REFERENCES = "/joint_reference"
"""Topic of the samples of the reference."""

Chosen = TypeVar("Chosen", EliminationRule, HuberSettings)

PRIOR = "prior"
"""Start of DIDIM: the parameters that are known before."""


def identify(
    robot: RobotSource,
    recordings: Run | Sequence[Run],
    *,
    method: str = DEFAULT,
    processing: ProcessingSettings | None = None,
    held_out_fraction: float = 0.0,
    held_out: Run | Sequence[Run] = (),
    essential: EliminationRule | bool | None = None,
    weighting: Weighting | None = None,
    robust: HuberSettings | bool | None = None,
    periodic: PeriodicMotion | None = None,
    friction: str = STATED,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> IdentificationResult:
    """Identify the base parameters of a robot by least squares, as ``identify`` does.

    Args:
        robot: the robot, its file, or the name of a shipped one.
        recordings: recordings or bags; fitted together.
        method: name of an estimator, such as ``wls``.
        processing: settings of the signal processing that replace recommended and derived ones.
        held_out_fraction: share at the end of each recording that is predicted, not fitted.
        held_out: recordings or bags that are predicted, not fitted.
        essential: whether parameters are removed that the efforts can do without, or by which rule.
        weighting: what each recording counts; by default all the same.
        robust: whether the pull of outlying efforts is limited, or how.
        periodic: what repeats in the recordings, which are then averaged over their periods.
        friction: ``stated`` by the robot file, ``coulomb-viscous``, or ``auto``: by the data.
        progress: told the stage and the fraction of the whole that is done.
        cancelled: asked now and then whether to stop.

    Raises:
        SettingError: the method or a setting is not possible.
        RecordingError: the recordings are of no use.
        NotExcitedError: the motion does not determine every base parameter.
        CancelledError: ``cancelled`` says so.
    """
    robot = robot_of(robot, closed_loops=True)
    return core.identify(
        robot,
        recordings_of(robot, recordings),
        method=method,
        overrides=processing,
        held_out_fraction=held_out_fraction,
        held_out=recordings_of(robot, held_out),
        essential=_rule(essential),
        weighting=weighting,
        robust=_limits(robust),
        periodic=periodic,
        friction=friction,
        progress=progress,
        cancelled=cancelled,
    )


def identify_didim(
    robot: RobotSource,
    recordings: Run | Sequence[Run],
    *,
    start: Start | ParameterSource = REGULAR,
    prior: str | Path | None = None,
    trajectory: TrajectorySource | None = None,
    trajectory_start: float = 0.0,
    reference_topic: str = "",
    trajectory_topic: str = "",
    settings: DidimSettings | None = None,
    processing: ProcessingSettings | None = None,
    progress: didim.Progress | None = None,
    cancelled: Cancelled | None = None,
) -> IdentificationResult:
    """Identify from efforts and references alone, as ``identify --method didim`` does.

    Args:
        robot: the robot, its file, or the name of a shipped one; with its controller.
        recordings: recordings or bags; simulated apart, fitted together.
        start: first parameters: ``regular`` (unit inertias), ``idim`` (least squares on the
            measured motion), ``prior``, a result, calibrated parameters, (base,) values, or a
            file of the former.
        prior: parameter file of the start ``prior``, read with no other; by default that named as
            the robot.
        trajectory: what the robot followed in every recording: a trajectory, a plan, a file, or the
            name of a shipped one; by default what these hold.
        trajectory_start: when that began, in s after the first sample.
        reference_topic: topic of the reference in bags, of samples or of trajectories.
        trajectory_topic: topic of trajectories, where there are no samples.
        settings: how the iterations run and end.
        processing: settings of the decimation that replace recommended and derived ones.
        progress: told what is being done, and every set of parameters that was simulated.
        cancelled: asked often, from several threads, whether to stop.

    Raises:
        SettingError: a setting is not possible, a prior is given with another start, or the robot
            declares no controller.
        ShapeError: the number of values is not that of the base parameters.
        MissingSignalError: a recording does not tell what the controller followed.
        NotConvergedError: the iterations do not come to an end; with what was reached.
        ModelMismatchError: they do, but the model does not explain the efforts; with the result.
        CancelledError: ``cancelled`` says so.
    """
    robot = robot_of(robot)
    first = _start(robot, start, prior)
    found = recordings_of(
        robot,
        recordings,
        reference_topic=reference_topic or REFERENCES,
        positions_needed=first == IDIM,
    )
    topic = trajectory_topic or reference_topic
    return didim.identify_didim(
        robot,
        found,
        _references(robot, found, trajectory, trajectory_start, topic),
        start=first,
        settings=settings,
        overrides=processing,
        progress=progress,
        cancelled=cancelled,
    )


def _start(
    robot: RobotModel, start: Start | ParameterSource, prior: str | Path | None
) -> Start | Literal["regular", "idim"]:
    named = start if isinstance(start, str) else None
    if prior is not None and named != PRIOR:
        raise SettingError("prior", prior, f"is read with the start {PRIOR} only; name it as start")
    if isinstance(start, Start):
        return start
    if named == REGULAR:
        return "regular"
    if named == IDIM:
        return "idim"
    source = (prior or robot.name) if named == PRIOR else start
    told = f"{start}, {source}" if isinstance(source, str | Path) else "values"
    return Start(told, base_values_of(robot, source).values)


def _references(
    robot: RobotModel,
    recordings: Sequence[Recording],
    trajectory: TrajectorySource | None,
    begin: float,
    topic: str,
) -> list[Reference]:
    if trajectory is None:
        return [_recorded_reference(robot, recording, topic) for recording in recordings]
    planned = trajectory_of(trajectory)
    return [planned_reference(planned, robot, start=begin) for _ in recordings]


def _recorded_reference(robot: RobotModel, recording: Recording, topic: str) -> Reference:
    if Path(recording.source).exists():
        return read_reference(recording.source, recording, robot, topic=topic)
    sampled = sampled_reference(recording)
    if sampled is None:
        raise MissingSignalError("reference", recording.source)
    return sampled


def merge(
    results: Sequence[ResultSource],
    *,
    essential: EliminationRule | bool | None = None,
    weighting: Weighting | None = None,
    robust: HuberSettings | bool | None = None,
    held_out: Sequence[ResultSource] = (),
) -> IdentificationResult:
    """Return the result of all recordings behind several results of one robot, as ``merge`` does.

    Args:
        results: results or their files, by ``ols`` or ``wls``, all with the same settings.
        essential: whether parameters are removed that the efforts can do without, or by which rule.
        weighting: what each result counts; by default all the same.
        robust: always refused: outliers are limited row by row, and results keep no rows.
        held_out: results or their files whose recordings are predicted, not fitted.

    Raises:
        SettingError: there is none; robot, method or settings differ; a recording would count
            twice; outliers are to be limited; or efforts that are weighted or limited already are
            to be weighted or predicted.
        ResultFileError: a file is damaged.
        NotExcitedError: all of them together do not determine every parameter.
    """
    for name, sources in (("results", results), ("held_out", held_out)):
        if isinstance(sources, str | Path | IdentificationResult):
            raise SettingError(name, sources, "give a list of them")
    return merge_results(
        [result_of(source) for source in results],
        essential=_rule(essential),
        weighting=weighting,
        robust=_limits(robust),
        held_out=[result_of(source) for source in held_out],
    )


def validate(
    robot: RobotSource,
    parameters: ParameterSource,
    recordings: Run | Sequence[Run],
    *,
    processing: ProcessingSettings | None = None,
    derive_settings: bool = False,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> Validation:
    """Compare efforts of recordings with those that parameters predict, as ``validate`` does.

    Args:
        robot: the robot, its file, or the name of a shipped one.
        parameters: a result, calibrated parameters, (base,) values, or a file of the former.
        recordings: recordings or bags.
        processing: settings of the signal processing that replace those that the parameters were
            identified with, and else recommended and derived ones.
        derive_settings: whether recommended and derived ones hold in place of those that the
            parameters were identified with.
        progress: told the stage and the fraction of the whole that is done.
        cancelled: asked now and then whether to stop.

    Raises:
        ShapeError: the number of values is not that of the base parameters.
        ResultFileError: the result belongs to a robot with other parameters.
        ResultMismatchError: it belongs to one with other parameters or another geometry.
        RecordingError: the recordings are of no use.
        CancelledError: ``cancelled`` says so.
    """
    robot, parameters = with_law(robot_of(robot, closed_loops=True), parameters)
    model = base_values_of(robot, parameters)
    return validation.validate(
        robot,
        model.values,
        recordings_of(robot, recordings),
        overrides=processing,
        identified=model.processing,
        efforts=model.efforts,
        remarks=model.warnings,
        derive_settings=derive_settings,
        progress=progress,
        cancelled=cancelled,
    )


def diagnose(
    robot: RobotSource,
    recordings: Run | Sequence[Run],
    *,
    processing: ProcessingSettings | None = None,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> Diagnosis:
    """Look for what is wrong with recordings or the description of a robot, as ``diagnose`` does.

    Args:
        robot: the robot, its file, or the name of a shipped one.
        recordings: recordings or bags.
        processing: settings of the signal processing that replace recommended and derived ones.
        progress: told the stage and the fraction of the whole that is done.
        cancelled: asked now and then whether to stop.

    Raises:
        SettingError: a setting is not possible.
        CancelledError: ``cancelled`` says so.
    """
    robot = robot_of(robot)
    return core_diagnose(
        robot,
        recordings_of(robot, recordings),
        overrides=processing,
        progress=progress,
        cancelled=cancelled,
    )


def _rule(essential: EliminationRule | bool | None) -> EliminationRule | None:
    return _settings_of("essential", essential, EliminationRule)


def _limits(robust: HuberSettings | bool | None) -> HuberSettings | None:
    return _settings_of("robust", robust, HuberSettings)


def _settings_of(name: str, given: Chosen | bool | None, kind: type[Chosen]) -> Chosen | None:
    """Return settings, those by default where they are asked for by True.

    Raises:
        SettingError: it is neither settings, nor True, False or None.
    """
    if isinstance(given, kind):
        return given
    if given not in (True, False, None):
        raise SettingError(name, given, f"give True, False or {kind.__name__}(...)")
    return kind() if given else None
