"""Search of a motion that conditions a system well and keeps its limits everywhere.

The surrogate of the criterion is minimised together with penalties: the squares of what samples of
the motion exceed (velocity, acceleration, and the place where braking from there would end), and of
what else it lacks.  Surrogate and penalties become sharper from stage to stage.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

import scipy

from robot_identification.excitation.objective.motion_map import (
    Motion,
    Observation,
    Penalty,
    Unknowns,
)
from robot_identification.excitation.objective.smooth_criterion import surrogate
from robot_identification.excitation.search.optimizers import Cancelled, refuse_cancelled
from robot_identification.robot.arrays import Array, by_value

_TOLERANCE = 1e-6
"""A stage is over when an iteration lowers the cost by less than this share.

Larger ones end a search near obstacles before the motion keeps its limits, so that it has to be
slowed down; smaller ones take longer and gain nothing (docs/exciting_trajectories.md, measured).
"""


@dataclass(frozen=True)
class Stage:
    """One minimisation.

    Attributes:
        sharpness: of the surrogate.
        penalty: weight of the penalties.
        iterations: most iterations.
        equilibrates: whether log S counts.
    """

    sharpness: float
    penalty: float
    iterations: int
    equilibrates: bool = True


STAGES = (
    Stage(2.0, 0.3, 150),
    Stage(4.0, 3.0, 200),
    Stage(8.0, 10.0, 300),
    Stage(16.0, 30.0, 400),
    Stage(32.0, 100.0, 400),
    Stage(64.0, 1000.0, 300),
)
"""All stages with the inverse dynamic model."""
EARLY_STAGES = STAGES[:4]
"""Enough to tell which of several random starts is worth going on from."""
LATE_STAGES = STAGES[2:]
"""For a start near a motion that was found."""


@by_value
@dataclass(frozen=True)
class Refinement(Generic[Motion]):
    """A motion as an optimisation problem.

    Attributes:
        observation: the system that a motion gives.
        unknowns: motions as vectors.
        penalties: what motions lack to the conditions that they must meet.
        equilibrium_weight: weight of log S.
        prior: (columns,) approximate base parameters, for the error to expect; None: unknown.
    """

    observation: Observation[Motion]
    unknowns: Unknowns[Motion]
    penalties: tuple[Penalty[Motion], ...]
    equilibrium_weight: float = 0.0
    prior: Array | None = None

    def run(
        self, first: Motion, stages: tuple[Stage, ...], cancelled: Cancelled | None = None
    ) -> Motion:
        """Return the motion after all stages.

        Args:
            first: where to start from.
            stages: one after the other.
            cancelled: asked now and then whether to stop.

        Raises:
            CancelledError: if ``cancelled`` says so.
        """
        x, bounds = self.unknowns.vector(first), self.unknowns.bounds()
        for stage in stages:

            def cost(y: Array, chosen: Stage = stage) -> tuple[float, Array]:
                refuse_cancelled(cancelled)
                return self.cost(y, chosen)

            result = scipy.optimize.minimize(
                cost,
                x,
                jac=True,
                method="L-BFGS-B",
                bounds=bounds,
                options={
                    "maxiter": stage.iterations,
                    "maxfun": 2 * stage.iterations,
                    "maxcor": 30,
                    "ftol": _TOLERANCE,
                },
            )
            x = result.x
        return self.unknowns.motion(x)

    def cost(self, x: Array, stage: Stage) -> tuple[float, Array]:
        """Return surrogate plus penalties, and the gradient over the unknowns."""
        motion = self.unknowns.motion(x)
        weight = self.equilibrium_weight if stage.equilibrates else 0.0
        value, slope = surrogate(self.observation, motion, stage.sharpness, weight, self.prior)
        for penalty in self.penalties:
            excess, onto = penalty(motion, stage.penalty)
            value += excess
            slope = slope.plus(onto)
        return value, self.unknowns.gradient(motion, slope)
