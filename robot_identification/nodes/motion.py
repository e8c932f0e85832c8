"""Motion under supervision: an approach, a run, and braking when something is wrong.

Nothing here knows ROS or reads a clock: :class:`Motion` is told the time and the joint states, and
returns what is to be published.  Nothing moves without :meth:`Motion.begin`; after braking it ends
for good.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from robot_identification.errors import StaleStateError
from robot_identification.excitation.braking import Braking
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.nodes.joint_states import NANOSECONDS
from robot_identification.nodes.motion_braking import (
    BrakingLimits,
    brake_from_reference,
    brake_where_it_is,
    brake_while_following,
)
from robot_identification.nodes.motion_states import MotionStates
from robot_identification.robot.arrays import by_value
from robot_identification.robot.model import Array

START_TOLERANCE = 0.01
BRAKING_REST = 0.5
"""Time at rest, in s, that ends every braking trajectory.

A controller refuses a trajectory that is over when it comes, and goes on with the one before; near
rest braking alone takes some 20 ms.
"""

_CONFIRM_GRID = 0.02
_CONFIRM_MARGIN = 0.2


class Phase(IntEnum):
    """What is going on; the numbers are those of ExcitationStatus."""

    APPROACHING = 3
    RUNNING = 4
    BRAKING = 5
    STOPPED = 6
    FINISHED = 7
    FAULT = 8


class Reason(IntEnum):
    """Why a motion was stopped; the numbers are those of ExcitationStatus."""

    NO_STOP = 0
    REQUESTED = 1
    STATE_STALE = 2
    TRACKING_ERROR = 3
    NOT_MOVING = 4


MOVING = (Phase.APPROACHING, Phase.RUNNING, Phase.BRAKING)


@by_value
@dataclass(frozen=True)
class MotionSettings:
    """How a motion is watched.

    Attributes:
        tracking_error: (joints,) at which absolute error the motion is stopped, rad or m.
        state_timeout: age of the newest state at which the motion is stopped, in s.
        lead: time from sending a trajectory to its start, in s.
        confirm_within: time after the start in which the states must show motion, in s.
        confirm_distance: what counts as motion, rad or m.
        rest_speed: below it a joint is at rest, rad/s or m/s.
        settle_timeout: time after the end of a trajectory in which the robot must be at rest, s.
    """

    tracking_error: Array
    state_timeout: float = 0.1
    lead: float = 0.3
    confirm_within: float = 0.5
    confirm_distance: float = 0.002
    rest_speed: float = 0.02
    settle_timeout: float = 2.0


@dataclass(frozen=True)
class Command:
    """A trajectory to publish.

    Attributes:
        trajectory: what to follow.
        start: stamp of its start in ns.
        rest: time for which the robot is told to stay at its end, in s.
    """

    trajectory: Trajectory
    start: int
    rest: float = 0.0

    @property
    def sent(self) -> Trajectory:
        """What the controller gets: the trajectory, with the rest after it."""
        return self.trajectory.followed_by_rest(self.rest) if self.rest else self.trajectory

    @property
    def end(self) -> int:
        """Stamp of its end in ns."""
        return self.start + round(float(self.trajectory.times[-1]) * NANOSECONDS)


@dataclass
class Motion:
    """One motion, from its beginning to rest.

    Attributes:
        limits: limits that braking keeps.
        states: the joint states, kept up to date by the caller.
        settings: how the motion is watched.
        run: what the robot is to follow; its joints in the order of the states.
        approach: the way to its start, None where the robot stands there.
        phase: what is going on.
        reason: why it was stopped.
        text: what is going on, for people.
        command: the last trajectory that was returned.
        error: (joints,) reference minus measured position.
        reached: how far the run has come, on its clock, in s.
    """

    limits: BrakingLimits
    states: MotionStates
    settings: MotionSettings
    run: Trajectory
    approach: Trajectory | None = None
    phase: Phase = Phase.RUNNING
    reason: Reason = Reason.NO_STOP
    text: str = ""
    command: Command | None = None
    error: Array = field(default_factory=lambda: np.zeros(0))
    reached: float = 0.0
    _origin: Array = field(default_factory=lambda: np.zeros(0))
    _deadline: int | None = None

    @property
    def moving(self) -> bool:
        """Whether the robot may be in motion."""
        return self.phase in MOVING

    def begin(self, now: int) -> Command:
        """Return the first command.

        Raises:
            StaleStateError: the states are stale, or the robot moves or is elsewhere.
        """
        if self.approach is None:
            return self._send(Phase.RUNNING, self.run, now)
        return self._send(Phase.APPROACHING, self.approach, now)

    def stop(self, now: int, reason: Reason = Reason.REQUESTED, text: str = "") -> Command | None:
        """Return the braking motion, None where nothing moves or brakes already."""
        if self.phase not in (Phase.APPROACHING, Phase.RUNNING) or self.command is None:
            return None
        self._note(now, self.command)
        braking = self._braking(now, reason, self.command)
        self.phase, self.reason = Phase.BRAKING, reason
        outside = "" if braking.keeps_limits else "; it cannot keep the position limits"
        self.text = (text or "stop requested") + outside
        self.command = Command(braking.trajectory, now, BRAKING_REST)
        return self.command

    def _braking(self, now: int, reason: Reason, command: Command) -> Braking:
        trajectory = command.trajectory
        if abs(self.states.age(now)) > self.settings.state_timeout:
            time = (now - command.start) / NANOSECONDS
            return brake_from_reference(self.limits, trajectory, time)
        if reason in (Reason.TRACKING_ERROR, Reason.NOT_MOVING):
            return brake_where_it_is(self.limits, trajectory.joint_names, self.states, now)
        return brake_while_following(self.limits, trajectory, command.start, self.states, now)

    def tick(self, now: int) -> Command | None:
        """Look after the motion; return what must be published now, if anything."""
        if not self.moving or self.command is None:
            return None
        self._note(now, self.command)
        if self.phase is Phase.BRAKING:
            self._watch_braking(now, self.command)
            return None
        if self.states.age(now) > self.settings.state_timeout:
            why = f": {self.states.fault}" if self.states.fault else ""
            text = f"no joint state for {self.states.age(now):.3f} s{why}"
            return self.stop(now, Reason.STATE_STALE, text)
        timely = self._confirmed(self.command)
        wrong = self._tracking_problem(self.command)
        if not timely or (wrong and self._deadline is not None):
            text = "no motion since the start; does the controller listen, is the robot blocked?"
            return self.stop(now, Reason.NOT_MOVING, text)
        if wrong:
            return self.stop(now, Reason.TRACKING_ERROR, wrong)
        return self._next(now, self.command)

    def _note(self, now: int, command: Command) -> None:
        """Take down how far the run has come; braking and what follows leave it as it is."""
        if self.phase is Phase.RUNNING:
            time = (now - command.start) / NANOSECONDS
            self.reached = min(max(time, 0.0), self.run.duration)

    def _send(self, phase: Phase, trajectory: Trajectory, now: int) -> Command:
        """Return a command that begins where the robot stands."""
        reading = self.states.fresh(now, self.settings.state_timeout)
        _require_rest(self.states, self.settings.rest_speed, trajectory.joint_names)
        require_near(trajectory, reading.position)
        self.phase = phase
        self.text = "on the way to the start" if phase is Phase.APPROACHING else "on the trajectory"
        self.command = Command(trajectory, now + round(self.settings.lead * NANOSECONDS))
        self._origin = reading.position
        self._deadline = self._confirm_deadline(self.command)
        return self.command

    def _confirm_deadline(self, command: Command) -> int | None:
        """Return when motion must have shown: later for a reference that begins slowly."""
        trajectory = command.trajectory
        times = np.arange(0.0, trajectory.duration + _CONFIRM_GRID, _CONFIRM_GRID)
        way = np.abs(trajectory.sample(times)[0] - trajectory.positions[0]).max(axis=1)
        away = np.flatnonzero(way >= 2.0 * self.settings.confirm_distance)
        if not away.size:
            return None
        late = max(self.settings.confirm_within, float(times[away[0]]) + _CONFIRM_MARGIN)
        return command.start + round(late * NANOSECONDS)

    def _confirmed(self, command: Command) -> bool:
        latest = self.states.latest
        if self._deadline is None or latest is None or latest.stamp < command.start:
            return True
        if np.abs(latest.position - self._origin).max() >= self.settings.confirm_distance:
            self._deadline = None
            return True
        return latest.stamp <= self._deadline

    def _tracking_problem(self, command: Command) -> str:
        latest = self.states.latest
        if latest is None:
            return ""
        time = (latest.stamp - command.start) / NANOSECONDS
        self.error = command.trajectory.sample(time)[0][0] - latest.position
        excess = np.abs(self.error) / self.settings.tracking_error
        joint = int(np.argmax(excess))
        if excess[joint] <= 1.0:
            return ""
        return (
            f"{command.trajectory.joint_names[joint]} is {abs(self.error[joint]):.4g} off, "
            f"more than {self.settings.tracking_error[joint]:g}"
        )

    def _next(self, now: int, command: Command) -> Command | None:
        """Return the run when the approach is over; take notice of the end of the run."""
        latest = self.states.latest
        if latest is None or latest.stamp < command.end:
            return None
        if self._at_rest():
            if self.phase is Phase.RUNNING:
                self.phase, self.text = Phase.FINISHED, "at rest at the end"
                return None
            try:
                return self._send(Phase.RUNNING, self.run, now)
            except StaleStateError as error:
                self.text = str(error)
        if latest.stamp > command.end + round(self.settings.settle_timeout * NANOSECONDS):
            self.phase = Phase.FAULT
            self.text = self.text if self._at_rest() else "not at rest at the end of the trajectory"
        return None

    def _watch_braking(self, now: int, command: Command) -> None:
        latest = self.states.latest
        if now < command.end:
            return
        timely = self.states.age(now) <= self.settings.state_timeout
        if timely and latest is not None and latest.stamp >= command.end and self._at_rest():
            failed = self.reason is Reason.NOT_MOVING
            self.phase = Phase.FAULT if failed else Phase.STOPPED
        elif now > command.end + round(self.settings.settle_timeout * NANOSECONDS):
            self.phase = Phase.FAULT
            seen = "still moves" if timely else "sends no states, it may still move"
            self.text += f"; the robot {seen}: use the emergency stop"

    def _at_rest(self) -> bool:
        return bool((np.abs(self.states.mean_velocity()) <= self.settings.rest_speed).all())


def _require_rest(states: MotionStates, speed: float, joint_names: Sequence[str]) -> None:
    """Refuse a robot in motion."""
    moving = np.abs(states.mean_velocity())
    joint = int(np.argmax(moving))
    if moving[joint] > speed:
        raise StaleStateError(
            f"{joint_names[joint]} moves at {moving[joint]:.4g}, more than {speed:g}; "
            "wait until the robot is at rest"
        )


def require_near(trajectory: Trajectory, position: Array) -> None:
    """Refuse a robot that is not at the beginning of a trajectory.

    Raises:
        StaleStateError: a joint is more than 0.01 rad or m away.
    """
    away = np.abs(trajectory.positions[0] - position)
    joint = int(np.argmax(away))
    if not away[joint] <= START_TOLERANCE:
        raise StaleStateError(
            f"{trajectory.joint_names[joint]} is {away[joint]:.4g} away from the start, more than "
            f"{START_TOLERANCE:g}"
        )
