"""How a robot is moved one joint at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass

from robot_identification.errors import SettingError
from robot_identification.robot.arrays import by_value
from robot_identification.robot.model import Array

PROFILES = ("quintic", "damped")
MOVES = ("together", "singly")


@by_value
@dataclass(frozen=True)
class OneJointSettings:
    """How a robot is moved one joint at a time.

    Attributes:
        profile: ``quintic``, or ``damped``: the critically damped step (Lin 1992, eq. 64-66).
        travel: how far a rotational joint steps, in rad; less where its range is narrow.
        stroke: how far a translational joint steps, in m.
        sigma: inverse time constant of the damped step in 1/s; less where limits demand it.
        share: share of the limits of velocity and acceleration that a step uses.
        slow: share of the velocity limit of slow motion in both directions, which tells friction,
            and of a joint that creeps while its effort is read.
        moves: between experiments all joints go ``together``, or ``singly``, one after the other.
        between: share of the limits of velocity and acceleration that is used between experiments.
        reach: share of the position ranges, around the start, that postures use.
        spread: how far from the start rotational joints are at most, in rad.
        pause: rest before and after every step, in s.
        postures: experiments per joint; None: one more than three parameters each need.
        candidates: postures drawn for every motion, of which the best are chosen.
        worst_condition: a small system whose column-scaled condition number is larger counts as
            unable to tell its parameters.
        start: (joints,) posture at both ends, at rest; None: zero, or the middle of the position
            range where zero is outside.
        locked: names of joints that must not move.
        cramped: names of joints that do not move because their ranges leave them no room.
        seed: same seed, same plan.

    Raises:
        SettingError: a value is impossible.
    """

    profile: str = "quintic"
    travel: float = math.pi / 6
    stroke: float = 0.1
    sigma: float = 10.0
    share: float = 0.8
    slow: float = 0.1
    moves: str = "together"
    between: float = 0.3
    reach: float = 0.8
    spread: float = 1.2
    pause: float = 0.2
    postures: int | None = None
    candidates: int = 60
    worst_condition: float = 1e4
    start: Array | None = None
    locked: tuple[str, ...] = ()
    cramped: tuple[str, ...] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        if self.profile not in PROFILES:
            raise SettingError("profile", self.profile, f"must be one of {', '.join(PROFILES)}")
        if self.moves not in MOVES:
            raise SettingError("moves", self.moves, f"must be one of {', '.join(MOVES)}")
        for name in ("travel", "stroke", "spread", "sigma", "pause"):
            if not 0.0 < getattr(self, name) < math.inf:
                raise SettingError(name, getattr(self, name), "must be positive")
        for name in ("share", "slow", "between", "reach"):
            if not 0.0 < getattr(self, name) <= 1.0:
                raise SettingError(name, getattr(self, name), "must be above 0 and at most 1")
        if self.postures is not None and self.postures < 1:
            raise SettingError("postures", self.postures, "must be at least 1")
        if self.candidates < 4:
            raise SettingError("candidates", self.candidates, "must be at least 4")
        if not self.worst_condition > 1.0:
            raise SettingError("worst_condition", self.worst_condition, "must be above 1")
        if self.seed < 0:
            raise SettingError("seed", self.seed, "must not be negative")

    def why_held(self, joint: str) -> str:
        """Return why a joint does not move, empty where it may."""
        if joint in self.locked:
            return f"{joint} is locked"
        return f"{joint} has no room to move and to brake in" if joint in self.cramped else ""
