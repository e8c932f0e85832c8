"""Points and durations together, so that the motion between the points keeps the limits as well.

The surrogate of the criterion is minimised together with the squares of what the samples of every
interval exceed: velocity, acceleration, and the place where braking from there would end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.optimize

from robot_identification.errors import CancelledError
from robot_identification.excitation.clearance_penalty import ClearancePenalty
from robot_identification.excitation.curve import Points
from robot_identification.excitation.limits import MotionLimits
from robot_identification.excitation.observation import Observation
from robot_identification.excitation.optimizers import Cancelled
from robot_identification.excitation.penalty import LimitPenalty
from robot_identification.excitation.surrogate import surrogate
from robot_identification.robot.arrays import by_value
from robot_identification.robot.model import Array

_DURATION_RANGE = 3.0  # durations change by a factor of up to e^3 from where they start


@dataclass(frozen=True)
class Stage:
    """One minimisation of the refinement.

    Attributes:
        sharpness: of the surrogate.
        penalty: weight of what exceeds the limits.
        iterations: most iterations.
        equilibrates: whether log S counts.
    """

    sharpness: float
    penalty: float
    iterations: int
    equilibrates: bool = True


@by_value
@dataclass(frozen=True)
class Refinement:
    """A motion from rest to rest as an optimisation problem.

    Attributes:
        observation: the system that the points give.
        limits: what to keep.
        first: where to start from; its first and last point stay.
        duration: total duration to aim at, in s; None lets the limits decide.
        equilibrium_weight: weight of log S.
        prior: (columns,) approximate base parameters, for the error to expect; None: unknown.
        clearance: what the motion lacks to its clearance; None: it need not keep clear of anything.
    """

    observation: Observation
    limits: MotionLimits
    first: Points
    duration: float | None = None
    equilibrium_weight: float = 0.0
    prior: Array | None = None
    clearance: ClearancePenalty | None = None

    def run(self, stages: tuple[Stage, ...], cancelled: Cancelled | None = None) -> Points:
        """Return the points after all stages.

        Raises:
            CancelledError: if ``cancelled`` says so.
        """
        x = self._unknowns(self.first)
        inner = x.size - self.first.intervals
        bounds = [(-1.0, 1.0)] * inner
        middle = np.log(self.first.durations)
        bounds += [(m - _DURATION_RANGE, m + _DURATION_RANGE) for m in middle]
        for stage in stages:

            def cost(y: Array, chosen: Stage = stage) -> tuple[float, Array]:
                if cancelled is not None and cancelled():
                    raise CancelledError("the optimisation was cancelled")
                return self.cost(y, chosen)

            result = scipy.optimize.minimize(
                cost,
                x,
                jac=True,
                method="L-BFGS-B",
                bounds=bounds,
                options={"maxiter": stage.iterations, "maxfun": 2 * stage.iterations, "maxcor": 30},
            )
            x = result.x
        return self.points(x)

    def _unknowns(self, points: Points) -> Array:
        scaled = (
            (points.positions[1:-1] - self.limits.middle) / self.limits.half_range,
            points.velocities[1:-1] / self.limits.velocity,
        )
        inner = np.clip(np.hstack(scaled), -1.0, 1.0)
        return np.concatenate([inner.ravel(), np.log(points.durations)])

    def points(self, x: Array) -> Points:
        """Return the points of unknowns: scaled positions and velocities, log durations."""
        count, joints = self.first.positions.shape
        inner = x[: x.size - self.first.intervals].reshape(count - 2, 2 * joints) * self._widths
        positions, velocities = self.first.positions.copy(), self.first.velocities.copy()
        positions[1:-1] = self._middle + inner[:, :joints]
        velocities[1:-1] = inner[:, joints:]
        return Points(positions, velocities, np.exp(x[x.size - self.first.intervals :]))

    @cached_property
    def _middle(self) -> Array:
        return self.limits.middle

    @cached_property
    def _widths(self) -> Array:
        """(2 joints,) what positions and velocities are scaled by."""
        return np.concatenate([self.limits.half_range, self.limits.velocity])

    @cached_property
    def _penalty(self) -> LimitPenalty:
        return LimitPenalty(self.limits)

    def _excess(self, points: Points) -> tuple[float, Points]:
        """Return what the motion exceeds its limits by and lacks to its clearance."""
        excess, onto = self._penalty(points)
        if self.clearance is None:
            return excess, onto
        lack, away = self.clearance(points)
        return excess + lack, Points(
            onto.positions + away.positions,
            onto.velocities + away.velocities,
            onto.durations + away.durations,
        )

    def cost(self, x: Array, stage: Stage) -> tuple[float, Array]:
        """Return surrogate plus penalty, and the gradient over the unknowns."""
        points, penalty = self.points(x), stage.penalty
        weight = self.equilibrium_weight if stage.equilibrates else 0.0
        value, gradient = surrogate(self.observation, points, stage.sharpness, weight, self.prior)
        excess, onto = self._excess(points)
        value += penalty * excess
        over_durations = gradient.durations + penalty * onto.durations
        if self.duration is not None:
            late = points.durations.sum() / self.duration - 1.0
            value += penalty * late**2
            over_durations += 2.0 * penalty * late / self.duration
        inner = np.hstack([gradient.positions[1:-1], gradient.velocities[1:-1]])
        inner += penalty * np.hstack([onto.positions[1:-1], onto.velocities[1:-1]])
        inner *= self._widths
        return value, np.concatenate([inner.ravel(), over_durations * points.durations])
