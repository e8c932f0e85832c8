"""Phases of a supervised motion, why one is stopped, how it is watched, and what is published."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.arrays import Array, by_value
from robot_identification.ros.common.joint_states import NANOSECONDS
from robot_identification.settings import Settings, setting


class Phase(IntEnum):
    """Phase of the execution; the numbers are those of ExcitationStatus."""

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
    CLOCK_JUMP = 5
    CONTROLLER = 6


LEFT_REFERENCE = (Reason.TRACKING_ERROR, Reason.NOT_MOVING)
"""Reasons that say that the robot is not where its reference is."""

MOVING = (Phase.APPROACHING, Phase.RUNNING, Phase.BRAKING)
"""Phases in which the robot may be in motion."""


@by_value
@dataclass(frozen=True)
class MotionSettings(Settings):
    """Limits of the supervision; the age at which a state is stale is that of the states.

    Attributes:
        tracking_error: (joints,) at which absolute error the motion is stopped, rad or m.
    """

    tracking_error: Array
    lead: float = setting(
        "time from sending a trajectory to its start stamp",
        0.3,
        minimum=0.05,
        maximum=10.0,
        unit="s",
    )
    confirm_within: float = setting(
        "time after the start in which the states must show motion", 0.5, above=0.0, unit="s"
    )
    confirm_distance: float = setting("what counts as motion", 0.002, above=0.0, unit="rad or m")
    rest_speed: float = setting(
        "speed below which a joint counts as at rest",
        0.02,
        minimum=1e-6,
        maximum=1.0,
        unit="rad/s or m/s",
    )
    settle_timeout: float = setting(
        "time after the end of a trajectory in which the robot must be at rest",
        2.0,
        above=0.0,
        unit="s",
    )


@dataclass(frozen=True)
class Command:
    """A trajectory to publish.

    Attributes:
        trajectory: what to follow.
        start: stamp of its start in ns.
        rest: time for which the robot is told to stay at its end, in s.
        at_once: whether it is to start when it is received, whatever the controller's clock says.
        braking: whether it ends the motion that is running, in place of what is left of that.
    """

    trajectory: Trajectory
    start: int
    rest: float = 0.0
    at_once: bool = False
    braking: bool = False

    @property
    def sent(self) -> Trajectory:
        """Trajectory for the controller: the motion, with the rest after it."""
        return self.trajectory.followed_by_rest(self.rest) if self.rest else self.trajectory

    @property
    def stamp(self) -> int:
        """Start stamp of the message in ns; 0 starts it when it is received."""
        return 0 if self.at_once else self.start

    @property
    def end(self) -> int:
        """Stamp of its end in ns."""
        return self.start + round(float(self.trajectory.times[-1]) * NANOSECONDS)
