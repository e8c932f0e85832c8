"""Inertia constants of composite bodies: what of links i to n does not change with the posture.

The first moment and the inertia tensor of the composite body i (links i to n as if they were one
body) about the origin of frame i, and in it, are sums of a constant and a varying part (Lin 1992,
Lemma 1, eq. 12-28):

    ch_i = k_i + l_i,    Jh_i = U_i + V_i.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.errors import ShapeError
from robot_identification.identification.one_joint.chain import SerialChain
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.parameters import LINK_PARAMETERS

_TENSOR = np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])
_UPPER = np.triu_indices(3)


@by_value
@dataclass(frozen=True)
class InertiaConstants:
    """Inertia constants of all composite bodies; leading axes are free.

    Attributes:
        m: (..., joints) masses, in kg.
        k: (..., joints, 3) constant parts of the first moments, in kg m.
        U: (..., joints, 3, 3) constant parts of the inertia tensors, in kg m^2.
    """

    m: Array
    k: Array
    U: Array

    def __post_init__(self) -> None:
        for name, values in vars(self).copy().items():
            object.__setattr__(self, name, read_only(values))

    @classmethod
    def from_vector(cls, vector: npt.ArrayLike) -> InertiaConstants:
        """Return the constants of a vector (..., 10 joints); see :meth:`vector`.

        Raises:
            ShapeError: the length is not a multiple of ten.
        """
        bodies = _bodies("constants", vector)
        return cls(bodies[..., 9], bodies[..., 6:9], bodies[..., _TENSOR])

    def vector(self) -> Array:
        """Return (..., 10 joints): per body U11 U12 U13 U22 U23 U33 kx ky kz m."""
        upper = self.U[..., _UPPER[0], _UPPER[1]]
        bodies = np.concatenate([upper, self.k, self.m[..., None]], axis=-1)
        return read_only(bodies.reshape(*bodies.shape[:-2], -1))


def inertia_constants(chain: SerialChain, inertial: npt.ArrayLike) -> InertiaConstants:
    """Return the inertia constants of given links (Lin 1992, eq. 14-18, 20, 22, 24).

    Args:
        chain: the robot.
        inertial: (..., 10 joints) inertial parameters of the links, per link XX XY XZ YY YZ ZZ MX
            MY MZ M at the origin of its frame and in it.

    Raises:
        ShapeError: the number of parameters is not ten per joint.
    """
    links = _bodies("inertial", inertial)
    if links.shape[-2] != chain.joints:
        raise ShapeError("inertial", np.shape(inertial), f"(..., {LINK_PARAMETERS * chain.joints})")
    m, k, U = links[..., 9].copy(), links[..., 6:9].copy(), links[..., _TENSOR].copy()
    for i in range(chain.joints - 2, -1, -1):
        rotation, mass, moment, tensor = (
            chain.rotation[i + 1], m[..., i + 1], k[..., i + 1, :], U[..., i + 1, :, :],
        )  # fmt: skip
        m[..., i] += mass
        if chain.prismatic[i + 1]:
            offset = chain.across(i + 1)
            carried, turned = moment @ rotation.T, rotation @ tensor @ rotation.T
        else:
            offset, axis = chain.translation[i + 1], rotation[:, 2]
            carried = moment[..., 2, None] * axis
            turned = tensor[..., 1, 1, None, None] * np.eye(3)
            turned += (tensor[..., 2, 2] - tensor[..., 1, 1])[..., None, None] * np.outer(
                axis, axis
            )
        k[..., i, :] += mass[..., None] * offset + carried
        U[..., i, :, :] += turned + shifted(offset, carried)
        U[..., i, :, :] += mass[..., None, None] * shifted(offset, offset) / 2.0
    return InertiaConstants(m, k, U)


def constants_matrix(chain: SerialChain) -> Array:
    """Return the (10 joints, 10 joints) matrix that takes inertial parameters to constants.

    Rows are in the order of :meth:`InertiaConstants.vector`.
    """
    units = np.eye(LINK_PARAMETERS * chain.joints)
    return read_only(inertia_constants(chain, units).vector().T)


def shifted(a: Array, b: Array) -> Array:
    """Return -S(a) S(b) - S(b) S(a) (..., 3, 3), where S(a) b = a x b."""
    dot = np.sum(a * b, axis=-1)[..., None, None]
    outer = a[..., :, None] * b[..., None, :]
    result: Array = 2.0 * dot * np.eye(3) - outer - np.swapaxes(outer, -1, -2)
    return result


def _bodies(name: str, vector: npt.ArrayLike) -> Array:
    """Return a vector as (..., joints, 10)."""
    values = np.asarray(vector, dtype=np.float64)
    if values.ndim < 1 or values.shape[-1] % LINK_PARAMETERS:
        raise ShapeError(name, values.shape, f"(..., {LINK_PARAMETERS} joints)")
    return values.reshape(*values.shape[:-1], -1, LINK_PARAMETERS)
