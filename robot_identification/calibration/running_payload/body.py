"""The payload that rows tell, with what is usual of bodies where they tell little.

Seconds of ordinary motion tell mass and centre of mass; moments of inertia about it, which add a
hundredth of the same efforts, they hardly tell.  Left open, these would make all others uncertain.
They are therefore taken for those of a body of usual size: the moments about the centre of mass
are m k^2 with the radius of gyration k, and as much more or less, and the products 0 with half of
that deviation.  As they follow mass and centre, which are what is looked for, the estimate is that
of largest posterior probability by Gauss and Newton's iteration, and its covariance the inverse of
the information there.  Rows that tell inertias outweigh what is usual.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from robot_identification.calibration.running_payload.settings import RunningPayloadSettings
from robot_identification.identification.payload.body import (
    NORMAL_95,
    BodyEstimate,
    derivative,
    quantities,
)
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.bodies import Body
from robot_identification.signals.rows import Flags

_MASS = 9
_MOMENTS = slice(6, 9)
_ITERATIONS = 15
_STANDS = 1e-4  # of a standard deviation
_TOLD = 0.5  # of its deviation before anything was known: what rows tell is better than that
_ROUND = np.array([1.0, 0.0, 0.0, 1.0, 0.0, 1.0])
_THINNEST = 1e-3  # m; no payload of interest is smaller
_CERTAIN = 3.0  # standard deviations by which a mass that is carried lies above zero


@by_value
@dataclass(frozen=True)
class ConditionedBody:
    """A payload as it is likely to be.

    Attributes:
        standard: (10,) XX XY XZ YY YZ ZZ MX MY MZ M in the frame of the payload.
        covariance: (10, 10) of these.
        estimate: mass, centre of mass and inertia about it; NaN where the rows do not tell.
        told: (10,) which of these the rows tell; the others are what is usual, or unknown.
        misfit: sum of squares that what is usual of bodies costs.
    """

    standard: Array
    covariance: Array
    estimate: BodyEstimate
    told: Flags
    misfit: float

    @property
    def mass(self) -> tuple[float, float]:
        """The mass and its standard deviation, in kg."""
        return float(self.standard[_MASS]), float(np.sqrt(self.covariance[_MASS, _MASS]))

    @property
    def certain(self) -> bool:
        """Whether the mass is positive beyond doubt, by three standard deviations."""
        mass, deviation = self.mass
        return mass > _CERTAIN * deviation

    def body(self) -> Body:
        """Return the nearest physically consistent body: its second moments are positive.

        The mass must be positive.
        """
        found = quantities(self.standard)
        inertia = np.zeros((3, 3))
        inertia[np.triu_indices(3)] = found[4:]
        inertia += np.triu(inertia, 1).T
        sizes, axes = np.linalg.eigh(np.trace(inertia) / 2.0 * np.eye(3) - inertia)
        second = (axes * np.maximum(sizes, found[0] * _THINNEST**2)) @ axes.T
        return Body(found[0], found[1:4], np.trace(second) * np.eye(3) - second)


def prior_deviations(settings: RunningPayloadSettings) -> Array:
    """Return the (10,) deviations of standard parameters before anything is known."""
    mass, reach = settings.largest_mass, settings.reach
    return np.array([*[mass * reach**2] * 6, *[mass * reach] * 3, mass])


def conditioned_body(
    factor: Array, settings: RunningPayloadSettings, inflation: float = 1.0
) -> ConditionedBody:
    """Return the payload of largest posterior probability.

    Args:
        factor: (10, 11) triangular factor [R z] of the payload's standard parameters.
        settings: what is usual of bodies.
        inflation: factor on the deviations that the rows give.
    """
    R, z = factor[:, :-1] / inflation, factor[:, -1] / inflation
    values = scipy.linalg.solve_triangular(R, z)
    usual, wanted = _usual(values, _scale(values, R, settings.least_mass), settings)
    for _ in range(_ITERATIONS):
        rows = np.vstack([R, usual])
        left = np.concatenate([z - R @ values, wanted])
        step, triangle = _step(rows, left)
        values = values + step
        moved = float(np.linalg.norm(triangle @ step))
        usual, wanted = _usual(values, _scale(values, triangle, settings.least_mass), settings)
        if moved <= _STANDS:
            break
    whole = np.linalg.qr(np.vstack([R, usual]), mode="r")
    root = scipy.linalg.solve_triangular(whole, np.eye(len(values)))
    covariance = root @ root.T
    estimate, told = _estimate(values, covariance, settings)
    return ConditionedBody(
        read_only(values), read_only(covariance), estimate, told, float(wanted @ wanted)
    )


def _step(rows: Array, left: Array) -> tuple[Array, Array]:
    """Return the step of least squares, and the triangular factor of the rows."""
    left_vectors, triangle = np.linalg.qr(rows)
    return scipy.linalg.solve_triangular(triangle, left_vectors.T @ left), triangle


def _scale(values: Array, factor: Array, lightest: float) -> float:
    """Return a mass that inertias are measured by: the one found, or what it may be."""
    deviation = 1.0 / max(abs(float(factor[_MASS, _MASS])), np.finfo(float).tiny)
    return max(float(values[_MASS]), min(deviation, 1.0), lightest)


def _usual(values: Array, mass: float, settings: RunningPayloadSettings) -> tuple[Array, Array]:
    """Return rows of what is usual of bodies, linearised, and what they lack.

    Returns:
        (6, 10) rows and (6,) right-hand sides for a step from the values.
    """
    size, shares = settings.gyration**2, np.where(_ROUND > 0.0, 1.0, 0.5)
    if values[_MASS] < mass:  # so light that it has no centre: about the frame
        deviations = mass * (size + settings.reach**2) * shares
        return np.eye(6, len(values)) / deviations[:, None], -values[:6] / deviations
    deviations = mass * size * shares
    near = np.array(values)
    reach = 2.0 * settings.reach * mass
    near[_MOMENTS] = np.clip(near[_MOMENTS], -reach, reach)
    gradient = derivative(near)[4:]
    gradient[:, _MASS] -= size * _ROUND
    lacking = size * mass * _ROUND - quantities(near)[4:]
    return gradient / deviations[:, None], lacking / deviations


def _estimate(
    standard: Array, covariance: Array, settings: RunningPayloadSettings
) -> tuple[BodyEstimate, Flags]:
    """Return the ten quantities with their deviations, and which of them the rows tell."""
    values, std = np.full(10, np.nan), np.full(10, np.nan)
    told = np.zeros(10, dtype=np.bool_)
    deviation = float(np.sqrt(covariance[_MASS, _MASS]))
    if deviation > _TOLD * settings.largest_mass:
        return BodyEstimate(values, std), told
    values[0], std[0], told[0] = standard[_MASS], deviation, True
    if standard[_MASS] <= NORMAL_95 * deviation:
        return BodyEstimate(read_only(values), read_only(std)), told
    gradient = derivative(standard)
    found = quantities(standard)
    deviations = np.sqrt(np.maximum(np.einsum("ki,ij,kj->k", gradient, covariance, gradient), 0.0))
    size = settings.gyration**2 * standard[_MASS]
    limits = np.array([np.inf, *[settings.reach] * 3, *(size * np.where(_ROUND > 0.0, 1.0, 0.5))])
    told[1:] = deviations[1:] <= _TOLD * limits[1:]
    shown = told.copy()
    shown[4:] = True  # what is usual is an estimate too
    values[shown], std[shown] = found[shown], deviations[shown]
    return BodyEstimate(read_only(values), read_only(std)), told
