"""What goes wrong with joint states: each message of a sequence is spoilt in its own way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

KINDS = (
    "sound", "more sound", "jump", "noise", "scale", "spoilt", "future", "past", "repeat",
    "silence", "gap", "velocity", "shift", "step",
)  # fmt: skip
HUGE = (1e-9, 0.05, 0.11, 0.2, 1.0, 3.0, 10.0, 1e3, 1e9, 1e17, 1e300)


@dataclass
class Liar:
    """Spoils states; some lies last.

    Attributes:
        rng: what it is to do.
        joints: number of joints.
    """

    rng: np.random.Generator
    joints: int

    def __post_init__(self) -> None:
        self.shift = np.zeros(self.joints)
        self.step = 0.0
        few = self.rng.random() < 0.5  # half of the drivers lie in one way or two only
        count = self.rng.integers(1, 3) if few else len(KINDS)
        self._kinds = self.rng.choice(KINDS, count, replace=False)
        self._last: tuple[float, list[float], list[float]] | None = None

    def size(self) -> float:
        """Return by how much a number is wrong."""
        return float(self.rng.choice(HUGE) * self.rng.choice((-1.0, 1.0)) * self.rng.random())

    def state(
        self, time: float, position: np.ndarray
    ) -> tuple[float, list[float], list[float]] | None:
        """Return stamp, positions and velocities that are sent for a true time and position.

        None where nothing is sent.
        """
        rng, kind = self.rng, self._kinds[self.rng.integers(len(self._kinds))]
        stamp, velocity = time + self.step, []
        with np.errstate(over="ignore", invalid="ignore"):
            q = np.array(position) + self.shift
            if kind == "jump":
                q[rng.integers(self.joints)] += self.size()
            elif kind == "noise":
                q = q + self.size() * rng.standard_normal(self.joints)
            elif kind == "scale":
                q = q * self.size()
            elif kind == "spoilt":
                q[rng.integers(self.joints)] = rng.choice((np.nan, np.inf, -np.inf))
            elif kind == "future":
                stamp += rng.exponential(10.0 ** rng.uniform(-3, 1))
            elif kind == "past":
                stamp -= rng.exponential(10.0 ** rng.uniform(-3, 1))
            elif kind == "repeat" and self._last is not None:
                return self._last
            elif kind in ("silence", "gap"):
                return None
            elif kind == "velocity":
                velocity = [self.size() for _ in range(self.joints)]
            elif kind == "shift" and rng.random() < 0.2:
                self.shift = self.shift + self.size() * rng.standard_normal(self.joints)
            elif kind == "step" and rng.random() < 0.2:
                self.step = rng.choice((-0.9, -0.08, -0.02, 0.01, 0.03, 0.95)) * rng.random()
        self._last = (stamp, q.tolist(), velocity)
        return self._last
