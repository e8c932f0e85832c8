"""Contacts and smallest distance of the bodies of a MuJoCo model while it moves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import ModuleType
from typing import Any

_FARTHEST = 1.0  # m


@dataclass(frozen=True)
class Met:
    """Two bodies that touched, or came near.

    Attributes:
        first: name of the geom in MuJoCo's model.
        second: name of the other.
        distance: in m, negative where they overlap.
        time: simulated time in s.
    """

    first: str
    second: str
    distance: float
    time: float

    def __str__(self) -> str:
        return f"{self.first} and {self.second}: {self.distance:.4f} m, at {self.time:.3f} s"


class ContactWatch:
    """Notes contacts that MuJoCo finds, and the smallest distance of the pairs that it looks at.

    Args:
        mujoco: the module.
        model: MuJoCo's model; its explicit pairs are those whose distances are computed.

    Attributes:
        count: contacts that have begun: two bodies apart before, and touching then.
        first: the first of them; None before it.
        nearest: the smallest distance met; None where all were farther than 1 m.
    """

    def __init__(self, mujoco: ModuleType, model: Any) -> None:
        self._mujoco, self._model = mujoco, model
        self._pairs = list(zip(model.pair_geom1.tolist(), model.pair_geom2.tolist(), strict=True))
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self.count = 0
        self.first: Met | None = None
        self.nearest: Met | None = None
        self._touching: frozenset[tuple[int, int]] = frozenset()

    def look(self, data: Any, time: float) -> None:
        """Take notice of the contacts of a step of MuJoCo.

        Args:
            data: MuJoCo's data after the step.
            time: simulated time in s.
        """
        if not data.ncon and not self._touching:
            return
        pairs = [(a, b) for a, b in data.contact.geom.tolist()]
        found = frozenset(pairs)
        begun = found - self._touching
        self.count, self._touching = self.count + len(begun), found
        if begun and self.first is None:
            new = next(i for i, pair in enumerate(pairs) if pair in begun)
            self.first = self._met(*pairs[new], float(data.contact.dist[new]), time)

    def measure(self, data: Any, time: float) -> None:
        """Compute the distances of all pairs where the robot is.

        Args:
            data: MuJoCo's data.
            time: simulated time in s.
        """
        distance_of = self._mujoco.mj_geomDistance
        for a, b in self._pairs:
            least = _FARTHEST if self.nearest is None else self.nearest.distance
            distance = distance_of(self._model, data, a, b, least, None)
            if distance < least:
                self.nearest = self._met(a, b, distance, time)

    def _met(self, a: int, b: int, distance: float, time: float) -> Met:
        first, second = (self._model.geom(i).name or f"geom {i}" for i in (a, b))
        return Met(first, second, distance, time)

    @property
    def smallest(self) -> float:
        """Smallest distance met, in m; infinite where all were farther than 1 m."""
        return math.inf if self.nearest is None else self.nearest.distance
