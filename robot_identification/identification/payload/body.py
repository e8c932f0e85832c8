"""Mass, centre of mass and inertia about it from ten standard parameters, with their covariance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.robot.arrays import Array, by_value, read_only

STANDARD = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
QUANTITIES = ("mass", "x", "y", "z", "ixx", "ixy", "ixz", "iyy", "iyz", "izz")
NORMAL_95 = 1.959963984540054
"""Half the width of a 95 % interval, in standard deviations."""
_SAME = 1e-8


@by_value
@dataclass(frozen=True)
class BodyEstimate:
    """A rigid body as identified, not forced to be physically possible.

    Attributes:
        values: (10,) mass in kg, centre of mass x, y, z in m, and the inertia about the centre of
            mass ixx, ixy, ixz, iyy, iyz, izz in kg m^2, along the axes of the frame; NaN where the
            motion does not tell.
        std: (10,) standard deviations, to first order; NaN likewise.
    """

    values: Array
    std: Array

    @property
    def lower(self) -> Array:
        """(10,) lower ends of the 95 % intervals."""
        return read_only(self.values - NORMAL_95 * self.std)

    @property
    def upper(self) -> Array:
        """(10,) upper ends of the 95 % intervals."""
        return read_only(self.values + NORMAL_95 * self.std)


def quantities(standard: Array) -> Array:
    """Return the ten quantities of a body (Gautier and Venture 2013, eq. 36).

    Args:
        standard: (10,) XX XY XZ YY YZ ZZ MX MY MZ M; M must not be 0.
    """
    xx, xy, xz, yy, yz, zz, mx, my, mz, m = standard
    return np.array(
        [
            m,
            mx / m,
            my / m,
            mz / m,
            xx - (my * my + mz * mz) / m,
            xy + mx * my / m,
            xz + mx * mz / m,
            yy - (mx * mx + mz * mz) / m,
            yz + my * mz / m,
            zz - (mx * mx + my * my) / m,
        ]
    )


def derivative(standard: Array) -> Array:
    """Return the (10, 10) derivative of :func:`quantities` by the standard parameters."""
    mx, my, mz, m = standard[6:]
    c = np.array([mx, my, mz]) / m
    result = np.zeros((10, 10))
    result[0, 9] = 1.0
    result[1:4, 6:9] = np.eye(3) / m
    result[1:4, 9] = -c / m
    result[4:, :6] = np.eye(6)
    for row, (i, k) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))):
        for axis in range(3):
            own = (axis == k) * c[i] + (axis == i) * c[k]  # d(c_i c_k m)/d(MS_axis)
            result[4 + row, 6 + axis] = own - (2.0 * c[axis] if i == k else 0.0)
        result[4 + row, 9] = (c @ c if i == k else 0.0) - c[i] * c[k]
    return result


def body_estimate(standard: Array, covariance: Array, silent: Array, sizes: Array) -> BodyEstimate:
    """Return the body that identified standard parameters stand for.

    Args:
        standard: (10,) identified values.
        covariance: (10, 10) their covariance.
        silent: (10, any) orthonormal directions, of parameters divided by their sizes, that the
            motion does not tell.
        sizes: (10,) of the parameters.
    """
    values, std = np.full(10, np.nan), np.full(10, np.nan)
    if told(np.eye(10)[9:], silent, sizes)[0]:
        gradient, found = np.eye(10)[[9]], standard[[9]]
        if standard[9] > 0.0:
            gradient, found = derivative(standard), quantities(standard)
        known = np.flatnonzero(told(gradient, silent, sizes))
        if standard[9] > 0.0:
            known = known[_told_elsewhere(standard, silent, sizes)[known]]
        values[known] = found[known]
        variances = np.einsum("ki,ij,kj->k", gradient, covariance, gradient)
        std[known] = np.sqrt(np.maximum(variances[known], 0.0))
    return BodyEstimate(read_only(values), read_only(std))


def _told_elsewhere(standard: Array, silent: Array, sizes: Array) -> npt.NDArray[np.bool_]:
    """Tell which of the ten quantities are told at another payload that fits the data as well.

    What is not told may be zero in the values, where a product with it seems not to change.
    """
    reach = np.linalg.norm(standard / sizes)
    mixed = silent @ np.cos(np.arange(silent.shape[1]))
    return told(derivative(standard + reach * sizes * mixed), silent, sizes)


def told(gradients: Array, silent: Array, sizes: Array) -> npt.NDArray[np.bool_]:
    """Tell which quantities do not depend on what the motion does not tell.

    Args:
        gradients: (quantities, 10) their derivatives by the standard parameters.
        silent: (10, any) as for :func:`body_estimate`.
        sizes: (10,) of the parameters.
    """
    scaled = gradients * sizes
    change = np.linalg.norm(scaled @ silent, axis=1)
    return np.asarray(change <= _SAME * np.linalg.norm(scaled, axis=1))
