"""Settings of plans that move one joint at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from robot_identification.robot.arrays import Array, by_value
from robot_identification.settings import Settings, setting


@by_value
@dataclass(frozen=True)
class OneJointSettings(Settings):
    """Settings of motions of one joint at a time.

    Attributes:
        start: (joints,) posture at both ends, at rest; None: zero, or the middle of the position
            range where zero is outside.
    """

    profile: Literal["quintic", "damped"] = setting(
        "step of a joint: damped is critically damped (Lin 1992, eq. 64-66)", "quintic"
    )
    travel: float = setting(
        "step of a rotational joint, less where its range is narrow",
        math.pi / 6,
        above=0.0,
        unit="rad",
        metavar="RAD",
    )
    stroke: float = setting("step of a translational joint", 0.1, above=0.0, unit="m", metavar="M")
    sigma: float = setting(
        "inverse time constant of the damped step, less where limits demand it",
        10.0,
        above=0.0,
        unit="1/s",
    )
    share: float = setting(
        "share of the limits of velocity and acceleration that a step uses",
        0.8,
        above=0.0,
        maximum=1.0,
    )
    slow: float = setting(
        "share of the velocity limit of slow motion in both directions, to identify friction, and "
        "of a joint that creeps while its effort is read",
        0.1,
        above=0.0,
        maximum=1.0,
    )
    moves: Literal["together", "singly"] = setting(
        "how joints go from one experiment to the next: singly, one after the other", "together"
    )
    between: float = setting(
        "share of the limits of velocity and acceleration that is used between experiments",
        0.3,
        above=0.0,
        maximum=1.0,
    )
    reach: float = setting(
        "share of the position ranges, around the start, that postures use",
        0.8,
        above=0.0,
        maximum=1.0,
    )
    spread: float = setting(
        "how far from the start rotational joints go at most",
        1.2,
        above=0.0,
        unit="rad",
        metavar="RAD",
    )
    pause: float = setting("rest before and after every step", 0.2, above=0.0, unit="s")
    # One more than three parameters each need.
    postures: int | None = setting("experiments per joint", minimum=1)
    candidates: int = setting(
        "postures drawn for every motion, of which the best are chosen", 60, minimum=4
    )
    worst_condition: float = setting(
        "column-scaled condition number from which the parameters of a small system count as not "
        "identifiable",
        1e4,
        above=1.0,
    )
    start: Array | None = None
    locked: tuple[str, ...] = setting("joints that must not move", (), metavar="JOINT[,JOINT...]")
    cramped: tuple[str, ...] = setting(
        "joints that do not move because their ranges leave them no room", ()
    )
    seed: int = setting("same seed, same plan", 0, minimum=0)

    def why_held(self, joint: str) -> str:
        """Return why a joint does not move, empty where it may."""
        if joint in self.locked:
            return f"{joint} is locked"
        return f"{joint} has no room to move and to brake in" if joint in self.cramped else ""
