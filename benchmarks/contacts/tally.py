"""What became of the motions of an arm."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np


class Told(Protocol):
    """A robot that tells its contacts."""

    def told(self) -> tuple[int, float]:
        """Return contacts, and the smallest distance met."""

    def collide(self) -> None:
        """Send the arm into something."""


@dataclass
class Tally:
    """Counts over all motions of an arm; distances in m, times in s."""

    motions: int = 0
    stopped: int = 0
    while_approaching: int = 0
    went_around: int = 0
    not_certified: int = 0
    no_way: int = 0
    faults: list[str] = field(default_factory=list)
    contacts: int = 0
    smallest_distance: float = np.inf
    collisions_sent: int = 0
    collisions_counted: int = 0
    seconds_in_motion: float = 0.0

    def take(self, robot: Told) -> None:
        """Take in what a robot has touched, and whether it counts a collision at all."""
        contacts, smallest = robot.told()
        self.contacts += contacts
        self.smallest_distance = min(self.smallest_distance, smallest)
        robot.collide()
        self.collisions_sent += 1
        self.collisions_counted += robot.told()[0] > contacts
