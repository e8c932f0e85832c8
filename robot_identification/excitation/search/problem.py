"""The optimisation problem: points inside the limits that condition a system well (section 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.objective.criterion import Criterion
from robot_identification.excitation.objective.curve import Points
from robot_identification.excitation.objective.motion_map import Observation
from robot_identification.excitation.objective.smooth_criterion import surrogate
from robot_identification.robot.arrays import Array, by_value

_UNCHANGED = 1e-10


@by_value
@dataclass(frozen=True)
class PointProblem:
    """Points as unknowns, each between -1 and 1 over the range of its limits.

    Attributes:
        observation: the system that the points give.
        criterion: what is to become small.
        limits: of positions and velocities.
        filling: positions and velocities of what does not change the system, and the durations.
        position_matters: (joints,) whether the position of a joint changes the system.
        velocity_matters: (joints,) whether its velocity does.
    """

    observation: Observation[Points]
    criterion: Criterion
    limits: MotionLimits
    filling: Points
    position_matters: npt.NDArray[np.bool_]
    velocity_matters: npt.NDArray[np.bool_]

    @property
    def variables(self) -> int:
        """Number of unknowns (eq. 23)."""
        per_point = np.count_nonzero(self.position_matters) + np.count_nonzero(
            self.velocity_matters
        )
        return int(per_point) * len(self.filling.positions)

    def points(self, z: Array) -> Points:
        """Return the points of unknowns (variables,) between -1 and 1."""
        rows = z.reshape(len(self.filling.positions), -1)
        split = np.count_nonzero(self.position_matters)
        positions, velocities = self.filling.positions.copy(), self.filling.velocities.copy()
        scaled = self.limits.middle + self.limits.half_range * _wide(rows, self.position_matters)
        positions[:, self.position_matters] = scaled[:, self.position_matters]
        fast = self.limits.velocity * _wide(rows[:, split:], self.velocity_matters)
        velocities[:, self.velocity_matters] = fast[:, self.velocity_matters]
        return Points(positions, velocities, self.filling.durations)

    def value(self, z: Array) -> float:
        """Return the criterion f (eq. 18)."""
        return self.criterion.value(self.observation.rows(self.points(z)))

    def smooth(self, z: Array, sharpness: float, weight: float) -> tuple[float, Array]:
        """Return the surrogate of the criterion, and its gradient (variables,)."""
        value, gradient = surrogate(
            self.observation, self.points(z), sharpness, weight, self.criterion.prior
        )
        parts = (
            (gradient.positions * self.limits.half_range)[:, self.position_matters],
            (gradient.velocities * self.limits.velocity)[:, self.velocity_matters],
        )
        return value, np.hstack(parts).ravel()

    def random_start(self, rng: np.random.Generator) -> Array:
        """Return unknowns drawn uniformly from the inner half of the limits.

        Points near the limits leave the optimiser less room.
        """
        return rng.uniform(-0.5, 0.5, self.variables)

    def angles(self, z: Array) -> Array:
        """Return unbounded unknowns x: q = qI + (qF - qI) sin^2 x, qd = qdM sin x (section 4.2)."""
        straight = np.arcsin(np.clip(z, -1.0, 1.0))
        return np.where(
            self._is_position, np.arcsin(np.sqrt((np.clip(z, -1, 1) + 1) / 2)), straight
        )

    def from_angles(self, x: Array) -> Array:
        """Return the unknowns between -1 and 1 that unbounded ones stand for (section 4.2)."""
        return np.where(self._is_position, 2.0 * np.sin(x) ** 2 - 1.0, np.sin(x))

    @property
    def _is_position(self) -> npt.NDArray[np.bool_]:
        positions = np.count_nonzero(self.position_matters)
        velocities = np.count_nonzero(self.velocity_matters)
        row = np.repeat([True, False], [positions, velocities])
        return np.tile(row, len(self.filling.positions))


def point_problem(
    observation: Observation[Points],
    criterion: Criterion,
    limits: MotionLimits,
    durations: Array,
    rng: np.random.Generator,
) -> PointProblem:
    """Return the problem of points, after finding out which unknowns change the system.

    Positions that do not, such as that of a first vertical axis, are filled with a random sequence
    inside the limits (Gautier and Khalil 1992, section 6.2).

    Args:
        observation: the system.
        criterion: what is to become small.
        limits: of positions and velocities.
        durations: (points - 1,) durations between the points, in s.
        rng: draws the sequence.
    """
    shape = (len(durations) + 1, len(limits.lower))
    filling = Points(
        rng.uniform(limits.lower, limits.upper, shape),
        rng.uniform(-limits.velocity, limits.velocity, shape),
        durations,
    )
    slope = rng.normal(size=observation.rows(filling).shape)
    gradient = observation.pull(filling, slope)
    sizes = np.abs(gradient.positions).max(axis=0) * limits.half_range
    speeds = np.abs(gradient.velocities).max(axis=0) * limits.velocity
    floor = _UNCHANGED * max(float(sizes.max()), float(speeds.max()))
    return PointProblem(observation, criterion, limits, filling, sizes > floor, speeds > floor)


def _wide(rows: Array, chosen: npt.NDArray[np.bool_]) -> Array:
    """Return (points, joints) with the first columns of ``rows`` put where ``chosen`` says."""
    result = np.zeros((len(rows), len(chosen)))
    result[:, chosen] = rows[:, : np.count_nonzero(chosen)]
    return result
