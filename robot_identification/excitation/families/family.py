"""Interface between the search and a family of motions: motions, unknowns, start values.

The search (:mod:`.search.dynamic`) is written once; what differs between motions through points and
Fourier series stands behind this interface.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol

import numpy as np

from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.objective.effort_rows import DynamicObservation
from robot_identification.excitation.objective.motion_map import (
    Motion,
    Observation,
    Penalty,
    Unknowns,
)
from robot_identification.excitation.objective.penalties import PenaltySum
from robot_identification.excitation.plan_settings import PlanSettings
from robot_identification.excitation.search.optimizers import Cancelled
from robot_identification.excitation.search.points import Quality
from robot_identification.identification.base.parameters import BaseParameters

SMOOTHING = 0.05
"""Width of the smoothed sign of velocities during a search, in rad/s or m/s."""

_SHARES = (1.0, 0.8, 0.6, 0.45, 0.3, 0.2, 0.1)


@dataclass(frozen=True)
class Start(Generic[Motion]):
    """Start of one search.

    Attributes:
        name: for reports.
        optimizer: the one that finds the first motion, or found it.
        first: returns the first motion, from rest to rest.
    """

    name: str
    optimizer: str
    first: Callable[[Observation[Motion], Cancelled], Motion]


@dataclass(frozen=True)
class Candidate(Generic[Motion]):
    """A motion from rest to rest and where it came from."""

    motion: Motion
    first: Motion
    optimizer: str
    reduced: bool
    before: Quality | None = None  # of the random start, where ``first`` is not that


class Family(Protocol[Motion]):
    """Motions of one kind from rest to rest, inside limits."""

    def observation(
        self, base: BaseParameters, smoothing: float = 0.0
    ) -> DynamicObservation[Motion]:
        """Return the system that a motion gives; it serves one thread."""

    @property
    def limit_penalty(self) -> Penalty[Motion]:
        """Excess of a motion over its limits."""

    @property
    def clearance_penalty(self) -> Penalty[Motion] | None:
        """Clearance that a motion lacks; None: it need not keep clear of anything."""

    @property
    def aim_penalty(self) -> Penalty[Motion] | None:
        """Difference of a motion from the duration aimed at; None: the search has no such aim."""

    def unknowns(self, first: Motion, /) -> Unknowns[Motion]:
        """Return motions near a first one as vectors of unknowns."""

    def starts(self, settings: PlanSettings, count: int, /) -> list[Start[Motion]]:
        """Return where searches begin, of which ``count`` are random ones for the gradient."""

    def disturbed(self, motion: Motion, rng: np.random.Generator, /) -> Motion:
        """Return a motion near another one."""

    def fitted(self, motion: Motion, /) -> tuple[Motion, bool]:
        """Return a motion that keeps all limits, and whether it had to be made smaller."""

    def trajectory(self, motion: Motion, /) -> Trajectory:
        """Return the motion as it is published."""


def freed(motion: Motion, clearance: Penalty[Motion] | None) -> Motion:
    """Return a motion drawn in towards its start until it is free.

    From there a search reaches what it can without going through anything; a motion that begins on
    the wrong side of an obstacle hardly finds the way around.

    Args:
        motion: its start and its end are free.
        clearance: what the motion lacks to its clearance; None: it need not keep clear.
    """
    if clearance is None:
        return motion
    for share in _SHARES:
        near: Motion = motion.drawn_in(share)
        if clearance(near, 1.0)[0] == 0.0:
            break
    return near


def penalties_of(family: Family[Motion]) -> tuple[Penalty[Motion], ...]:
    """Return what a search adds to the criterion: limits and clearance, and the duration."""
    limits, clearance, aim = family.limit_penalty, family.clearance_penalty, family.aim_penalty
    kept = limits if clearance is None else PenaltySum((limits, clearance))
    return (kept,) if aim is None else (kept, aim)


def already(motion: Motion) -> Callable[[Observation[Motion], Cancelled], Motion]:
    """Return the first motion of a search that need not be found."""
    return lambda _observation, _cancelled: motion
