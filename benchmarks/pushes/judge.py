"""Contacts and efforts that are found in recordings, beside what acted."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

import robot_identification as ri
from pushes.recordings import FIT, FREE, LEARNING, PUSH, PUSHED, RATE, STANDING, Recorder, Samples
from pushes.wrenches import WrenchError, Wrenches, wrench_summary
from robot_identification.dynamics.external_efforts.levels import JudgedEfforts
from robot_identification.dynamics.external_efforts.settled import mean_efforts
from robot_identification.dynamics.external_efforts.watch import ExternalEffortWatch

SEEN_WITHIN = 0.03  # s
SETTLED = 5.0  # time constants from the beginning of a push, behind which its effort is judged
AFTER = 0.1  # s behind a push, in which contacts belong to it
BLOCK = 10  # states at a time, as the node takes them in
TOLD = 0.1  # of the root mean square of the efforts: a joint counts as told if it is known to that
Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass
class Taken:
    """What came of a recording: judged efforts, positions, contacts that begin, first stamp."""

    judged: JudgedEfforts
    position: Floats
    begins: list[tuple[float, str]]
    first: int


class Watched:
    """Recordings of an arm one after the other, as a stream of joint states.

    Args:
        recorder: gives the recordings.
        settings: of external efforts.
        velocity: whether states have velocities.
    """

    def __init__(
        self, recorder: Recorder, settings: ri.ExternalEffortSettings, *, velocity: bool
    ) -> None:
        robot = recorder.bench.robot
        fitted = next(recorder.recordings(FIT))
        recording = ri.Recording.from_arrays(robot, fitted.time, fitted.position, fitted.effort)
        result = ri.identify(robot, recording)
        self.calibrated = ri.calibrate(robot, result)
        self.recorder, self.velocity, self.settings = recorder, velocity, settings
        self.watch = ExternalEffortWatch(
            robot,
            self.calibrated.values,
            settings,
            residual_std=result.estimate.residual_std,
            rate_hz=float(result.settings["rate_hz"]["value"]),
        )
        self._now, self.seconds, self.samples = 10**18, 0.0, 0
        for free in recorder.recordings(LEARNING):
            self.take(free)
            if self.watch.thresholds is not None:
                break

    def take(self, given: Samples) -> Taken:
        """Return what comes of a recording, in blocks; the observer begins anew with it."""
        self._now += 10 * 10**9
        stamps = self._now + np.rint(1e9 * given.time).astype(np.int64)
        blocks, places, events, before = [], [], [], time.process_time()
        for first in range(0, len(stamps), BLOCK):
            part = slice(first, first + BLOCK)
            rates = given.velocity[part] if self.velocity else None
            found = self.watch.push(stamps[part], given.position[part], rates, given.effort[part])
            blocks.append(found.judged)
            places.append(found.observed.position)
            events += [event for event in found.events if not event.ended]
        self.seconds += time.process_time() - before
        self.samples += len(stamps)
        begun, self._now = self._now, int(stamps[-1])
        begins = [((event.stamp - begun) * 1e-9, event.joint) for event in events]
        return Taken(_joined(blocks), np.concatenate(places), begins, begun)


def _joined(blocks: list[Any]) -> Any:
    """Return blocks of efforts as one; None where thresholds were not known throughout."""
    if None in blocks:
        return None
    names = [one.name for one in fields(blocks[0])]
    return type(blocks[0])(
        **{name: np.concatenate([getattr(block, name) for block in blocks]) for name in names}
    )


@dataclass
class Pushes:
    """Pushes, and what was found of them."""

    delays: list[float] = field(default_factory=list)
    errors: list[Floats] = field(default_factory=list)
    plain: list[Floats] = field(default_factory=list)
    deviations: list[Floats] = field(default_factory=list)
    true: list[Floats] = field(default_factory=list)
    wrenches: list[WrenchError] = field(default_factory=list)
    others: int = 0

    def summary(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Return the figures."""
        waited = np.sort(self.delays)
        error, true = np.array(self.errors), np.array(self.true)
        deviation, plain = np.array(self.deviations), np.array(self.plain)
        size = np.sqrt(np.mean(true**2))
        told = deviation < TOLD * size
        known = np.where(told, true, 0.0)
        of_push = np.linalg.norm(error, axis=1) / np.linalg.norm(true, axis=1)
        return {
            "pushes": len(waited),
            "seen_within_30_ms": _rounded(np.mean(waited <= SEEN_WITHIN)),
            "seen": _rounded(np.mean(np.isfinite(waited))),
            "delay_median_ms": _rounded(1e3 * np.median(waited)),
            "delay_longest_of_seen_ms": _rounded(1e3 * waited[np.isfinite(waited)].max(initial=0)),
            "contacts_beside_pushes": self.others,
            "effort_error_all_joints": _rounded(_rms(error) / size),
            "effort_error_median_of_pushes": _rounded(np.median(of_push)),
            "effort_error_plain_mean": _rounded(_rms(plain) / size),
            "effort_rms_by_joint": dict(zip(names, _column_rms(true), strict=True)),
            "effort_error_by_joint": dict(zip(names, _column_rms(error), strict=True)),
            "share_told": _rounded(np.mean(told)),
            "effort_error_told": _rounded(_rms(error[told]) / max(_rms(true[told]), 1e-9)),
            "share_of_effort_told": _rounded(np.sum(known**2) / np.sum(true**2)),
            "within_two_deviations": _rounded(np.mean(np.abs(error) <= 2.0 * deviation)),
            "wrench": wrench_summary(self.wrenches),
        }


def _rounded(value: Any) -> float:
    return float(f"{float(value):.3g}")


def _rms(values: Floats) -> float:
    return float(np.sqrt(np.mean(np.square(values)))) if values.size else 0.0


def _column_rms(values: Floats) -> list[float]:
    return [_rounded(_rms(column)) for column in values.T]


def pushed(watched: Watched, kind: Any, count: int) -> Pushes:
    """Return what is found of so many pushes."""
    found = Pushes()
    at_flange = Wrenches(watched.recorder.bench)
    for number, recording in enumerate(watched.recorder.recordings(kind)):
        taken = watched.take(recording)
        forces = watched.recorder.forces(kind, number, len(recording.begins))
        free = [stamp for stamp, _ in taken.begins]
        for begin, external, force in zip(
            recording.begins, recording.external, forces, strict=True
        ):
            own = [stamp for stamp in free if begin <= stamp < begin + PUSH + AFTER]
            free = [stamp for stamp in free if stamp not in own]
            during = [stamp - begin for stamp in own if stamp < begin + PUSH]
            found.delays.append(min(during, default=np.inf))
            constant = watched.settings.time_constant
            ends = [
                taken.first + round(1e9 * (begin + after))
                for after in (SETTLED * constant, PUSH - 0.001)
            ]
            mean, deviation = mean_efforts(taken.judged, *ends, constant)
            inside = (taken.judged.stamps >= ends[0]) & (taken.judged.stamps <= ends[1])
            found.errors.append(mean - external)
            found.plain.append(taken.judged.effort[inside].mean(axis=0) - external)
            found.deviations.append(deviation)
            found.true.append(external)
            found.wrenches.append(at_flange.error(taken.judged, taken.position, inside, force))
        found.others += len(free)
        if len(found.delays) >= count:
            break
    return found


def free_motion(watched: Watched, seconds: float) -> Iterator[tuple[float, int]]:
    """Yield durations of unseen free motions, and how many contacts there are, for so long."""
    total = 0.0
    for recording in watched.recorder.recordings(FREE):
        if total >= seconds:
            return
        taken = watched.take(recording)
        total += float(recording.time[-1])
        for stamp, joint in taken.begins:
            print(f"false contact of {joint} at {stamp:.3f} s", file=sys.stderr, flush=True)
        yield float(recording.time[-1]), len(taken.begins)


def figures(watched: Watched, *, hours: float, pushes: int, standing: int) -> dict[str, Any]:
    """Return what is counted for an arm."""
    names = watched.recorder.bench.robot.joint_names
    moving = pushed(watched, PUSHED, pushes).summary(names)
    held = pushed(watched, STANDING, standing).summary(names) if standing else {}
    seconds, false = 0.0, 0
    for duration, count in free_motion(watched, 3600.0 * hours):
        seconds += duration
        false += count
        print(f"{seconds:.0f} s free: {false} false", file=sys.stderr, flush=True)
    return {
        "held_out_hours": _rounded(seconds / 3600.0),
        "false_contacts": false,
        "thresholds": np.round(watched.watch.thresholds, 2).tolist(),
        **moving,
        "standing": held,
        "share_of_a_core_at_1_khz": _rounded(watched.seconds / watched.samples * RATE),
    }
