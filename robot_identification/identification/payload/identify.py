"""From bare and loaded recordings to a payload."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_identification.errors import ResultMismatchError, SettingError
from robot_identification.identification.base.parameters import BaseParameters, base_parameters
from robot_identification.identification.belonging import (
    EFFORT_MEANING,
    different_efforts,
    effort_meaning_of,
    refuse_other_parameters,
)
from robot_identification.identification.delays.effort_delay import delay_entry
from robot_identification.identification.friction.options import needs_whole
from robot_identification.identification.identify import identify
from robot_identification.identification.payload.estimate import (
    PayloadEstimate,
    Rows,
    estimate_payload,
)
from robot_identification.identification.payload.runs import (
    EXCHANGED,
    Cancelled,
    Columns,
    ComparedRuns,
    Progress,
    check_runs,
    fold,
    friction_columns,
)
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.result_warnings import recording_warnings
from robot_identification.identification.rows.whole_rows import WholeRows
from robot_identification.identification.source import Source
from robot_identification.robot.arrays import Array
from robot_identification.robot.loops import refuse_loops
from robot_identification.robot.model import RobotModel
from robot_identification.robot.mounting import Mounting
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.processing.settings import resolve_processing
from robot_identification.signals.recording import Recording

FRICTION = ("shared", "separate")
_WEAK = 0.3
_STEPS = 20
_STANDS = 1e-3
_MOVES = "the load that friction follows still moves after all iterations"


@dataclass(frozen=True, kw_only=True)
class PayloadResult(ComparedRuns):
    """A payload identified from recordings.

    Attributes:
        friction: ``shared``: friction and offsets are the same bare and loaded; ``separate``: the
            loaded runs have their own.
        estimate: the payload and its statistics.
    """

    friction: str
    estimate: PayloadEstimate


def identify_payload(
    robot: RobotModel,
    bare: Sequence[Recording],
    loaded: Sequence[Recording],
    mounting: Mounting,
    *,
    earlier: IdentificationResult | None = None,
    separate_friction: bool = False,
    overrides: ProcessingSettings | None = None,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> PayloadResult:
    """Identify a payload from runs without and with it.

    Args:
        robot: the robot.
        bare: joint states without the payload.
        loaded: joint states with it; the motions need not be the same.
        mounting: frame that the payload is described in.
        earlier: identification of the bare robot; its rows count besides those of ``bare``.
        separate_friction: whether the load may change friction and offsets.
        overrides: processing settings that replace recommended and derived ones.
        progress: told the stage and the fraction of the whole that is done.
        cancelled: asked now and then whether to stop.

    Raises:
        RecordingError: there are too few runs, or they are of no use.
        SettingError: a setting is not possible, a recording is both bare and loaded or would count
            twice, or nothing tells shapes and loads of friction that the robot file leaves open.
        ResultMismatchError: the earlier result has other base parameters, or is of other efforts.
        NotExcitedError: the motion tells nothing of the payload.
        CancelledError: if ``cancelled`` says so.
    """
    refuse_loops(robot, "the identification of payloads")
    begin = time.monotonic()
    check_runs(bare, loaded, bare_needed=earlier is None)
    report = progress or (lambda _stage, _fraction: None)
    report("base parameters", 0.0)
    robot = _with_law(robot, bare, earlier, overrides, cancelled)
    mounting = replace(mounting, first=robot.layout.first(mounting.joint))
    base = base_parameters(robot)
    processing = resolve_processing(robot, [*bare, *loaded], overrides or ProcessingSettings())
    further = friction_columns(robot) if separate_friction else np.array([], dtype=np.intp)
    columns = Columns(base, mounting, further)
    report("bare runs", 0.1)
    runs = []
    if bare:
        runs.append(_rows(columns, bare, processing, columns.bare, cancelled))
    if earlier is not None:
        runs.append(_earlier_rows(robot, base, earlier, columns.bare.shape[1]))
    report("loaded runs", 0.5)
    estimate, stands = _settled(columns, runs, loaded, processing, cancelled)
    report("done", 1.0)
    before = earlier.sources if earlier is not None else ()
    return PayloadResult(
        robot=robot.name,
        robot_digest=robot.digest,
        joint_names=robot.joint_names,
        mounting=mounting,
        bare=(*before, *map(Source.of, bare)),
        loaded=tuple(map(Source.of, loaded)),
        friction=FRICTION[int(separate_friction)],
        settings={**processing.entries(), **delay_entry([*bare, *loaded])},
        base_names=base.names,
        estimate=estimate,
        seconds=time.monotonic() - begin,
        warnings=(
            *_remarks(robot, earlier, bare),
            *processing.warnings,
            *recording_warnings([*bare, *loaded]),
            *_warnings(estimate),
            *([] if stands else [_MOVES]),
        ),
    )


def _with_law(
    robot: RobotModel,
    bare: Sequence[Recording],
    earlier: IdentificationResult | None,
    overrides: ProcessingSettings | None,
    cancelled: Cancelled | None,
) -> RobotModel:
    """Return the robot with the friction law of the bare runs, where its file leaves that open.

    Raises:
        SettingError: the file does, and there is neither a bare run nor a law of the result.
    """
    if earlier is not None and earlier.friction is not None:
        return earlier.model_of(robot)
    if not needs_whole(robot):
        return robot
    if not bare:
        raise SettingError(
            "result",
            "given",
            "has no friction law, which the robot file leaves open; identify again",
        )
    return identify(robot, bare, overrides=overrides, cancelled=cancelled).model_of(robot)


def _settled(
    columns: Columns,
    bare: Sequence[Rows],
    loaded: Sequence[Recording],
    processing: Processing,
    cancelled: Cancelled | None,
) -> tuple[PayloadEstimate, bool]:
    """Return the payload, and whether it stands.

    Friction that follows the load follows that of robot and payload in the loaded runs: with the
    payload found so far, until it moves by no more than a thousandth of its deviation.
    """
    base, mounting = columns.base, columns.mounting
    loads, before = base.robot.loads, None
    for _ in range(_STEPS):
        rows = _rows(columns, loaded, processing, columns.loaded, cancelled)
        estimate = estimate_payload(bare, rows)
        if loads is None:
            return estimate, True
        if before is not None:
            deviations = np.sqrt(np.diag(estimate.covariance))
            if (np.abs(estimate.values - before) <= _STANDS * deviations).all():
                return estimate, True
        before = estimate.values
        carried = np.array(loads)
        carried[mounting.columns] += mounting.to_link @ before
        robot = replace(base.robot, loads=carried)
        columns = replace(columns, base=replace(base, robot=robot))
    return estimate, False


def _rows(
    columns: Columns,
    recordings: Sequence[Recording],
    processing: Processing,
    unknowns: Array,
    cancelled: Cancelled | None,
) -> Rows:
    """Return the rows of recordings for the unknowns of their load."""
    source = WholeRows.of(columns.base, recordings, processing, cancelled=cancelled, blocks=False)
    run = fold(columns, source)
    return Rows(run.factors, run.grams, unknowns)


def _earlier_rows(
    robot: RobotModel, base: BaseParameters, earlier: IdentificationResult, unknowns: int
) -> Rows:
    """Return the rows of an earlier result of the bare robot.

    Raises:
        ResultMismatchError: it has other joints or base parameters, or its efforts were others.
    """
    if earlier.joint_names != robot.joint_names:
        raise ResultMismatchError(
            robot.name, f"the result is of {earlier.robot}, with other joints"
        )
    refuse_other_parameters(robot, earlier, base)
    if other := different_efforts(robot, effort_meaning_of(earlier)):
        entry = other[EFFORT_MEANING]
        raise ResultMismatchError(
            robot.name,
            f"the result was identified from efforts that are {entry['identified']}, and those of "
            f"the runs are {entry['used']}; identify the bare robot with the same --effort-meaning",
        )
    inflation = 1.0
    estimate = earlier.estimate
    if estimate.std_robust is not None:
        positive = estimate.std > 0.0
        if positive.any():
            ratio = estimate.std_robust[positive] / estimate.std[positive]
            inflation = float(np.median(ratio))
    # Weights between bags would pass for another noise than that of the runs beside them.
    told = earlier.measured_triangles if earlier.is_weighted else earlier.triangles
    return Rows(told("payload"), None, np.eye(len(base.names), unknowns), inflation)


def _remarks(
    robot: RobotModel, earlier: IdentificationResult | None, bare: Sequence[Recording]
) -> tuple[str, ...]:
    """Return what a user should know of an earlier result beside bare runs, one line each."""
    if earlier is None:
        return ()
    lines = list(earlier.remarks_on(robot))
    if earlier.is_weighted and earlier.alteration_warning:
        lines.append(earlier.alteration_warning)
    behind = {source.digest for source in earlier.sources if source.digest}
    # Parts of one recording have the same digest, so that it cannot be refused.
    if again := [one.source for one in bare if one.digest in behind]:
        lines.append(
            f"{', '.join(again)}: bare, and behind the result too; what was fitted of it there "
            "counts twice, and deviations are too small: leave it out here"
        )
    return tuple(lines)


def _warnings(estimate: PayloadEstimate) -> tuple[str, ...]:
    lines = []
    if estimate.rank < len(estimate.told):
        untold = len(estimate.told) - estimate.rank
        lines.append(
            f"{estimate.rank} combinations of the payload's ten parameters are identifiable; "
            f"{untold} are not, on any such motion"
        )
    body = estimate.body
    mass, std = body.values[0], body.std[0]
    if np.isfinite(mass) and abs(mass) < 3.0 * std:
        lines.append("the mass is not distinguishable from zero: is there a payload at all?")
    elif mass < 0.0:
        lines.append(f"the mass is negative: {EXCHANGED}?")
    moments, deviations = body.values[4:], body.std[4:]
    if np.isfinite(moments).all():
        weak = float(deviations.max()) > _WEAK * float(np.abs(moments).max())
        if weak:
            lines.append(
                "the inertia about the centre of mass is known poorly (a standard deviation above "
                f"{100 * _WEAK:g} % of its largest entry): accelerate the last joints more"
            )
    return tuple(lines)
