"""Periodic recordings: noise between periods, model errors that repeat, drift."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_identification.identification import entries as entry_of
from robot_identification.identification.periodic.drift import (
    LEVEL,
    JointDrift,
    drift_entries,
    drift_from,
    drift_of,
)
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.model import RobotModel
from robot_identification.signals.periodic.average import AveragedPeriods
from robot_identification.signals.processing.complete import Processing

# Residual, over the noise between periods, from which the model is said not to explain it.
_MISFIT = 1.5
# Difference of the measured period to the stated one that is told.
_CLOCK = 1e-3


@by_value
@dataclass(frozen=True)
class PeriodicRecording:
    """Periods of a recording: their average, their noise, their drift.

    Attributes:
        source: the recording.
        stated_period: period that was stated, in s.
        period: measured one, or the stated one where they do not differ, in s.
        periods: number of periods that were averaged.
        planned_periods: number of periods of the plan; None: not known.
        dropped: number of first periods left out because the motion had not settled.
        begin: where the first of the others begins, in s since the first stamp.
        harmonics: (joints,) highest harmonic of the positions.
        position_noise: (joints,) standard deviations of the positions, in rad or m.
        effort_noise: (joints,) standard deviations of the efforts of one period, in N m or N.
        correlation: (joints, joints) of the noise of the efforts.
        misfit: (joints,) residual of the fit over what noise of efforts and positions makes of it.
        drift: of the friction of every joint that moves.
    """

    source: str
    stated_period: float
    period: float
    periods: int
    planned_periods: int | None
    dropped: int
    begin: float
    harmonics: tuple[int, ...]
    position_noise: Array
    effort_noise: Array
    correlation: Array
    misfit: Array
    drift: tuple[JointDrift, ...]

    @property
    def drifts(self) -> bool:
        """Whether any joint drifts."""
        return any(joint.drifts for joint in self.drift)


def periodic_recording(
    robot: RobotModel,
    source: str,
    average: AveragedPeriods,
    processing: Processing,
    misfit: Array,
) -> PeriodicRecording:
    """Return what the periods of a recording tell.

    Args:
        robot: the robot.
        source: the recording.
        average: its average.
        processing: with which rows were made of it.
        misfit: (joints,) residual of the fit over what noise makes of it.
    """
    deviations = np.sqrt(np.diag(average.covariance))
    scale = np.where(deviations > 0.0, deviations, 1.0)
    thresholds = np.array(processing.velocity_threshold)[:, None]
    speed = np.abs(average.segment.velocity)
    moving = (speed >= thresholds) & (speed > 0.0)
    return PeriodicRecording(
        source=source,
        stated_period=average.motion.period,
        period=average.series.period,
        periods=average.periods,
        planned_periods=average.motion.planned_periods,
        dropped=average.dropped,
        begin=float(average.segment.time[0]),
        harmonics=average.series.harmonics,
        position_noise=average.position_noise,
        effort_noise=read_only(deviations),
        correlation=read_only(average.covariance / np.multiply.outer(scale, scale)),
        misfit=read_only(misfit),
        drift=drift_of(robot.active_names, average, moving),
    )


def periodic_warnings(found: PeriodicRecording, joint_names: Sequence[str]) -> tuple[str, ...]:
    """Return what a user should know of the periods before trusting the numbers."""
    lines: list[str] = []
    if found.planned_periods is not None and found.periods + found.dropped < found.planned_periods:
        lines.append(
            f"{found.source}: only {found.periods + found.dropped} of {found.planned_periods} "
            "periods of the plan repeat without interruption"
        )
    if found.dropped:
        lines.append(
            f"{found.source}: {found.dropped} first periods left out, in which the motion had not "
            "settled"
        )
    if abs(found.period / found.stated_period - 1.0) > _CLOCK:
        lines.append(
            f"{found.source}: the motion repeats every {found.period:.6g} s, not every "
            f"{found.stated_period:.6g} s; the measured period is used"
        )
    drifting = [joint for joint in found.drift if joint.drifts]
    if drifting:
        named = ", ".join(f"{joint.joint} (p = {joint.probability:.1g})" for joint in drifting)
        lines.append(
            f"{found.source}: the periods drift: friction of {named} changes from the first period "
            "to the last; std takes what differs between periods for noise: warm the robot up, and "
            "record again"
        )
    unexplained = [
        f"{name} ({ratio:.1f})"
        for name, ratio in zip(joint_names, found.misfit, strict=True)
        if ratio > _MISFIT
    ]
    if unexplained:
        lines.append(
            f"{found.source}: what the model leaves unexplained repeats: the residual over the "
            f"noise between periods is {', '.join(unexplained)}; more periods do not help there, "
            "and std_robust is the one to judge by"
        )
    return tuple(lines)


def periodic_entries(
    recordings: Sequence[PeriodicRecording], joint_names: Sequence[str]
) -> dict[str, Any]:
    """Return the plain data of periodic recordings."""
    return {
        "drift_level": LEVEL,
        "recordings": [_entries(one, joint_names) for one in recordings],
    }


def _entries(found: PeriodicRecording, names: Sequence[str]) -> dict[str, Any]:
    def per_joint(values: Sequence[Any] | Array) -> dict[str, Any]:
        return dict(zip(names, np.asarray(values).tolist(), strict=True))

    return {
        "source": found.source,
        "stated_period": found.stated_period,
        "period": found.period,
        "periods": found.periods,
        "planned_periods": found.planned_periods,
        "dropped": found.dropped,
        "begin": found.begin,
        "harmonics": per_joint(found.harmonics),
        "position_noise": per_joint(found.position_noise),
        "effort_noise": per_joint(found.effort_noise),
        "correlation": found.correlation.tolist(),
        "misfit": per_joint(found.misfit),
        "drifts": found.drifts,
        "drift": [drift_entries(joint) for joint in found.drift],
    }


def periodic_of(
    entries: Mapping[str, Any], joint_names: tuple[str, ...]
) -> tuple[PeriodicRecording, ...]:
    """Return the periodic recordings that plain data describe.

    Raises:
        KeyError, TypeError, ValueError: they describe nothing of the kind.
    """
    return tuple(_of(entry, joint_names) for entry in entry_of.mappings(entries, "recordings"))


def _of(entry: Mapping[str, Any], names: tuple[str, ...]) -> PeriodicRecording:
    def per_joint(name: str) -> Array:
        own = entry_of.mapping(entry, name)
        return read_only(entry_of.finite([own[joint] for joint in names], name))

    rows = entry["correlation"]
    if not isinstance(rows, list) or len(rows) != len(names):
        raise ValueError(f"correlation needs {len(names)} rows")
    harmonics = entry_of.mapping(entry, "harmonics")
    planned = entry["planned_periods"]
    return PeriodicRecording(
        source=entry_of.text(entry, "source"),
        stated_period=entry_of.number(entry, "stated_period"),
        period=entry_of.number(entry, "period"),
        periods=entry_of.count(entry, "periods"),
        planned_periods=None if planned is None else entry_of.count(entry, "planned_periods"),
        dropped=entry_of.count(entry, "dropped"),
        begin=entry_of.number(entry, "begin"),
        harmonics=tuple(entry_of.count(harmonics, joint) for joint in names),
        position_noise=per_joint("position_noise"),
        effort_noise=per_joint("effort_noise"),
        correlation=read_only(
            np.array([entry_of.finite(row, "correlation", len(names)) for row in rows])
        ),
        misfit=per_joint("misfit"),
        drift=tuple(drift_from(one) for one in entry_of.mappings(entry, "drift")),
    )
