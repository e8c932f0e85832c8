"""From bare and loaded recordings to a payload."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from robot_identification.errors import ResultMismatchError
from robot_identification.identification.base import BaseParameters, base_parameters
from robot_identification.identification.identify import recording_warnings
from robot_identification.identification.payload.estimate import (
    PayloadEstimate,
    Rows,
    estimate_payload,
)
from robot_identification.identification.payload.runs import (
    Cancelled,
    Columns,
    Progress,
    check_runs,
    filtered,
    fold,
    friction_columns,
)
from robot_identification.identification.result import IdentificationResult, Source
from robot_identification.robot.model import RobotModel
from robot_identification.robot.mounting import Mounting
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.recording import Recording
from robot_identification.signals.settings import resolve_processing

FRICTION = ("shared", "separate")
_WEAK = 0.3


@dataclass(frozen=True)
class PayloadResult:
    """A payload identified from recordings.

    Attributes:
        robot: name of the robot.
        robot_digest: SHA-256 of the robot file.
        joint_names: names of the joints.
        mounting: the frame that the payload is described in.
        bare: recordings without the payload.
        loaded: recordings with it.
        friction: ``shared``: friction and offsets are the same bare and loaded; ``separate``: the
            loaded runs have their own.
        settings: every processing setting with its value and where it came from.
        base_names: names of the base parameters of the robot.
        estimate: the payload and its statistics.
        seconds: time that it took.
        warnings: what a user should know before trusting the result.
    """

    robot: str
    robot_digest: str
    joint_names: tuple[str, ...]
    mounting: Mounting
    bare: tuple[Source, ...]
    loaded: tuple[Source, ...]
    friction: str
    settings: Mapping[str, Mapping[str, object]]
    base_names: tuple[str, ...]
    estimate: PayloadEstimate
    seconds: float = 0.0
    warnings: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))


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
        SettingError: a setting is not possible, or a recording is both bare and loaded.
        ResultMismatchError: the earlier result has other base parameters.
        NotExcitedError: the motion tells nothing of the payload.
        CancelledError: if ``cancelled`` says so.
    """
    begin = time.monotonic()
    check_runs(bare, loaded, bare_needed=earlier is None)
    report = progress or (lambda _stage, _fraction: None)
    report("base parameters", 0.0)
    base = base_parameters(robot)
    processing = resolve_processing(robot, [*bare, *loaded], overrides or ProcessingSettings())
    further = friction_columns(robot) if separate_friction else np.array([], dtype=np.intp)
    columns = Columns(base, mounting, further)
    runs: list[Rows] = []
    report("bare runs", 0.1)
    if bare:
        run = fold(columns, filtered(bare, processing), processing, cancelled=cancelled)
        runs.append(Rows(run.factors, run.grams, columns.bare))
    if earlier is not None:
        runs.append(_earlier_rows(robot, base, earlier, columns.bare.shape[1]))
    report("loaded runs", 0.5)
    run = fold(columns, filtered(loaded, processing), processing, cancelled=cancelled)
    estimate = estimate_payload(runs, Rows(run.factors, run.grams, columns.loaded))
    report("done", 1.0)
    known = (Source(r.source, r.digest, r.samples, r.duration) for r in (*bare, *loaded))
    sources = tuple(known)
    before = earlier.sources if earlier is not None else ()
    return PayloadResult(
        robot=robot.name,
        robot_digest=robot.digest,
        joint_names=robot.joint_names,
        mounting=mounting,
        bare=(*before, *sources[: len(bare)]),
        loaded=sources[len(bare) :],
        friction=FRICTION[int(separate_friction)],
        settings=processing.entries(),
        base_names=base.names,
        estimate=estimate,
        seconds=time.monotonic() - begin,
        warnings=(*recording_warnings([*bare, *loaded]), *_warnings(estimate)),
    )


def _earlier_rows(
    robot: RobotModel, base: BaseParameters, earlier: IdentificationResult, unknowns: int
) -> Rows:
    """Return the rows of an earlier result of the bare robot.

    Raises:
        ResultMismatchError: it has other base parameters.
    """
    if earlier.joint_names != robot.joint_names or earlier.regrouping.names != base.names:
        raise ResultMismatchError(
            robot.name, f"the result is of {earlier.robot} with other base parameters"
        )
    inflation = 1.0
    estimate = earlier.estimate
    if estimate.std_robust is not None:
        positive = estimate.std > 0.0
        if positive.any():
            ratio = estimate.std_robust[positive] / estimate.std[positive]
            inflation = float(np.median(ratio))
    return Rows(earlier.factors, None, np.eye(len(base.names), unknowns), inflation)


def _warnings(estimate: PayloadEstimate) -> tuple[str, ...]:
    lines = []
    if estimate.rank < len(estimate.told):
        untold = len(estimate.told) - estimate.rank
        lines.append(
            f"the motion tells {estimate.rank} combinations of the payload's ten parameters; "
            f"{untold} stay unknown on any such motion"
        )
    body = estimate.body
    mass, std = body.values[0], body.std[0]
    if np.isfinite(mass) and mass < 3.0 * std:
        lines.append("the mass is not distinguishable from zero: is there a payload at all?")
    moments, deviations = body.values[4:], body.std[4:]
    if np.isfinite(moments).all():
        weak = float(deviations.max()) > _WEAK * float(np.abs(moments).max())
        if weak:
            lines.append(
                "the inertia about the centre of mass is known poorly (a standard deviation above "
                f"{100 * _WEAK:g} % of its largest entry): accelerate the last joints more"
            )
    return tuple(lines)
