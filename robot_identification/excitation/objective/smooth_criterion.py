"""A surrogate of the criterion of excitation without kinks, with its exact gradient."""

from __future__ import annotations

import numpy as np

from robot_identification.excitation.objective.criterion import present_entries
from robot_identification.excitation.objective.motion_map import Motion, Observation
from robot_identification.robot.arrays import Array

_FLOOR = 1e-16


def smooth_error(W: Array, values: Array, degree: float) -> tuple[float, Array]:
    """Return a smooth upper estimate of log(:func:`~.criterion.expected_error`), and its gradient.

    Args:
        W: (rows, columns).
        values: (columns,) approximate parameters, not all 0.
        degree: of the norm of W X that stands for its largest entry.

    Returns:
        The value and (rows, columns) its derivatives.
    """
    Y = W @ values
    largest = float(np.abs(Y).max())
    shares = np.abs(Y) / largest
    total = float((shares**degree).sum())
    onto_y = np.sign(Y) * shares ** (degree - 1.0) / (total * largest)
    eigenvalues, vectors = np.linalg.eigh(W.T @ W)
    eigenvalues = np.maximum(eigenvalues, _FLOOR * eigenvalues[-1])
    trace = float((1.0 / eigenvalues).sum())
    value = np.log(largest) + np.log(total) / degree + 0.5 * np.log(trace)
    value -= np.log(np.linalg.norm(values))
    slope = np.outer(onto_y, values) - W @ ((vectors * eigenvalues**-2.0) @ vectors.T) / trace
    return float(value), slope


_TINY = 1e-280
_ERROR_SHARE = 0.25


def smooth(
    W: Array, sharpness: float, equilibrium_weight: float, prior: Array | None = None
) -> tuple[float, Array]:
    """Return a smooth upper estimate of log Cond + weight log S, and its gradient.

    The extreme eigenvalues of W^T W are replaced by norms of degree max(2, sharpness) of all of
    them (degree 2 is half the logarithm of the Frobenius condition, eq. 21), the extreme entries
    by norms of degree ``sharpness`` of all entries that are not 0.  With a prior, half of log Cond
    is replaced by half of the logarithm of the expected error.

    Args:
        W: (rows, columns).
        sharpness: positive; the larger, the closer.
        equilibrium_weight: weight of log S; 0 leaves it out.
        prior: (columns,) approximate parameters, or None.

    Returns:
        The value and (rows, columns) its derivatives.
    """
    value, over_gram = smooth_condition(W.T @ W, sharpness)
    slope = 2.0 * (W @ over_gram)
    if prior is not None:
        error, error_slope = smooth_error(W, prior, max(4.0, 2.0 * sharpness))
        value += _ERROR_SHARE * (error - value)
        slope += _ERROR_SHARE * (error_slope - slope)
    if equilibrium_weight > 0.0:
        other, other_slope = _smooth_equilibrium(W, sharpness)
        value += equilibrium_weight * other
        slope += equilibrium_weight * other_slope
    return value, slope


def smooth_condition(gram: Array, sharpness: float) -> tuple[float, Array]:
    """Return the smooth upper estimate of log Cond of :func:`smooth`, from W^T W alone.

    Args:
        gram: (columns, columns) W^T W.
        sharpness: positive; the larger, the closer.

    Returns:
        The value and (columns, columns) its derivatives S over the entries of W^T W, symmetric;
        those over W are 2 W S.
    """
    degree = max(2.0, sharpness)
    eigenvalues, vectors = np.linalg.eigh(gram)
    floor = 1e-16 * max(float(eigenvalues[-1]), _TINY)
    logs = np.log(np.maximum(eigenvalues, floor))
    high = np.exp(degree * (logs - logs[-1]))
    low = np.exp(degree * (logs[0] - logs))
    value = 0.5 * (logs[-1] - logs[0]) + 0.5 * float(np.log(high.sum() * low.sum())) / degree
    weights = 0.5 * (high / high.sum() - low / low.sum()) * np.exp(-logs)
    return float(value), (vectors * weights) @ vectors.T


def _smooth_equilibrium(W: Array, degree: float) -> tuple[float, Array]:
    present = present_entries(W)
    logs = np.log(np.abs(W), out=np.zeros_like(W), where=present)
    largest, smallest = logs[present].max(), logs[present].min()
    high = np.where(present, np.exp(degree * (logs - largest)), 0.0)
    low = np.where(present, np.exp(degree * (smallest - logs)), 0.0)
    value = largest - smallest + float(np.log(high.sum() * low.sum())) / degree
    weights = high / high.sum() - low / low.sum()
    return value, np.divide(weights, W, out=np.zeros_like(W), where=present)


def surrogate(
    observation: Observation[Motion],
    motion: Motion,
    sharpness: float,
    equilibrium_weight: float = 0.0,
    prior: Array | None = None,
) -> tuple[float, Motion]:
    """Return the surrogate of :func:`smooth`.

    Without equilibrium and prior only the singular values count: they need W^T W, and no W.

    Args:
        observation: the system W that a motion gives.
        motion: where.
        sharpness: positive; the larger, the closer to the criterion.
        equilibrium_weight: weight of log S; 0 leaves it out.
        prior: (columns,) approximate parameters, or None.

    Returns:
        The value and its derivatives over the motion.
    """
    if equilibrium_weight == 0.0 and prior is None:
        gram, pull = observation.gram(motion)
        value, slope = smooth_condition(gram, sharpness)
        return value, pull(slope)
    value, slope = smooth(observation.rows(motion), sharpness, equilibrium_weight, prior)
    return value, observation.pull(motion, slope)
