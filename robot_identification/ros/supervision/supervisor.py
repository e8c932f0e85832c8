"""Supervisor of a motion: an approach, a run, and braking when something is wrong.

Nothing here knows ROS or reads a clock: :class:`MotionSupervisor` is told the time and the joint
states, and returns what is to be published.  Nothing moves without :meth:`MotionSupervisor.begin`;
after braking it ends for good.  Every trajectory that is returned keeps the limits of the robot.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from robot_identification.errors import StaleStateError
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.arrays import Array
from robot_identification.ros.common.joint_states import NANOSECONDS
from robot_identification.ros.supervision.braking import (
    BRAKING_REST,
    FITTED,
    FITTED_READINGS,
    BrakingLimits,
    Origin,
    Situation,
    Stop,
    hold,
    stop_motion,
)
from robot_identification.ros.supervision.clock import Instant
from robot_identification.ros.supervision.confirmation import Confirmation, confirmation_of
from robot_identification.ros.supervision.lateness import READINGS, WINDOW, lateness
from robot_identification.ros.supervision.phases import (
    LEFT_REFERENCE,
    MOVING,
    Command,
    MotionSettings,
    Phase,
    Reason,
)
from robot_identification.ros.supervision.start_conditions import require_start
from robot_identification.ros.supervision.states import MotionStates, Reading, Refusal


@dataclass
class MotionSupervisor:
    """One motion, from its beginning to rest.

    Attributes:
        limits: limits that braking keeps.
        states: the joint states, kept up to date by the caller.
        settings: how the motion is watched.
        run: what the robot is to follow; its joints in the order of the states.
        approach: the way to its start, None where the robot stands there.
        sending: time that it takes to send them, in s, beside the lead.
        phase: what is going on.
        reason: why it was stopped.
        text: what is going on, for people.
        command: the last trajectory that was returned.
        error: (joints,) reference minus measured position.
        reached: how far the run has come, on its clock, in s.
        ended: the controller has told the end of what it follows, or never does; kept up to date
            by the caller.
    """

    limits: BrakingLimits
    states: MotionStates
    settings: MotionSettings
    run: Trajectory
    approach: Trajectory | None = None
    sending: float = 0.0
    phase: Phase = Phase.RUNNING
    reason: Reason = Reason.NO_STOP
    text: str = ""
    command: Command | None = None
    error: Array = field(default_factory=lambda: np.zeros(0))
    reached: float = 0.0
    ended: bool = True
    _followed: Command | None = None  # what braking takes the place of
    _referred: Array | None = None  # where the reference was last
    _confirmation: Confirmation | None = None  # of motion that has not shown yet
    _last: Instant | None = None  # when the clocks were read last
    _clock_error: int = 0  # by how much ROS time was set since the command, in ns
    _flawed: bool = False  # whether it does not brake as was wanted

    @property
    def moving(self) -> bool:
        """Whether the robot may be in motion."""
        return self.phase in MOVING

    def rests(self, now: Instant) -> bool:
        """Tell whether the joint states show that the robot stands still."""
        return not self.states.stale(now) and self._at_rest()

    def seen_moving(self, now: Instant) -> bool:
        """Tell whether the joint states show that the robot moves."""
        return not self.states.stale(now) and not self._at_rest()

    def lateness(self) -> str:
        """Return how late the robot is that has left its reference, for people; empty: unknown."""
        if self._followed is None or self.reason is not Reason.TRACKING_ERROR:
            return ""
        command, readings = self._followed, self.states.recent(WINDOW, READINGS)
        situation = Situation.of(command.trajectory, command.start, readings, command.start)
        late = lateness(situation, self.settings.tracking_error)
        return "" if late is None else f"; {late}"

    def check(self, now: Instant) -> None:
        """Make sure that the motion may begin: the robot stands still where it begins.

        Raises:
            StaleStateError: the states are stale, or the robot moves or is elsewhere.
            NotCertifiedError: the motion does not keep the limits of the robot.
        """
        first = self.run if self.approach is None else self.approach
        require_start(first, self.states, self.settings, self.limits.declared, now)

    def begin(self, now: Instant) -> Command:
        """Return the first command.

        Raises:
            StaleStateError, NotCertifiedError: as :meth:`check`.
        """
        if self.approach is None:
            return self._send(Phase.RUNNING, self.run, now)
        return self._send(Phase.APPROACHING, self.approach, now)

    def stop(
        self, now: Instant, reason: Reason = Reason.REQUESTED, text: str = ""
    ) -> Command | None:
        """Return the braking motion, None where nothing moves or brakes already; it never fails."""
        if self.phase not in (Phase.APPROACHING, Phase.RUNNING) or self.command is None:
            return None
        self._read_clocks(now)
        if self._clock_error:
            reason = Reason.CLOCK_JUMP
            text = f"the clock of this node was set by {self._clock_error / NANOSECONDS:.3f} s"
        self._followed = replace(self.command, start=self.command.start + self._clock_error)
        stop = self._braking(now, reason, self.command)
        self.phase, self.reason = Phase.BRAKING, reason
        self.text = text or "stop requested"
        stale_by_stamp = self.states.refusal is Refusal.STAMP and reason is Reason.STATE_STALE
        clocks_differ = reason is Reason.CLOCK_JUMP or stale_by_stamp
        self._clock_error = 0
        return self._stopped_by(stop, now, at_once=clocks_differ)

    def brake_again(self, now: Instant) -> Command | None:
        """Return braking from where the robot is now: the controller has not taken the one before.

        None where it does not brake any more; it never fails.
        """
        if self.phase is not Phase.BRAKING or self._followed is None or self.command is None:
            return None
        stop = self._braking(now, self.reason, self._followed)
        return self._stopped_by(stop, now, at_once=self.command.at_once)

    def _stopped_by(self, stop: Stop, now: Instant, *, at_once: bool) -> Command:
        self._flawed = bool(stop.flaw)
        if stop.flaw:
            self.text += f"; {stop.flaw}"
        self.command = Command(
            stop.trajectory, now.stamp, BRAKING_REST, at_once=at_once, braking=True
        )
        return self.command

    def _braking(self, now: Instant, reason: Reason, command: Command) -> Stop:
        """Return a motion to rest, whatever goes wrong: a robot that nobody stops runs on."""
        try:
            self._note(now, command)
            return stop_motion(self.limits, *self._situation(now, reason, command))
        except Exception as error:  # noqa: BLE001
            # A fault of this program must not keep the robot in motion.
            where = command.trajectory.positions[-1] if self._referred is None else self._referred
            motion = hold(self.limits, command.trajectory.joint_names, where)
            return Stop(motion, f"braking cannot be computed ({error!r}); it is held where it was")

    def _situation(
        self, now: Instant, reason: Reason, command: Command
    ) -> tuple[Situation, Origin]:
        readings = self.states.recent(FITTED, FITTED_READINGS)
        situation = Situation.of(
            command.trajectory, command.start, readings, now.stamp - self._clock_error
        )
        if not readings or self._clock_error or self.states.stale(now):
            return situation, Origin.REFERENCE
        if reason in LEFT_REFERENCE or self._excess(command, readings[-1]).max() > 1.0:
            return situation, Origin.MEASURED
        return situation, Origin.FOLLOWING

    def tick(self, now: Instant) -> Command | None:
        """Look after the motion; return what must be published now, if anything."""
        if not self.moving or self.command is None:
            return None
        self._read_clocks(now)
        self._note(now, self.command)
        if self.phase is Phase.BRAKING:
            self._watch_braking(now, self.command)
            return None
        if self._clock_error:
            return self.stop(now, Reason.CLOCK_JUMP)
        if self.states.stale(now):
            why = f": {self.states.fault}" if self.states.fault else ""
            seconds = max(self.states.silence(now), abs(self.states.age(now)))
            return self.stop(now, Reason.STATE_STALE, f"no joint state for {seconds:.3f} s{why}")
        timely = self._confirmed()
        wrong = self._tracking_problem(self.command)
        if not timely or (wrong and self._confirmation is not None):
            text = (
                "no motion since the start; does the controller listen, is the robot blocked, "
                "paused, or its speed scaled to 0 %?"
            )
            return self.stop(now, Reason.NOT_MOVING, text)
        if wrong:
            return self.stop(now, Reason.TRACKING_ERROR, wrong)
        return self._next(now, self.command)

    def _read_clocks(self, now: Instant) -> None:
        """Take down by how much ROS time was set since it was read last."""
        if self._last is not None:
            self._clock_error += now.jump_since(self._last)
        self._last = now

    def _note(self, now: Instant, command: Command) -> None:
        """Take down where the reference is and how far the run has come; braking adds nothing."""
        if self.phase is Phase.BRAKING:
            return
        time = (now.stamp - self._clock_error - command.start) / NANOSECONDS
        self._referred = command.trajectory.position(time)
        if self.phase is Phase.RUNNING:
            self.reached = min(max(time, 0.0), self.run.duration)

    def _send(self, phase: Phase, trajectory: Trajectory, now: Instant) -> Command:
        """Return a command that begins where the robot stands."""
        declared = self.limits.declared
        reading = require_start(trajectory, self.states, self.settings, declared, now)
        self.phase = phase
        self.text = "on the way to the start" if phase is Phase.APPROACHING else "on the trajectory"
        start = now.stamp + round((self.settings.lead + self.sending) * NANOSECONDS)
        self.command = Command(trajectory, start)
        self._last, self._clock_error, self._referred = now, 0, None
        self._confirmation = confirmation_of(self.command, reading.position, self.settings)
        return self.command

    def _confirmed(self) -> bool:
        """Tell whether the robot moves, or need not have shown it yet."""
        latest, awaited = self.states.latest, self._confirmation
        if awaited is None or latest is None or latest.stamp < awaited.start:
            return True
        if awaited.shown_at(latest.position):
            self._confirmation = None
            return True
        return latest.stamp <= awaited.deadline

    def _tracking_problem(self, command: Command) -> str:
        latest = self.states.latest
        if latest is None:
            return ""
        excess = self._excess(command, latest)
        joint = int(np.argmax(excess))
        if excess[joint] <= 1.0:
            return ""
        return (
            f"{command.trajectory.joint_names[joint]} is {abs(self.error[joint]):.4g} off, "
            f"more than {self.settings.tracking_error[joint]:g}"
        )

    def _excess(self, command: Command, reading: Reading) -> Array:
        """Return (joints,) tracking errors as shares of their limits."""
        time = (reading.stamp - command.start) / NANOSECONDS
        self.error = command.trajectory.position(time) - reading.position
        share: Array = np.abs(self.error) / self.settings.tracking_error
        return share

    def _next(self, now: Instant, command: Command) -> Command | None:
        """Return the run when the approach is over; take notice of the end of the run."""
        latest = self.states.latest
        if latest is None or latest.stamp < command.end:
            return None
        settled = command.end + round(self.settings.settle_timeout * NANOSECONDS)
        if self._at_rest():
            if self.phase is Phase.RUNNING:
                if self.ended or latest.stamp > settled:
                    self.phase, self.text = Phase.FINISHED, "at rest at the end"
                return None
            try:
                return self._send(Phase.RUNNING, self.run, now)
            except StaleStateError as error:
                self.text = str(error)
        if latest.stamp > settled:
            self.phase = Phase.FAULT
            self.text = self.text if self._at_rest() else "not at rest at the end of the trajectory"
        return None

    def _watch_braking(self, now: Instant, command: Command) -> None:
        latest = self.states.latest
        silent = self.states.stale(now)
        overdue = now.stamp > command.end + round(self.settings.settle_timeout * NANOSECONDS)
        if not silent and latest is not None and latest.stamp >= command.end and self._at_rest():
            failed = self.reason is Reason.NOT_MOVING or self._flawed
            self.phase = Phase.FAULT if failed else Phase.STOPPED
        elif overdue or (silent and self._silent_for_too_long(now, command)):
            self.phase = Phase.FAULT
            why = f" of use ({self.states.fault})" if self.states.fault else ""
            seen = f"sends no states{why}, it may still move" if silent else "still moves"
            self.text += f"; the robot {seen}: use the emergency stop"

    def _silent_for_too_long(self, now: Instant, command: Command) -> bool:
        """Tell whether rest cannot be seen any more, also where ROS time stands still."""
        longest = command.trajectory.duration + self.settings.settle_timeout
        return self.states.silence(now) > longest

    def _at_rest(self) -> bool:
        return bool((np.abs(self.states.mean_velocity()) <= self.settings.rest_speed).all())
