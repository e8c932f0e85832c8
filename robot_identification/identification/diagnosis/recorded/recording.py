"""Judgement of recordings before anything is fitted to them.

What is looked for can be seen without a model: signals that are constant, held, cut off, spiky or
coarse, stamps in disorder, and positions, speeds and efforts beyond the limits of the robot, which
tell units.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from robot_identification.identification.diagnosis.finding import Finding, Severity, worst_first
from robot_identification.identification.diagnosis.recorded import signals
from robot_identification.identification.diagnosis.recorded.efforts import (
    coarse_findings,
    effort_findings,
)
from robot_identification.identification.diagnosis.recorded.limits import limit_findings
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.kinds import TermKind
from robot_identification.signals.recording import Recording

_SPEED_LAG = 0.02
"""Time over which speeds are taken, in s: shorter ones would be those of the noise."""

_MOVING = 0.02
"""A joint moves where its speed is above this part of its largest."""

_STILL = 0.01
"""Range of positions in rad or m below which a joint that varies as much in 20 ms as in all rests:
noise does so, motion does not."""

_ONE_WAY = 0.98
"""Share of the motion in one direction: of the rest, a fiftieth, friction is not known."""

_DOUBLED = 0.05
_SEVERAL = 3
_JUMPING = ("position stuck", "position spikes", "position quantised")
_FEWEST = 50


def recording_findings(robot: RobotModel, recordings: Sequence[Recording]) -> tuple[Finding, ...]:
    """Return what is wrong with recordings of a robot, the worst first.

    Args:
        robot: the robot.
        recordings: joint states on the joint side.
    """
    judged = [r for r in recordings if r.joint_names == robot.active_names]
    several = len(judged) > 1
    found = []
    for recording in judged:
        if recording.samples >= _FEWEST:
            named = recording if several else replace(recording, source="")
            found += _gathered(_without_sequels(list(_of_recording(robot, named))))
    return worst_first(found)


def _without_sequels(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings without the speeds that follow from positions that jump."""
    jumping = {f.joints for f in findings if f.cause in _JUMPING}
    return [f for f in findings if f.cause != "speed beyond limits" or f.joints not in jumping]


def _gathered(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings, those that are the same for several joints as one."""
    kinds: dict[tuple[Severity, str], list[Finding]] = {}
    for finding in findings:
        kinds.setdefault((finding.severity, finding.cause), []).append(finding)
    found = []
    for own in kinds.values():
        if len(own) < _SEVERAL:
            found += own
            continue
        worst = max(own, key=lambda one: one.weight)
        joints = (*worst.joints, *(j for f in own if f is not worst for j in f.joints))
        problem = f"of {worst.whose}, {worst.problem}; the others likewise"
        found.append(replace(worst, joints=joints, problem=problem))
    return found


def _of_recording(robot: RobotModel, recording: Recording) -> Iterator[Finding]:
    position = np.concatenate([s.position for s in recording.segments]).T
    effort = np.concatenate([s.effort for s in recording.segments]).T
    speed = np.concatenate([_speeds(s.position, recording.period) for s in recording.segments]).T
    known = bool(np.isfinite(position).all())
    moving = _moving(speed) if known else np.ones(effort.shape, dtype=np.bool_)
    resting = _resting(position, speed, recording.period)
    moving &= ~resting[:, None]
    for place in range(len(robot.active_joints)):
        yield from effort_findings(recording, place, effort[place], moving[place])
        if resting[place]:
            yield _constant(recording, place, position[place])
        elif known:
            yield from _of_position(robot, recording, place, position[place], speed[place])
    if known:
        yield from limit_findings(robot, recording.source, position, np.abs(speed), effort)
    yield from _of_stamps(recording)


def _speeds(position: Array, period: float) -> Array:
    """Return (samples, joints) speeds with their signs."""
    lag = min(_lag(period), max(len(position) // 3, 1))
    padded = np.concatenate([position[:1].repeat(lag, 0), position, position[-1:].repeat(lag, 0)])
    found: Array = (padded[2 * lag :] - padded[: -2 * lag]) / (2 * lag * period)
    return found


def _lag(period: float) -> int:
    """Return half the samples over which speeds are taken."""
    return max(1, round(_SPEED_LAG / period / 2))


def _resting(position: Array, speed: Array, period: float) -> npt.NDArray[np.bool_]:
    """Tell which (joints,) vary by the noise of their encoders only.

    Args:
        position: (joints, samples) in rad or m; NaN where nobody measured them.
        speed: (joints, samples) from :func:`_speeds`.
        period: of the samples, in s.
    """
    changes = 2 * _lag(period) * period * np.sqrt(np.mean(speed**2, axis=1))
    still = np.ptp(position, axis=1) < _STILL
    resting: npt.NDArray[np.bool_] = still & (changes > position.std(axis=1))
    return resting


def _moving(speed: Array) -> npt.NDArray[np.bool_]:
    largest = np.abs(speed).max(axis=1, keepdims=True)
    moving: npt.NDArray[np.bool_] = (np.abs(speed) > _MOVING * largest) & (largest > 0.0)
    return moving


def _of_position(
    robot: RobotModel, recording: Recording, place: int, position: Array, speed: Array
) -> Iterator[Finding]:
    name, source = recording.joint_names[place], recording.source
    if np.ptp(position) == 0.0:
        yield _constant(recording, place, position)
        return
    for segment in recording.segments:
        held = signals.freeze(segment.position[:, place])
        if held is not None:
            seconds = held.samples * recording.period
            yield Finding(
                Severity.MISTAKE, "position stuck", (name,),
                f"its position is held for {seconds:.3g} s from {segment.time[held.begin]:.2f} s "
                f"on, and jumps by {held.jump:.3g} at the end",
                "leave that part out (--begin, --end), or repair the encoder or its driver",
                {"seconds": seconds, "jump": held.jump}, source, 30.0 + seconds,
            )  # fmt: skip
            break
    left = sum(len(signals.jumps(s.position[:, place])) for s in recording.segments)
    strays = recording.statistics.strays
    count = left + (strays[place] if strays else 0)
    if count:
        yield Finding(
            Severity.MISTAKE if left else Severity.DOUBT, "position spikes", (name,),
            f"{count} samples of its positions stand far out of their neighbours"
            + ("" if left else "; they were left out"),
            "repair the encoder or its transmission, or stop what else publishes its states",
            {"spikes": count, "left_out": count - left}, source, 20.0,
        )  # fmt: skip
    yield from _one_way(robot, recording, place, speed)
    yield from coarse_findings(recording, "position", place, position)


def _constant(recording: Recording, place: int, position: Array) -> Finding:
    noise = float(np.ptp(position))
    return Finding(
        Severity.DOUBT, "position constant", (recording.joint_names[place],),
        f"its position is {position[0]:.6g} throughout"
        + (f", but for noise of {noise:.2g}" if noise else ""),
        "move it, or look whether its encoder is read: nothing of its own can be identified",
        {"value": float(position[0])}, recording.source, 50.0,
    )  # fmt: skip


def _one_way(
    robot: RobotModel, recording: Recording, place: int, speed: Array
) -> Iterator[Finding]:
    """Tell of a joint that moves in one direction only: Fc and off cannot be told apart."""
    joint = robot.active_joints[place]
    if not (joint.has(TermKind.COULOMB) and joint.has(TermKind.OFFSET)):
        return
    moving = speed[np.abs(speed) > _MOVING * np.abs(speed).max()]
    share = max(float((moving > 0.0).mean()), float((moving < 0.0).mean())) if len(moving) else 0.0
    number = robot.joint_names.index(joint.name) + 1
    if share > _ONE_WAY:
        yield Finding(
            Severity.DOUBT, "one direction only", (joint.name,),
            f"{100 * share:.3g} % of its motion goes in one direction, so that Fc{number} and "
            f"off{number} cannot be told apart",
            "record motions in both directions",
            {"share": share}, recording.source, 5.0,
        )  # fmt: skip


def _of_stamps(recording: Recording) -> Iterator[Finding]:
    found, source = recording.statistics, recording.source
    if found.received and found.duplicates / found.received > _DOUBLED:
        share = found.duplicates / found.received
        yield Finding(
            Severity.DOUBT, "stamps doubled", (),
            f"{100 * share:.3g} % of the messages carry the stamp of another one and are left out",
            "have the driver stamp each state when it is measured",
            {"share": share}, source, 2.0,
        )  # fmt: skip
    if found.received and found.out_of_order / found.received > _DOUBLED:
        yield Finding(
            Severity.DOUBT, "stamps disordered", (),
            f"{found.out_of_order} messages carry stamps older than those before them",
            "look at the clocks of the machines that stamp them",
            {"messages": found.out_of_order}, source, 2.0,
        )  # fmt: skip
