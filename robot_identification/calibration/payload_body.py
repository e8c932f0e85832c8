"""The physically consistent payload nearest to the identified one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from robot_identification.calibration.consistency.semidefinite import Inequality, least_squares
from robot_identification.errors import CalibrationError, SolverMissingError
from robot_identification.identification.payload.estimate import PayloadEstimate
from robot_identification.identification.payload.identify import PayloadResult
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.bodies import Body, body_of, pseudo_inertia

MARGIN = 1e-4
"""Smallest eigenvalue asked of the pseudo-inertia, relative to the size of the payload."""
_SMALLEST_RADIUS = 1e-3  # m; no payload of interest is smaller
_SMALLEST_MASS = 1e-6  # kg; likewise
_DISTINGUISHED = 3.0  # standard deviations of the mass


@by_value
@dataclass(frozen=True)
class ConsistentPayload:
    """A payload with positive mass and a positive definite pseudo-inertia.

    Attributes:
        body: mass, centre of mass and inertia about it.
        values: (10,) its standard parameters in the same frame.
        changed: whether consistency has moved the identified values.
        distance: of the values from the identified ones, in standard deviations (the root of the
            quadratic form of the inverse covariance); with ten parameters, values up to 4.3 are
            what noise alone makes in 95 of 100 cases.
        least_eigenvalue: smallest eigenvalue of the pseudo-inertia, relative to the size.
    """

    body: Body
    values: Array
    changed: bool
    distance: float
    least_eigenvalue: float


def with_consistent(result: PayloadResult) -> tuple[PayloadResult, ConsistentPayload | None]:
    """Return the consistent payload; without its solver the rest stands, with a warning.

    Args:
        result: the identified payload.

    Raises:
        CalibrationError: no payload near the identified one is consistent.
    """
    try:
        return result, consistent_payload(result.estimate)
    except SolverMissingError as error:
        return replace(result, warnings=(*result.warnings, str(error))), None


def consistent_payload(estimate: PayloadEstimate) -> ConsistentPayload | None:
    """Return the consistent payload nearest to the identified one, as its covariance measures.

    Args:
        estimate: the identified payload.

    Returns:
        None where the motion does not tell all ten parameters, or the mass is not distinguishable
        from zero, or negative.

    Raises:
        CalibrationError: no payload near the identified one is consistent.
        SolverMissingError: the solver is not installed.
    """
    if estimate.rank < len(estimate.values):
        return None
    identified = np.asarray(estimate.values)
    least_mass = max(_DISTINGUISHED * float(np.sqrt(estimate.covariance[9, 9])), _SMALLEST_MASS)
    if identified[9] < least_mass:
        return None
    sizes = _sizes(identified)
    unit = np.array([pseudo_inertia(e) for e in np.eye(10)]).transpose(1, 2, 0)
    relative = unit / np.outer(sizes, sizes)[:, :, None]
    scale = np.sqrt(np.maximum(np.diag(estimate.covariance), _floor(sizes) ** 2))
    correlation = estimate.covariance / np.outer(scale, scale) + 1e-12 * np.eye(10)
    root = scipy.linalg.cholesky(correlation, lower=True)
    whiten = scipy.linalg.solve_triangular(root, np.diag(1.0 / scale), lower=True)
    condition = Inequality(relative, -MARGIN * np.eye(4))
    solution = least_squares(whiten, whiten @ identified, [condition])
    if solution is None:
        raise CalibrationError(
            ["the payload: no body near the identified values is physically consistent"]
        )
    least = float(np.linalg.eigvalsh(relative @ solution)[0])
    if least <= 0.0:
        raise CalibrationError([f"the payload: pseudo-inertia eigenvalue {least:.2g}"])
    distance = float(np.linalg.norm(whiten @ (solution - identified)))
    changed = distance > 1e-6
    values = solution if changed else identified
    return ConsistentPayload(body_of(values), read_only(values), changed, distance, least)


def _sizes(values: Array) -> Array:
    """Return (4,) sizes: a pseudo-inertia divided by their products has entries near 1."""
    mass = float(values[9])
    second = float(values[0] + values[3] + values[5]) / 2.0  # sum of m r^2 about the origin
    radius = max(np.sqrt(max(second / mass, 0.0)), _SMALLEST_RADIUS)
    return np.asarray(np.sqrt(mass) * np.array([radius, radius, radius, 1.0]))


def _floor(sizes: Array) -> Array:
    """Return (10,) deviations below which nobody measures: one part in 10^9 of the sizes."""
    inertia, moment, mass = sizes[0] ** 2, sizes[0] * sizes[3], sizes[3] ** 2
    return 1e-9 * np.array([*[inertia] * 6, *[moment] * 3, mass])
