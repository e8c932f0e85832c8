"""Inertia matrix and gravity from the inertia constants of composite bodies alone (Lin 1992)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.identification.one_joint.chain import SerialChain
from robot_identification.identification.one_joint.constants import InertiaConstants, shifted
from robot_identification.robot.arrays import Array, by_value, read_only


@by_value
@dataclass(frozen=True)
class VaryingParts:
    """What of the composite bodies changes with the posture.

    Attributes:
        moment: (..., joints, 3) l, in kg m.
        tensor: (..., joints, 3, 3) V, in kg m^2.
    """

    moment: Array
    tensor: Array

    def __post_init__(self) -> None:
        for name, values in vars(self).copy().items():
            object.__setattr__(self, name, read_only(values))


def varying_parts(
    chain: SerialChain, constants: InertiaConstants, position: npt.ArrayLike
) -> VaryingParts:
    """Return l and V of all composite bodies (Lin 1992, Algorithm 1; eq. 15, 17, 19, 21, 23, 25).

    Args:
        chain: the robot.
        constants: of its composite bodies; leading axes are free.
        position: (joints,) positions in rad or m.

    Raises:
        ShapeError: the number of positions is not that of the joints.
    """
    steps = _steps(chain, position)
    moment, tensor = np.zeros(constants.k.shape), np.zeros(constants.U.shape)
    for i in range(chain.joints - 2, -1, -1):
        j = i + 1
        before = moment[..., j, :], tensor[..., j, :, :]
        carry = _after_translation if chain.prismatic[j] else _after_rotation
        moment[..., i, :], tensor[..., i, :, :] = carry(chain, constants, j, steps[j], *before)
    return VaryingParts(moment, tensor)


def _steps(chain: SerialChain, position: npt.ArrayLike) -> list[tuple[Array, float]]:
    """Return, per joint, the orientation of its frame in the one before, and its position."""
    q = np.asarray(position, dtype=np.float64)
    orientation, _ = chain.frames(q)
    before = [np.eye(3), *orientation[:-1]]
    return [(a.T @ b, float(x)) for a, b, x in zip(before, orientation, q, strict=True)]


def _after_rotation(
    chain: SerialChain,
    constants: InertiaConstants,
    j: int,
    step: tuple[Array, float],
    moment: Array,
    tensor: Array,
) -> tuple[Array, Array]:
    """Return l and V of body j - 1, where joint j rotates (eq. 19, 21)."""
    rotation, _ = step
    k, U = constants.k[..., j, :], constants.U[..., j, :, :]
    carried = (moment + k * [1.0, 1.0, 0.0]) @ rotation.T
    seen = U * [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    seen[..., 0, 0] = U[..., 0, 0] - U[..., 1, 1]
    turned = rotation @ (tensor + seen) @ rotation.T
    return carried, turned + shifted(chain.translation[j], carried)


def _after_translation(
    chain: SerialChain,
    constants: InertiaConstants,
    j: int,
    step: tuple[Array, float],
    moment: Array,
    tensor: Array,
) -> tuple[Array, Array]:
    """Return l and V of body j - 1, where joint j translates (eq. 23, 25)."""
    rotation, position = step
    mass = constants.m[..., j, None]
    d = np.array([0.0, 0.0, chain.along(j) + position])
    b = rotation.T @ chain.across(j)
    whole = constants.k[..., j, :] + moment
    inner = tensor + mass[..., None] * (shifted(d, d) / 2.0 + shifted(d, b))
    inner = inner + shifted(d, whole) + shifted(b, moment)
    return (moment + mass * d) @ rotation.T, rotation @ inner @ rotation.T


def inertia_matrix(
    chain: SerialChain, constants: InertiaConstants, position: npt.ArrayLike
) -> Array:
    """Return the (joints, joints) inertia matrix, drive inertias left out (Lin 1992, eq. 9, 10).

    Args:
        chain: the robot.
        constants: of its composite bodies, without leading axes.
        position: (joints,) positions in rad or m.

    Raises:
        ShapeError: the number of positions is not that of the joints.
    """
    moment, tensor = _whole(chain, constants, position)
    orientation, origin = chain.frames(position)
    matrix = np.zeros((chain.joints, chain.joints))
    for i in range(chain.joints):
        for m in range(i + 1):
            u = orientation[i].T @ orientation[m][:, 2]
            s = orientation[i].T @ (origin[i] - origin[m])
            # A unit acceleration of joint m turns body i by `turn` and moves its origin by `lift`.
            turn, lift = (np.zeros(3), u) if chain.prismatic[m] else (u, np.cross(u, s))
            if chain.prismatic[i]:
                c = moment[i]
                entry = constants.m[i] * lift[2] - (turn[1] * c[0] - turn[0] * c[1])
            else:
                entry = turn @ tensor[i][2] + lift[1] * moment[i][0] - lift[0] * moment[i][1]
            matrix[m, i] = matrix[i, m] = entry
    return read_only(matrix)


def gravity_efforts(
    chain: SerialChain, constants: InertiaConstants, position: npt.ArrayLike
) -> Array:
    """Return the (joints,) efforts that carry the robot, in N m or N (Lin 1992, eq. 11).

    Args:
        chain: the robot.
        constants: of its composite bodies, without leading axes.
        position: (joints,) positions in rad or m.

    Raises:
        ShapeError: the number of positions is not that of the joints.
    """
    moment, _ = _whole(chain, constants, position)
    orientation, _ = chain.frames(position)
    g = np.einsum("jab,a->jb", orientation, chain.gravity)
    turning = moment[:, 1] * g[:, 0] - moment[:, 0] * g[:, 1]
    return read_only(np.where(chain.prismatic, -constants.m * g[:, 2], turning))


def _whole(
    chain: SerialChain, constants: InertiaConstants, position: npt.ArrayLike
) -> tuple[Array, Array]:
    """Return first moments and inertia tensors of the composite bodies (eq. 12, 13)."""
    varying = varying_parts(chain, constants, position)
    return constants.k + varying.moment, constants.U + varying.tensor
