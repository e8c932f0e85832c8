"""Judgement of efforts before anything is fitted to them: missing, cut off, spiky, coarse, held."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from robot_identification.identification.diagnosis.finding import Finding, Severity
from robot_identification.identification.diagnosis.recorded import signals
from robot_identification.robot.arrays import Array
from robot_identification.signals.recording import Recording

_COARSE = 0.05
"""Noise of the resolution, over the deviation of the signal, from which on it is told: that of the
parameters grows with it, and a twentieth is what else is called known well."""


def effort_findings(
    recording: Recording, place: int, effort: Array, moving: npt.NDArray[np.bool_]
) -> Iterator[Finding]:
    """Give out what is wrong with the efforts of a joint.

    Args:
        recording: that they are of.
        place: of the joint.
        effort: (samples,) of all segments, in N m or N.
        moving: (samples,) where the joint moves.
    """
    name, source = recording.joint_names[place], recording.source
    if not effort.any():
        if moving.any():
            yield Finding(
                Severity.MISTAKE, "effort zero", (name,),
                "its efforts are zero throughout although it moves",
                "record them with a driver that measures efforts",
                {"samples": len(effort)}, source, 100.0,
            )  # fmt: skip
        return
    if np.ptp(effort) == 0.0:
        if moving.any():
            yield Finding(
                Severity.MISTAKE, "effort constant", (name,),
                f"its efforts are {effort[0]:.4g} throughout although it moves",
                "look for what the driver publishes in place of a measurement",
                {"value": float(effort[0])}, source, 100.0,
            )  # fmt: skip
        return
    coarse = list(coarse_findings(recording, "effort", place, effort))
    # In coarse steps small values are zero, and the largest ones equal, of themselves.
    cut_off = [] if coarse else list(_cut_off(recording, place, effort, moving))
    yield from cut_off
    outliers = [signals.spikes(segment.effort[:, place]) for segment in recording.segments]
    if count := sum(map(len, outliers)):
        first = next(
            float(segment.time[own[0]])
            for segment, own in zip(recording.segments, outliers, strict=True)
            if len(own)
        )
        yield Finding(
            Severity.MISTAKE if count > 1 else Severity.DOUBT, "effort spikes", (name,),
            f"{count} samples of its efforts stand far out of their neighbours, the first at "
            f"{first:.2f} s",
            "repair the measurement, or limit their pull with --robust",
            {"spikes": count, "first": first}, source, 10.0,
        )  # fmt: skip
    yield from coarse
    held = _held(recording, place, moving)
    levels = {abs(one.figures["level"]) for one in cut_off}
    if held is not None and abs(held.figures["level"]) not in levels:  # cut off, they stay there
        yield held


def _cut_off(
    recording: Recording, place: int, effort: Array, moving: npt.NDArray[np.bool_]
) -> Iterator[Finding]:
    """Tell of efforts that are not measured beyond a level, or within one."""
    zone, cut = signals.dead_zone(effort, moving), signals.plateau(effort, moving)
    if cut is not None and (zone is None or cut.level != 0.0):
        yield _saturated(recording, place, cut.level, cut.share)
    if zone is not None:
        one_sided = effort.min() >= 0.0 or effort.max() <= 0.0
        yield Finding(
            Severity.MISTAKE, "effort dead zone", (recording.joint_names[place],),
            f"its efforts are exactly zero in {100 * zone.share:.2g} % of the samples, {zone.runs} "
            f"times while it moves: small ones{', or those of one sign,' if one_sided else ''} are "
            "cut off",
            "have the driver publish all efforts as they are measured",
            {"level": 0.0, "share": zone.share, "runs": zone.runs}, recording.source,
            50.0 * zone.share + 10.0,
        )  # fmt: skip


def _held(recording: Recording, place: int, moving: npt.NDArray[np.bool_]) -> Finding | None:
    """Return that the efforts of a joint are held for a while though it moves; None: they are not.

    Args:
        recording: that they are of.
        place: of the joint.
        moving: (samples,) where it moves.
    """
    passed = 0
    for segment in recording.segments:
        values = segment.effort[:, place]
        # Within a coarse step efforts that vary slowly are equal for long.
        held = None if _coarseness(values) > _COARSE else signals.freeze(values, noisy=True)
        if held is not None:
            first = passed + held.begin
            if moving[first : first + held.samples].mean() > 0.5:
                return _held_at(recording, place, values, held, float(segment.time[held.begin]))
        passed += len(values)
    return None


def _held_at(
    recording: Recording, place: int, values: Array, held: signals.Freeze, begin: float
) -> Finding:
    """Return that efforts are held from a time on; at an extreme they are cut off there."""
    level = float(values[held.begin])
    if held.at_extreme and level != 0.0:
        return _saturated(recording, place, level, float(np.mean(values == level)))
    seconds = held.samples * recording.period
    return Finding(
        Severity.MISTAKE, "effort stuck", (recording.joint_names[place],),
        f"its efforts are held for {seconds:.3g} s from {begin:.2f} s on while it moves",
        "leave that part out (--begin, --end), or repair the driver",
        {"seconds": seconds, "level": level}, recording.source, 20.0 + seconds,
    )  # fmt: skip


def _saturated(recording: Recording, place: int, level: float, share: float) -> Finding:
    return Finding(
        Severity.MISTAKE, "effort saturated", (recording.joint_names[place],),
        f"its efforts do not go beyond {level:.4g}, where {100 * share:.2g} % of the samples lie "
        "exactly",
        "record a slower motion, or widen the range of the measurement",
        {"level": level, "share": share}, recording.source, 50.0 * share + 10.0,
    )  # fmt: skip


def coarse_findings(
    recording: Recording, signal: str, place: int, values: Array
) -> Iterator[Finding]:
    """Tell of a signal whose steps are large beside what it varies by.

    Args:
        recording: that it is of.
        signal: its name.
        place: of the joint.
        values: (samples,) of all segments.
    """
    if (share := _coarseness(values)) > _COARSE:
        step, spread = signals.resolution(values), float(values.std())
        yield Finding(
            Severity.MISTAKE if share > 2 * _COARSE else Severity.DOUBT,
            f"{signal} quantised", (recording.joint_names[place],),
            f"its {signal}s come in steps of {step:.3g}, {100 * step / spread:.2g} % of what they "
            "vary by",
            "publish them with more digits",
            {"step": step, "share": share}, recording.source, 10.0 * share,
        )  # fmt: skip


def _coarseness(values: Array) -> float:
    """Return the noise of a signal's resolution over its deviation; 0 where it is constant."""
    spread = float(values.std())
    return signals.resolution(values) / 12**0.5 / spread if spread > 0.0 else 0.0
