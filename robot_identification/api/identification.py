"""Identify by least squares, merge, validate and diagnose."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from robot_identification.api.sources.parameters import (
    ParameterSource,
    ResultSource,
    base_values_of,
    result_of,
    with_law,
)
from robot_identification.api.sources.recordings import Run, recordings_of
from robot_identification.api.sources.robots import RobotSource, robot_of
from robot_identification.errors import SettingError
from robot_identification.identification import identify as core
from robot_identification.identification import validate as validation
from robot_identification.identification.diagnosis.diagnosis import Diagnosis
from robot_identification.identification.diagnosis.diagnosis import diagnose as core_diagnose
from robot_identification.identification.estimators.choice import DEFAULT
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.identification.estimators.huber import HuberSettings
from robot_identification.identification.estimators.weighting import Weighting
from robot_identification.identification.friction.options import STATED
from robot_identification.identification.merging import merge_results
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.rows.whole_rows import Cancelled, Progress
from robot_identification.identification.validate import Validation
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.periodic.periods import PeriodicMotion

Chosen = TypeVar("Chosen", EliminationRule, HuberSettings)


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
