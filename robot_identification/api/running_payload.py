"""Payload of a moving robot along a recording, with the calibrated model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robot_identification.api.payload import mounting_of
from robot_identification.api.sources.parameters import FullSource, full_values_of, with_law
from robot_identification.api.sources.recordings import (
    Run,
    measured_of,
    recordings_of,
    some_recordings_of,
)
from robot_identification.api.sources.robots import RobotSource, robot_of
from robot_identification.calibration.calibrated import CalibratedParameters
from robot_identification.calibration.running_payload.settings import RunningPayloadSettings
from robot_identification.calibration.running_payload.state import PayloadState, PayloadStatus
from robot_identification.calibration.running_payload.watch import PayloadWatch
from robot_identification.presentation import Presented
from robot_identification.robot.arrays import Array, read_only
from robot_identification.signals.recording import Recording

_UNKNOWN = np.full(10, np.nan)


@dataclass(frozen=True, repr=False)
class RunningPayload(Presented):
    """The payload of a robot along a recording.

    Attributes:
        robot: name of the robot.
        frame: that the payload is described in.
        states: what was told every quarter of a second, oldest first.
    """

    robot: str
    frame: str
    states: tuple[PayloadState, ...]

    @property
    def stamps(self) -> npt.NDArray[np.int64]:
        """(states,) in ns."""
        return np.array([state.stamp for state in self.states], dtype=np.int64)

    @property
    def status(self) -> tuple[PayloadStatus, ...]:
        """What could be told of each."""
        return tuple(state.status for state in self.states)

    @property
    def values(self) -> Array:
        """(states, 10) mass in kg, centre of mass in m, inertia about it in kg m^2; or NaN."""
        return self._table("values")

    @property
    def std(self) -> Array:
        """(states, 10) their standard deviations; intervals of 95 % are 1.96 to each side."""
        return self._table("std")

    @property
    def changes(self) -> tuple[int, ...]:
        """Stamps in ns when the payload has changed, or a contact begun."""
        found = {state.changes: state.change_stamp for state in self.states if state.changes}
        return tuple(found.values())

    @property
    def headline(self) -> str:
        """Summary in one line."""
        last = self.states[-1] if self.states else None
        told = "no motion" if last is None else f"at the end {last.status.name.lower()}"
        if last is not None and last.body is not None:
            mass, std = last.body.mass
            told += f", {mass:.4g} kg, standard deviation {std:.2g} kg"
        changes = len(self.changes)
        return f"payload of {self.robot} in the frame of {self.frame}: {changes} changes; {told}"

    def records(self) -> list[dict[str, object]]:
        """Return a row for each state."""
        rows = zip(self.states, self.values, self.std, strict=True)
        return [_record(state, values, std) for state, values, std in rows]

    def summary(self) -> dict[str, Any]:
        """Return its plain data; the keys are stable."""
        return {
            "robot": self.robot,
            "frame": self.frame,
            "changes": list(self.changes),
            "states": self.records(),
        }

    def _table(self, name: str) -> Array:
        rows = [
            _UNKNOWN if state.body is None else getattr(state.body.estimate, name)
            for state in self.states
        ]
        return read_only(np.array(rows).reshape(len(rows), len(_UNKNOWN)))


def running_payload(
    robot: RobotSource,
    parameters: FullSource,
    run: Run,
    *,
    frame: str | None = None,
    placement: Sequence[float] | None = None,
    free_motion: Run | Sequence[Run] = (),
    settings: RunningPayloadSettings | None = None,
) -> RunningPayload:
    """Estimate the payload of a robot along a recording, and when it changes.

    The same numbers as the node ``calibration`` publishes for the same states.

    Args:
        robot: the robot, its file, or the name of a shipped one.
        parameters: calibrated parameters, (full,) values, or a file; only the first tell how well
            they are known.
        run: the recording, or the bag or table that holds it.
        frame: link or joint of the robot, or link of its URDF; None: the last link.
        placement: x y z in m, roll pitch yaw in rad of the payload's frame in that frame.
        free_motion: recordings without payload and contact from which the residual of the bare
            robot is learned; by default the beginning of the run is such motion.
        settings: of learning, changes and memory; by default those of the settings.

    Raises:
        ResultMismatchError: the parameters belong to a robot with others.
        SettingError: the robot has loops, there is no such frame, or a setting is wrong.
        NoEffortError, EffortSignError: efforts of the free motion are missing, or have the wrong
            sign.
        InputError: a recording cannot be read, or its samples are of no use.
    """
    described, _ = with_law(robot_of(robot), parameters)
    mounting = mounting_of(robot, described, frame, placement)
    spread = parameters.spread if isinstance(parameters, CalibratedParameters) else None
    values = full_values_of(described, parameters)
    watch = PayloadWatch(described, values, mounting, spread, settings)
    free = recordings_of(described, free_motion) if free_motion != () else []
    runs = some_recordings_of(described, run)
    for recording in free:
        for _ in _pushed(watch, recording):
            pass
    if free and watch.free is None:
        watch.learn()
    states = [state for recording in runs for found in _pushed(watch, recording) for state in found]
    return RunningPayload(described.name, mounting.frame, tuple(states))


def _pushed(watch: PayloadWatch, recording: Recording) -> Iterator[list[PayloadState]]:
    """Yield what comes of the segments of a recording, each of which begins anew."""
    for segment in recording.segments:
        watch.restart()
        stamps, position, _, effort = measured_of(recording, segment)
        yield watch.push(stamps, position, effort)


def _record(state: PayloadState, values: Array, std: Array) -> dict[str, object]:
    names = ("mass", "x", "y", "z")
    told = {name: float(value) for name, value in zip(names, values, strict=False)}
    known = {f"{name}_std": float(value) for name, value in zip(names, std, strict=False)}
    return {
        "stamp": state.stamp,
        "status": state.status.name.lower(),
        **told,
        **known,
        "changes": state.changes,
    }
