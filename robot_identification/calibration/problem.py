"""The problem of consistent parameters: data, prior, scales and conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_identification.calibration.conditions import Condition
from robot_identification.calibration.prior import Prior
from robot_identification.calibration.scales import Scales
from robot_identification.calibration.semidefinite import Inequality
from robot_identification.calibration.standard import StandardSystem
from robot_identification.robot.model import Array, RobotModel

MARGIN = 1e-4
"""Smallest eigenvalue asked of every condition, relative to the size of its link or drive."""

_NOMINAL_WEIGHT = 0.1  # of the tie to a nominal machine, where the prior gives nothing
_LEAST_NOISE = 1e-5  # of the effort: nobody measures better
_ACTIVE = 1.5  # times the margin: a condition with a smaller eigenvalue holds the solution


@dataclass(frozen=True)
class Problem:
    """What consistent parameters are sought for.

    Attributes:
        robot: the robot.
        system: the weighted system of the identification.
        prior: what is known before.
        scales: sizes of the parameters.
        conditions: what must be positive.
    """

    robot: RobotModel
    system: StandardSystem
    prior: Prior
    scales: Scales
    conditions: tuple[Condition, ...]

    @property
    def sizes(self) -> Array:
        """(parameters,) sizes of the parameters of the model."""
        return np.asarray(self.scales.parameters[self.robot.standard_indices])

    @property
    def noise(self) -> float:
        """Standard deviation of the weighted residual; above zero."""
        freedom = max(self.system.rows - len(self.system.right), 1)
        root = float(np.sqrt(freedom))
        floor = _LEAST_NOISE * float(np.linalg.norm(self.system.right)) / root
        return max(self.system.rest / root, floor, np.finfo(float).tiny)

    def eigenvalues(self, values: Array) -> Array:
        """Return the smallest eigenvalue of every condition, relative to its size.

        Args:
            values: (parameters of the model,) standard parameters.
        """
        return np.array(
            [np.linalg.eigvalsh(self._relative(c) @ values)[0] for c in self.conditions]
        )

    def inequalities(self, offset: Array, basis: Array, margin: float) -> list[Inequality]:
        """Return the conditions on y, with the parameters offset + basis y.

        Args:
            offset: (parameters of the model,).
            basis: (parameters of the model, variables).
            margin: smallest eigenvalue, relative to the sizes.
        """
        found = []
        for condition in self.conditions:
            relative = self._relative(condition)
            constant = relative @ offset - margin * np.eye(condition.size)
            found.append(Inequality(relative @ basis, constant))
        return found

    def active(self, values: Array, margin: float) -> tuple[Condition, ...]:
        """Return the conditions that hold the solution back: those at the margin."""
        eigenvalues = self.eigenvalues(values)
        at_margin = eigenvalues <= _ACTIVE * margin
        return tuple(c for c, at in zip(self.conditions, at_margin, strict=True) if at)

    def distance_rows(self) -> tuple[Array, Array]:
        """Return weights w and targets t: the distance is |w (chi / sizes - t)|.

        Where the prior gives no value, a weak tie to a nominal machine makes the solution unique.
        """
        known = self.prior.known
        nominal = self.scales.nominal[self.robot.standard_indices]
        target = np.where(known, self.prior.values, nominal) / self.sizes
        return np.where(known, 1.0, _NOMINAL_WEIGHT), target

    def _relative(self, condition: Condition) -> Array:
        d = self.scales.of(condition)
        columns = condition.basis[:, :, self.robot.standard_indices]
        return np.asarray(columns / np.outer(d, d)[:, :, None])


def owners(active: Sequence[Condition], *kinds: str) -> tuple[str, ...]:
    """Return the names of the owners of conditions of some kinds, each once."""
    return tuple(dict.fromkeys(c.owner for c in active if c.kind in kinds))
