"""From bare and loaded recordings with a known payload to the gains of all drives."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_identification.errors import SettingError
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.identification.delays.effort_delay import delay_entry
from robot_identification.identification.friction.options import needs_whole
from robot_identification.identification.payload.body import NORMAL_95, STANDARD
from robot_identification.identification.payload.drive_gains import (
    GAIN_METHODS,
    GainEstimate,
    GainRows,
    estimate_gains,
)
from robot_identification.identification.payload.known import KnownPayload
from robot_identification.identification.payload.runs import (
    EXCHANGED,
    Cancelled,
    Columns,
    ComparedRuns,
    Progress,
    Run,
    check_runs,
    fold,
)
from robot_identification.identification.result_warnings import recording_warnings
from robot_identification.identification.rows.bands import summed
from robot_identification.identification.rows.factor import substituted, substituted_grams
from robot_identification.identification.rows.groups import merged
from robot_identification.identification.rows.whole_rows import WholeRows
from robot_identification.identification.source import Source
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.loops import refuse_loops
from robot_identification.robot.model import EffortMeaning, RobotModel
from robot_identification.robot.mounting import Mounting
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.processing.complete import Processing
from robot_identification.signals.processing.settings import resolve_processing
from robot_identification.signals.recording import Recording

_LARGE = 0.3


@by_value
@dataclass(frozen=True, kw_only=True)
class DriveGainResult(ComparedRuns):
    """Gains of all drives, identified from recordings.

    Attributes:
        payload: what was known of it.
        method: ``currents``, ``tls`` or ``ls``.
        trusted: joints whose gains were taken as right.
        believed: (joints,) drive gains of the robot file in N m/A or N/A; NaN where it has none.
        gains: (joints,) drive gains in N m/A or N/A: the factors times the believed ones, the
            factors themselves where efforts are currents and the robot file states none, NaN where
            efforts are torques and it states none.
        estimate: factors on the believed gains, and the statistics.
    """

    payload: KnownPayload
    method: str
    trusted: tuple[str, ...]
    believed: Array
    gains: Array
    estimate: GainEstimate

    @property
    def reversed(self) -> bool:
        """Whether all gains that were sought are negative, so that none of them is of use."""
        return _reversed(self.joint_names, self.trusted, self.estimate)

    @property
    def interval(self) -> tuple[Array, Array]:
        """Lower and upper ends of the 95 % intervals of the factors."""
        reach = NORMAL_95 * self.estimate.std
        return read_only(self.estimate.factors - reach), read_only(self.estimate.factors + reach)


def with_all_gains(robot: RobotModel) -> RobotModel:
    """Return the robot with a drive gain of 1 where efforts are currents and it states none.

    The factors on these are then the gains themselves.
    """
    if robot.effort_meaning is not EffortMeaning.CURRENT:
        return robot
    joints = (
        joint if joint.drive_gain is not None else replace(joint, drive_gain=1.0)
        for joint in robot.joints
    )
    return replace(robot, joints=tuple(joints))


def identify_drive_gains(
    robot: RobotModel,
    bare: Sequence[Recording],
    loaded: Sequence[Recording],
    mounting: Mounting,
    payload: KnownPayload,
    *,
    method: str = GAIN_METHODS[0],
    trusted: Sequence[str] = (),
    overrides: ProcessingSettings | None = None,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> DriveGainResult:
    """Identify the gains of all drives from runs without and with a known payload.

    Args:
        robot: the robot as its file describes it.
        bare: joint states without the payload, brought to the joint side with the believed gains,
            see :func:`with_all_gains`.
        loaded: joint states with it; the motions need not be the same.
        mounting: frame that the payload is known in.
        payload: what is known of it.
        method: ``currents``, ``tls`` or ``ls``.
        trusted: joints whose gains are taken as right.
        overrides: processing settings that replace recommended and derived ones.
        progress: told the stage and the fraction of the whole that is done.
        cancelled: asked now and then whether to stop.

    Raises:
        RecordingError: there are too few runs, or they are of no use.
        SettingError: a setting is not possible, or a recording is both bare and loaded or would
            count twice.
        DriveGainError: the runs say nothing, or next to nothing, of a gain.
        NotConvergedError: the iterations do not settle.
        CancelledError: if ``cancelled`` says so.
    """
    refuse_loops(robot, "the identification of drive gains")
    begin = time.monotonic()
    _check(robot, method, trusted)
    check_runs(bare, loaded, bare_needed=True)
    report = progress or (lambda _stage, _fraction: None)
    report("base parameters", 0.0)
    with_gains = with_all_gains(robot)
    base = base_parameters(with_gains)
    processing = resolve_processing(with_gains, [*bare, *loaded], overrides or ProcessingSettings())
    columns = Columns(base, mounting, np.array([], dtype=np.intp))
    runs = []
    for title, recordings, share in (("bare runs", bare, 0.1), ("loaded runs", loaded, 0.5)):
        report(title, share)
        runs.append(_motor_rows(columns, recordings, processing, cancelled))
    places = tuple(robot.joint_names.index(name) for name in trusted)
    rows = gain_rows(columns, runs[0], runs[1], payload, trusted=places)
    estimate = estimate_gains(rows, method)
    report("done", 1.0)
    believed = _believed(robot)
    return DriveGainResult(
        robot=robot.name,
        robot_digest=robot.digest,
        joint_names=robot.joint_names,
        mounting=mounting,
        payload=payload,
        bare=tuple(map(Source.of, bare)),
        loaded=tuple(map(Source.of, loaded)),
        method=method,
        trusted=tuple(trusted),
        settings={**processing.entries(), **delay_entry([*bare, *loaded])},
        believed=believed,
        gains=read_only(_believed(with_gains) * estimate.factors),
        base_names=base.names,
        estimate=estimate,
        seconds=time.monotonic() - begin,
        warnings=(
            *processing.warnings,
            *recording_warnings([*bare, *loaded]),
            *_warnings(robot.joint_names, trusted, believed, estimate),
        ),
    )


def _motor_rows(
    columns: Columns,
    recordings: Sequence[Recording],
    processing: Processing,
    cancelled: Cancelled | None,
) -> Run:
    motors = read_only(np.linalg.inv(columns.base.robot.motor_matrix).T)
    source = WholeRows.of(columns.base, recordings, processing, cancelled=cancelled, blocks=False)
    return fold(columns, source, motors=motors)


def _believed(robot: RobotModel) -> Array:
    """Return the drive gains of the robot file, NaN where it states none."""
    return read_only([np.nan if j.drive_gain is None else j.drive_gain for j in robot.joints])


def gain_rows(
    columns: Columns,
    bare: Run,
    loaded: Run,
    payload: KnownPayload,
    *,
    trusted: tuple[int, ...] = (),
) -> GainRows:
    """Return bare and loaded rows of the motors together, for the unknowns of the gains.

    Args:
        columns: columns that the runs were folded with.
        bare: rows of the motors without the payload.
        loaded: rows with it.
        payload: what is known of it, in the frame of the mounting.
        trusted: places of motors whose gain is taken as right.
    """
    unknown = [i for i in range(len(STANDARD)) if i not in payload.places]
    free = columns.of_payload[:, unknown]
    known = (columns.of_payload @ payload.values)[:, None]
    without = np.hstack([columns.of_base, np.zeros_like(free), np.zeros_like(known)])
    with_payload = np.hstack([columns.of_base, free, known])
    pairs = ((bare, without), (loaded, with_payload))
    return GainRows(
        motors=tuple(factor.joint for factor in bare.factors),
        factors=merged([[substituted(f, E) for f in run.factors] for run, E in pairs]),
        grams=summed([substituted_grams(run.grams, E) for run, E in pairs]),
        base=columns.base.rank,
        trusted=trusted,
    )


def _check(robot: RobotModel, method: str, trusted: Sequence[str]) -> None:
    if robot.follows_load or needs_whole(robot):
        raise SettingError(
            "robot",
            robot.name,
            "the identification of drive gains does not know friction that follows the load, whose "
            "size scales with the gains, nor friction with open shapes; leave it out of the robot "
            "file there, or state its shapes",
        )
    if method not in GAIN_METHODS:
        raise SettingError("method", method, f"choose one of {', '.join(GAIN_METHODS)}")
    for name in trusted:
        if name not in robot.joint_names:
            raise SettingError(
                "trust", name, f"no joint has this name; there are {', '.join(robot.joint_names)}"
            )
    if set(trusted) == set(robot.joint_names):
        raise SettingError("trust", ", ".join(trusted), "leaves no gain to identify")


def _warnings(
    names: Sequence[str], trusted: Sequence[str], believed: Array, estimate: GainEstimate
) -> tuple[str, ...]:
    odd = [
        f"{name} ({factor:.3g})"
        for name, factor, stated in zip(names, estimate.factors, believed, strict=True)
        if abs(factor - 1.0) > _LARGE and not np.isnan(stated)
    ]
    lines = []
    if _reversed(names, trusted, estimate):
        lines.append(
            f"all gains are negative: {EXCHANGED}, or have all currents the wrong sign? no gain is "
            "of use for the robot file"
        )
    elif odd:
        lines.append(
            f"gains far from the believed ones, as multiples: {', '.join(odd)}; check the "
            "payload's data, its frame, and the sign of the currents"
        )
    return tuple(lines)


def _reversed(names: Sequence[str], trusted: Sequence[str], estimate: GainEstimate) -> bool:
    sought = [name not in trusted for name in names]
    return bool((estimate.factors[sought] < 0.0).all())
