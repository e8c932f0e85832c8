"""Mass, centre of mass and inertia about it from ten standard parameters, with their covariance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.robot.model import Array, read_only

STANDARD = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
QUANTITIES = ("mass", "x", "y", "z", "ixx", "ixy", "ixz", "iyy", "iyz", "izz")
NORMAL_95 = 1.959963984540054
"""Half the width of a 95 % interval, in standard deviations."""


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


def body_estimate(standard: Array, covariance: Array, silent: Array) -> BodyEstimate:
    """Return the body that identified standard parameters stand for.

    Args:
        standard: (10,) identified values.
        covariance: (10, 10) their covariance.
        silent: (10, any) orthonormal directions, of parameters divided by their sizes, that the
            motion does not tell, already times the sizes.
    """
    mass_known = standard[9] > 0.0 and not _moved(np.eye(10)[9:], silent)[0]
    values, std = np.full(10, np.nan), np.full(10, np.nan)
    if mass_known:
        gradient = derivative(standard)
        told = ~_moved(gradient, silent)
        values[told] = quantities(standard)[told]
        variances = np.einsum("ki,ij,kj->k", gradient, covariance, gradient)
        std[told] = np.sqrt(np.maximum(variances[told], 0.0))
    elif not _moved(np.eye(10)[9:], silent)[0]:
        values[0], std[0] = standard[9], np.sqrt(max(covariance[9, 9], 0.0))
    return BodyEstimate(read_only(values), read_only(std))


def _moved(gradient: Array, silent: Array) -> npt.NDArray[np.bool_]:
    """Tell which quantities depend on directions that the motion does not tell."""
    if not silent.shape[1]:
        return np.zeros(len(gradient), dtype=np.bool_)
    change = np.abs(gradient @ silent).max(axis=1)
    reach = np.abs(gradient) @ np.abs(silent).max(axis=1)
    return np.asarray(change > 1e-8 * np.maximum(reach, np.finfo(float).tiny))
