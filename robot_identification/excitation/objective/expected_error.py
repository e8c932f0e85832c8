"""The error to expect of the estimate, where approximate values of the parameters are known.

With noise on Y whose standard deviation is a share of the largest |Y| (Gautier and Khalil 1992,
section 6.3), and the covariance sigma^2 (W^T W)^-1 of the estimate, the root mean square of
|dX| / |X| is that share times max|W X| (trace (W^T W)^-1)^(1/2) / |X|.  The condition number
knows nothing of the first factor: a motion with one large |Y| among small ones is well conditioned
and yet spoilt by the noise that comes with it.
"""

from __future__ import annotations

import numpy as np

from robot_identification.robot.model import Array

_FLOOR = 1e-16


def expected_error(W: Array, values: Array) -> float:
    """Return the relative error per unit of noise; infinite if W lacks full column rank.

    Args:
        W: (rows, columns).
        values: (columns,) approximate parameters, not all 0.
    """
    singular_values = np.linalg.svd(W, compute_uv=False)
    tolerance = max(W.shape) * np.finfo(float).eps * singular_values[0]
    if W.shape[0] < W.shape[1] or singular_values[-1] <= tolerance:
        return float("inf")
    spread = float(np.linalg.norm(1.0 / singular_values))
    return float(np.abs(W @ values).max()) * spread / float(np.linalg.norm(values))


def smooth_error(W: Array, values: Array, degree: float) -> tuple[float, Array]:
    """Return a smooth upper estimate of log(:func:`expected_error`), and its gradient.

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
