"""Points and durations together, so that the motion between the points keeps the limits as well.

The surrogate of the criterion is minimised together with the squares of what the samples of every
interval exceed: velocity, acceleration, and the place where braking from there would end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.optimize

from robot_identification.errors import CancelledError
from robot_identification.excitation.braking import stopping_factors
from robot_identification.excitation.curve import Curve, Points, Samples
from robot_identification.excitation.limits import MotionLimits
from robot_identification.excitation.observation import Observation
from robot_identification.excitation.optimizers import Cancelled
from robot_identification.excitation.surrogate import surrogate
from robot_identification.robot.model import Array

_FRACTIONS = np.array([0.08, 0.17, 0.25, 0.33, 0.42, 0.5, 0.58, 0.67, 0.75, 0.83, 0.92])
_MARGIN = 0.02
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
    """

    observation: Observation
    limits: MotionLimits
    first: Points
    duration: float | None = None
    equilibrium_weight: float = 0.0
    prior: Array | None = None

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
        inner = x[: x.size - self.first.intervals].reshape(count - 2, 2 * joints)
        positions, velocities = self.first.positions.copy(), self.first.velocities.copy()
        positions[1:-1] = self.limits.middle + self.limits.half_range * inner[:, :joints]
        velocities[1:-1] = self.limits.velocity * inner[:, joints:]
        return Points(positions, velocities, np.exp(x[x.size - self.first.intervals :]))

    def cost(self, x: Array, stage: Stage) -> tuple[float, Array]:
        """Return surrogate plus penalty, and the gradient over the unknowns."""
        points, penalty = self.points(x), stage.penalty
        weight = self.equilibrium_weight if stage.equilibrates else 0.0
        value, gradient = surrogate(self.observation, points, stage.sharpness, weight, self.prior)
        parts = list(vars(gradient).values())
        excess, onto = self._excess(points)
        value += penalty * excess
        parts = [a + penalty * b for a, b in zip(parts, vars(onto).values(), strict=True)]
        if self.duration is not None:
            late = points.durations.sum() / self.duration - 1.0
            value += penalty * late**2
            parts[2] = parts[2] + 2.0 * penalty * late / self.duration
        inner = np.hstack(
            [parts[0][1:-1] * self.limits.half_range, parts[1][1:-1] * self.limits.velocity]
        )
        return value, np.concatenate([inner.ravel(), parts[2] * points.durations])

    def _excess(self, points: Points) -> tuple[float, Points]:
        """Return the squares of what exceeds the limits, and their gradient over the points."""
        curve = Curve(_FRACTIONS)
        samples = curve.sample(points)
        per_square, per_speed = stopping_factors(self.limits)
        speed = np.abs(samples.velocity)
        rest = samples.position + (per_square * speed + per_speed) * samples.velocity
        half = self.limits.half_range
        place, onto_rest = _hinge((rest - self.limits.middle) / half)
        fast, onto_fast = _hinge(samples.velocity / self.limits.velocity)
        sharp, onto_sharp = _hinge(samples.acceleration / self.limits.acceleration)
        slopes = Samples(
            onto_rest / half,
            onto_rest / half * (2.0 * per_square * speed + per_speed)
            + onto_fast / self.limits.velocity,
            onto_sharp / self.limits.acceleration,
        )
        return place + fast + sharp, curve.pull(points, slopes)


def _hinge(ratio: Array) -> tuple[float, Array]:
    """Return the sum of squares of what is beyond 1 less a margin, and its derivatives."""
    beyond = np.sign(ratio) * np.maximum(np.abs(ratio) - (1.0 - _MARGIN), 0.0)
    return float((beyond**2).sum()), 2.0 * beyond
