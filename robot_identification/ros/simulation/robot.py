"""A simulated robot on its own fixed-step clock: takes trajectories, gives measured samples."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.kernels import control as control_kernels
from robot_identification.dynamics.reference import Reference, hold
from robot_identification.dynamics.simulation.control_law import Law
from robot_identification.dynamics.simulation.fixed_step import SimulatedSamples
from robot_identification.dynamics.simulation.sensors import Measurement, Sensors
from robot_identification.errors import TrajectoryError
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel

_STANDSTILL = 1e-6
_CLOCK_ROUNDING = 1e-9
_SAMPLE_ROUNDING = 1e-4  # of a sample period; stamps are whole nanoseconds
FARTHEST_EFFORT = 5.0


class Loop(Protocol):
    """Simulation of a robot under its controller, such as :class:`.ClosedLoop`.

    Attributes:
        robot: the robot.
        rate_hz: rate of the controller.
        every: control periods in a sampling period.
        law: of the controller.
    """

    robot: RobotModel
    rate_hz: float
    every: int
    law: Law

    @property
    def period(self) -> float:
        """Control period in s."""

    @property
    def sample_period(self) -> float:
        """Sampling period in s."""

    def settled(self, position: npt.ArrayLike) -> Any:
        """Return the state, with the attribute ``step``, at rest at a position (joints,)."""

    def advance(
        self, state: Any, reference: Reference, steps: int, extra: npt.ArrayLike | None = None
    ) -> tuple[Any, SimulatedSamples]:
        """Return the state after some control steps, and the samples until then.

        Efforts ``extra`` are (joints,), or (steps, joints) for each control step.
        """


@dataclass(frozen=True)
class Start:
    """Acceptance of a trajectory.

    Attributes:
        delay: time from now to the first point, in s; negative if the trajectory is joined late.
        sample: number of the first sample at or after its start.
    """

    delay: float
    sample: int


class RobotSimulator:
    """A robot that holds its position until a trajectory comes.

    Nothing here knows the time of day: what comes out depends only on the numbers of the samples
    at which trajectories and efforts came in.

    Args:
        loop: the robot and its controller.
        sensors: what measures it.
        position: (joints,) position that is held at first.

    Attributes:
        late_efforts: efforts that came after the sample from which they were to hold.
    """

    def __init__(self, loop: Loop, sensors: Sensors, position: npt.ArrayLike) -> None:
        self._loop = loop
        self._sensors = sensors
        self._state = loop.settled(position)
        self._reference: Reference = hold(position)
        self._followed: Trajectory | None = None  # whose points carry efforts
        self._position: Array = np.array(position, dtype=np.float64)
        self._extra = np.zeros(len(loop.robot.joints))
        self._efforts: deque[tuple[int, Array]] = deque()
        self.late_efforts = 0
        self._runs = 0
        self._restart_at: int | None = None
        self._present()  # the last kernel that would otherwise be compiled later

    @property
    def next_sample(self) -> int:
        """Number of the sample that comes next, counted from 0."""
        return self._state.step // self._loop.every

    @property
    def moving_until(self) -> int:
        """Number of the sample at which the present trajectory has ended."""
        left = float(self._reference.knots[-1]) - self._time(self._reference)
        return self.next_sample + max(0, math.ceil(left / self._loop.sample_period))

    def _time(self, reference: Reference) -> float:
        """Return the time of a reference at the next control step."""
        return (self._state.step - reference.origin) * self._loop.period + reference.lead

    def follow(self, trajectory: Trajectory, start: float | None) -> Start:
        """Follow a trajectory from now on, in place of the one before.

        Until its first point the way leads there from where the reference is now, as in
        joint_trajectory_controller.  So do efforts that the points carry: they are straight lines
        between the points, added to what the controller gives, and hold on after the last one.
        Every trajectory starts its own noise.

        Args:
            trajectory: joints in any order.
            start: simulated time in s at which its clock starts; None starts it now.

        Raises:
            TrajectoryError: if it names other joints, ends in motion, or is over.
        """
        ordered, origin, lead, time = self.check(trajectory, start)
        delay = float(ordered.times[0]) - time
        if delay > _CLOCK_ROUNDING:
            (effort,) = self._efforts_of_points(1)
            ordered = ordered.preceded_by(time, *self._present(), effort)
        self._followed = None if ordered.efforts is None else ordered
        self._reference = ordered.reference._replace(origin=origin, lead=lead)
        self._restart_at = max(self.next_sample, -(-origin // self._loop.every))
        return Start(delay, self._restart_at)

    def check(
        self, trajectory: Trajectory, start: float | None
    ) -> tuple[Trajectory, int, float, float]:
        """Return a trajectory in the order of the joints, and where its clock stands.

        Args:
            trajectory: as for :meth:`follow`.
            start: as for :meth:`follow`.

        Returns:
            The trajectory, the control step at which its clock starts, its time at that step and
            its time now, in s.

        Raises:
            TrajectoryError: as :meth:`follow`.
        """
        ordered = trajectory.reordered(self._loop.robot.joint_names)
        _require_rest_at_end(ordered)
        steps = self._state.step if start is None else start * self._loop.rate_hz
        origin = math.ceil(steps - _CLOCK_ROUNDING * max(1.0, abs(steps)))
        lead = 0.0 if start is None else max(0.0, origin * self._loop.period - start)
        if lead < _CLOCK_ROUNDING:
            lead = 0.0
        time = (self._state.step - origin) * self._loop.period + lead
        if time > ordered.times[-1]:
            raise TrajectoryError(
                f"the trajectory was over {time - ordered.times[-1]:.3f} s ago; "
                "give a start stamp in the future"
            )
        return ordered, origin, lead, time

    def hold(self) -> None:
        """Stay where the robot is, from now on, as joint_trajectory_controller does."""
        self._reference, self._followed = hold(self._position), None
        self._restart_at = None

    @property
    def error(self) -> Array:
        """(joints,) reference minus true position now, in rad or m."""
        error: Array = self._present()[0] - self._position
        return error

    def _present(self) -> tuple[Array, Array, Array]:
        """Return position, velocity and acceleration of the reference now."""
        target = np.empty((3, len(self._loop.robot.joints)))
        control_kernels.follow(self._reference, self._time(self._reference), target)
        return target[0], target[1], target[2]

    def add_effort(self, effort: npt.ArrayLike, start: float | None = None) -> None:
        """Add efforts (joints,), in N m or N, to those of the controller.

        They hold from the first sample at or after their start until others take their place;
        others that were to hold from that sample on, or from a later one, are forgotten.

        Args:
            effort: what to add.
            start: simulated time in s from which they hold; None or a time that is past: now.

        Raises:
            TrajectoryError: if they start too far ahead.
        """
        ahead = 0.0 if start is None else start - self.next_sample * self._loop.sample_period
        if ahead > FARTHEST_EFFORT:
            raise TrajectoryError(
                f"an effort that holds {ahead:.3f} s from now; send it at most "
                f"{FARTHEST_EFFORT:g} s ahead"
            )
        wait = math.ceil(ahead / self._loop.sample_period - _SAMPLE_ROUNDING)
        self.late_efforts += wait < 0
        sample = self.next_sample + max(0, wait)
        while self._efforts and self._efforts[-1][0] >= sample:
            self._efforts.pop()
        self._efforts.append((sample, np.array(effort, dtype=np.float64)))

    def produce(self, count: int) -> Measurement:
        """Return the next samples as they are measured, (count, joints) each.

        Raises:
            SimulationError: if the motion breaks down.
        """
        parts = []
        end = self.next_sample + count
        while self.next_sample < end:
            self._take_over()
            changes = [sample for sample, _ in list(self._efforts)[:1]]
            if self._restart_at is not None:
                changes.append(self._restart_at)
            parts.append(self._measure(min([end, *changes]) - self.next_sample))
        self._take_over()
        return Measurement(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def _take_over(self) -> None:
        """Begin what begins with the next sample: a trajectory's noise, other efforts."""
        if self.next_sample == self._restart_at:
            self._runs += 1
            self._sensors.restart(self._runs)
            self._restart_at = None
        while self._efforts and self._efforts[0][0] <= self.next_sample:
            self._extra = self._efforts.popleft()[1]

    def _efforts_of_points(self, steps: int) -> Array:
        """Return (steps, joints) efforts of the points at the next control steps."""
        if self._followed is None:
            return np.zeros((steps, len(self._extra)))
        # The controller answers for the reference that its measurement belongs to.
        first = self._state.step - self._loop.law.delay - self._reference.origin
        times = (first + np.arange(steps)) * self._loop.period + self._reference.lead
        return self._followed.sample_efforts(times)

    def _measure(self, count: int) -> Measurement:
        steps = count * self._loop.every
        extra = self._extra
        if self._followed is not None:
            extra = extra + self._efforts_of_points(steps)
        self._state, samples = self._loop.advance(self._state, self._reference, steps, extra)
        self._position = samples.position[-1]
        return self._sensors.measure(samples)


def _require_rest_at_end(trajectory: Trajectory) -> None:
    if trajectory.velocities is None:
        return
    for joint, velocity in zip(trajectory.joint_names, trajectory.velocities[-1], strict=True):
        if abs(velocity) > _STANDSTILL:
            raise TrajectoryError(
                f"joint {joint} has velocity {velocity:.6g} at the last point; it must be 0"
            )
