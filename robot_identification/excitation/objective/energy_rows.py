"""Observation matrices W of a motion through points, with derivatives to the points.

The energy model has one row per interval between consecutive points, so that every point is used
twice (Gautier and Khalil 1992, eq. 5-9 and section 4.3); friction adds integrals over the
intervals.  The dynamic model is in :mod:`~robot_identification.excitation.objective.effort_rows`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics import friction
from robot_identification.dynamics.energy import EnergyRegressor
from robot_identification.dynamics.kernels.terms import ACCELERATION, MAGNITUDE
from robot_identification.dynamics.tree import tree_of
from robot_identification.excitation.kernels import energy_gradient as gradient_kernels
from robot_identification.excitation.objective.curve import Curve, Points, Samples
from robot_identification.excitation.objective.motion_map import Observation, Pull
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel
from robot_identification.robot.parameters import LINK_PARAMETERS

_QUADRATURE_NODES = 12


class EnergyObservation:
    """Differences of the energy functions between consecutive points (eq. 9).

    What stores no energy contributes the integral of its power per unit: qd^2 for viscous and
    |qd| for Coulomb friction, q(b) - q(a) for an offset.

    Args:
        base: base parameters; their columns are those of W.
        smoothing: width of the smoothed sign of velocities, as a share of 1 rad/s or 1 m/s; 0
            for the sign itself.
    """

    def __init__(self, base: BaseParameters, smoothing: float = 0.0) -> None:
        robot = base.robot
        friction.require_kinds(robot, "planning with the energy model", MAGNITUDE)
        self._regressor = EnergyRegressor(robot, base.base_columns)
        self._tree = tree_of(robot)
        self._inertial = _inertial_places(robot, base.base_columns)
        stored = self._regressor.contained
        terms = friction.rate_terms(robot, base.base_columns)
        self._drive = tuple(t for t in terms if stored[t.column] and t.kind == ACCELERATION)
        self._lossy = tuple(t for t in terms if not stored[t.column])
        self._smoothing = smoothing
        nodes, weights = np.polynomial.legendre.leggauss(_QUADRATURE_NODES)
        self._curve = Curve((nodes + 1.0) / 2.0)
        self._weights = weights / 2.0

    @property
    def columns(self) -> int:
        """Number of columns of W."""
        return len(self._regressor.columns)

    def rows(self, points: Points) -> Array:
        """Return W, (intervals, columns)."""
        W = self._regressor.differences(points.positions, points.velocities)
        if self._lossy:
            samples = self._curve.sample(points)
            for term in self._lossy:
                power, _, _ = friction.power(
                    term, samples.velocity, samples.acceleration, self._smoothing
                )
                W[:, term.column] += term.gain * points.durations * (power @ self._weights)
        return W

    def pull(self, points: Points, slope: Array) -> Points:
        """Return the gradient over the points of what has the derivatives ``slope`` over W."""
        onto_h = np.zeros((points.intervals + 1, self.columns))
        onto_h[1:] += slope
        onto_h[:-1] -= slope
        onto_q, onto_qd = np.zeros((2, *points.positions.shape))
        links = _spread(onto_h, self._inertial, points.positions.shape[1])
        gradient_kernels.energy_gradients(
            self._tree, points.positions, points.velocities, links, onto_q, onto_qd
        )
        for term in self._drive:
            scale = 0.5 * term.gain * onto_h[:, term.column]
            onto_qd[:, term.joint] += scale * (points.velocities @ term.motion)
            onto_qd += np.outer(scale * points.velocities[:, term.joint], term.motion)
        if not self._lossy:
            return Points(onto_q, onto_qd, np.zeros(points.intervals))
        between = self._pull_lossy(points, slope)
        return Points(onto_q + between.positions, onto_qd + between.velocities, between.durations)

    def gram(self, points: Points) -> tuple[Array, Pull[Points]]:
        """Return W^T W, and what leads derivatives over it back to the points."""
        W = self.rows(points)
        return W.T @ W, lambda slope: self.pull(points, 2.0 * (W @ slope))

    def _pull_lossy(self, points: Points, slope: Array) -> Points:
        samples = self._curve.sample(points)
        onto = Samples(*(np.zeros_like(part) for part in vars(samples).values()))
        onto_u = np.zeros(points.intervals)
        for term in self._lossy:
            power, over_speed, over_rate = friction.power(
                term, samples.velocity, samples.acceleration, self._smoothing
            )
            scale = term.gain * slope[:, term.column]
            onto_u += scale * (power @ self._weights)
            weights = (scale * points.durations)[:, None] * self._weights
            onto.velocity[:, :, term.joint] += weights * over_speed
            rates = onto.acceleration if term.kind == ACCELERATION else onto.velocity
            rates += (weights * over_rate)[:, :, None] * term.motion
        result = self._curve.pull(points, onto)
        return Points(result.positions, result.velocities, result.durations + onto_u)


class InnerObservation:
    """A system that leaves out the intervals from and to rest at both ends.

    Args:
        observation: the system of the points in between.
    """

    def __init__(self, observation: Observation[Points]) -> None:
        self._observation = observation

    @property
    def columns(self) -> int:
        """Number of columns of W."""
        return self._observation.columns

    def rows(self, points: Points) -> Array:
        """Return W of all points but the first and the last."""
        return self._observation.rows(_inner(points))

    def pull(self, points: Points, slope: Array) -> Points:
        """Return the gradient over the points of what has the derivatives ``slope`` over W."""
        return _with_ends(self._observation.pull(_inner(points), slope))

    def gram(self, points: Points) -> tuple[Array, Pull[Points]]:
        """Return W^T W, and what leads derivatives over it back to the points."""
        gram, pull = self._observation.gram(_inner(points))
        return gram, lambda slope: _with_ends(pull(slope))


def _inner(points: Points) -> Points:
    return Points(points.positions[1:-1], points.velocities[1:-1], points.durations[1:-1])


def _with_ends(onto: Points) -> Points:
    """Return a gradient over the inner points as one over all points."""
    count, joints = onto.positions.shape
    motion, durations = np.zeros((2, count + 2, joints)), np.zeros(len(onto.durations) + 2)
    motion[0, 1:-1], motion[1, 1:-1], durations[1:-1] = (
        onto.positions, onto.velocities, onto.durations,
    )  # fmt: skip
    return Points(motion[0], motion[1], durations)


def _inertial_places(
    robot: RobotModel, columns: npt.NDArray[np.intp]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return which of the columns are inertial, and their places among ten per link."""
    link, parameter = np.divmod(np.asarray(columns), robot.layout.per_joint)
    own = (link < len(robot.joints)) & (parameter < LINK_PARAMETERS)
    kept = np.flatnonzero(own)
    return kept, link[kept] * LINK_PARAMETERS + parameter[kept]


def _spread(
    slope: Array, places: tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]], joints: int
) -> Array:
    """Return (..., joints, 10) derivatives over the entries of links, of (..., columns)."""
    spread = np.zeros((*slope.shape[:-1], joints * LINK_PARAMETERS))
    spread[..., places[1]] = slope[..., places[0]]
    return spread.reshape(*slope.shape[:-1], joints, LINK_PARAMETERS)
