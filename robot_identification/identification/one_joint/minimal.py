"""The minimal set of inertia constants (Lin 1992, Theorem 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.errors import SettingError, ShapeError
from robot_identification.identification.one_joint.chain import SerialChain, parallel
from robot_identification.identification.one_joint.constants import InertiaConstants
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.parameters import LINK_PARAMETERS

_PLACES = {
    "U11": 0, "U12": 1, "U13": 2, "U22": 3, "U23": 4, "U33": 5, "kx": 6, "ky": 7, "kz": 8, "m": 9,
}  # fmt: skip
_Terms = dict[str, float]


@by_value
@dataclass(frozen=True)
class Constant:
    """One inertia constant of the minimal set.

    Attributes:
        name: such as ``U33_2``: the number is that of the composite body, counted from 1.
        joint: index of the joint that the composite body begins at, counted from 0.
        item: item of Theorem 2 that it belongs to, 1 to 5.
        row: (10 joints,) coefficients of the constants, in the order of
            :meth:`~robot_identification.identification.one_joint.constants.InertiaConstants.vector`.
    """

    name: str
    joint: int
    item: int
    row: Array


@dataclass(frozen=True)
class MinimalSet:
    """The inertia constants that fix inertia matrix and gravity of a serial robot.

    Attributes:
        chain: the robot.
        first: r, index of the first rotational joint, counted from 0; the number of joints where
            there is none.
        turned: s, index of the first rotational joint behind it that is not parallel to it; the
            number of joints where there is none.
        constants: the set, from the first body to the last.
    """

    chain: SerialChain
    first: int
    turned: int
    constants: tuple[Constant, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the constants."""
        return tuple(constant.name for constant in self.constants)

    @property
    def matrix(self) -> Array:
        """(constants, 10 joints) matrix that takes all inertia constants to those of the set."""
        rows = [constant.row for constant in self.constants]
        return read_only(np.array(rows).reshape(len(rows), LINK_PARAMETERS * self.chain.joints))

    def values(self, constants: InertiaConstants) -> Array:
        """Return (..., constants) the values of the set."""
        return read_only(constants.vector() @ self.matrix.T)

    def lifted(self, values: npt.ArrayLike) -> InertiaConstants:
        """Return inertia constants that have given values of the set; what is free is zero.

        Of a difference such as U11 - U22 half goes to each side, since only the difference counts.

        Args:
            values: (..., constants).

        Raises:
            ShapeError: the number of values differs.
        """
        given = np.asarray(values, dtype=np.float64)
        if given.shape[-1:] != (len(self.constants),):
            raise ShapeError("values", given.shape, f"(..., {len(self.constants)})")
        return InertiaConstants.from_vector(given @ np.linalg.pinv(self.matrix).T)


def minimal_set(chain: SerialChain) -> MinimalSet:
    """Return the minimal set of a serial robot under gravity (Lin 1992, Theorem 2).

    Raises:
        SettingError: the robot has no gravity.  Then moments of the joints whose axes meet those
            before can be without effect, and the theorem counts too many.
    """
    if not np.any(chain.gravity):
        raise SettingError(
            "gravity", "zero", "Theorem 2 counts constants under gravity; take base parameters"
        )
    return theorem_2(chain)


def theorem_2(chain: SerialChain) -> MinimalSet:
    """Return the set of Theorem 2, which is minimal under gravity only."""
    orientation, origin = chain.frames(np.zeros(chain.joints))
    axes = orientation[:, :, 2]
    turning = np.flatnonzero(~chain.prismatic)
    first = int(turning[0]) if turning.size else chain.joints
    turned = next((int(j) for j in turning if not parallel(axes[j], axes[first])), chain.joints)
    found: list[Constant] = []
    for j in range(chain.joints):
        for name, item, terms in _of_body(chain, j, first, turned, orientation, origin):
            row = np.zeros(LINK_PARAMETERS * chain.joints)
            for key, coefficient in terms.items():
                row[LINK_PARAMETERS * j + _PLACES[key]] = coefficient
            found.append(Constant(f"{name}_{j + 1}", j, item, read_only(row)))
    return MinimalSet(chain, first, turned, tuple(found))


def _of_body(
    chain: SerialChain, j: int, first: int, turned: int, orientation: Array, origin: Array
) -> list[tuple[str, int, _Terms]]:
    """Return name, item and terms of the constants of one composite body."""
    if chain.prismatic[j]:
        mass: list[tuple[str, int, _Terms]] = [("m", 3, {"m": 1.0})]
        if j > turned:
            return mass + [(name, 4, {name: 1.0}) for name in ("kx", "ky", "kz")]
        if first < j and not parallel(orientation[j][:, 2], orientation[first][:, 2]):
            return mass + _combinations(orientation[j].T @ orientation[first][:, 2])
        return mass
    if j >= turned:
        difference: _Terms = {"U11": 1.0, "U22": -1.0}
        own: list[tuple[str, int, _Terms]] = [("U11-U22", 2, difference)]
        return own + [(name, 2, {name: 1.0}) for name in ("U12", "U13", "U23", "U33", "kx", "ky")]
    names = ["U33"]
    if _has_moments(chain, j, first, orientation, origin):
        names += ["kx", "ky"]
    return [(name, 1, {name: 1.0}) for name in names]


def _combinations(u: Array) -> list[tuple[str, int, _Terms]]:
    """Return the two combinations of k that joint r sees through a translational joint (item 5).

    ``kt`` is the component of u x k, ``kn`` that of k without its part along u, on the axis of the
    translational joint; u is the axis of joint r in its frame (eq. 40, 43).
    """
    tangential: _Terms = {"kx": -u[1], "ky": u[0]}
    normal: _Terms = {"kx": -u[2] * u[0], "ky": -u[2] * u[1], "kz": 1.0 - u[2] ** 2}
    return [("kt", 5, tangential), ("kn", 5, normal)]


def _has_moments(chain: SerialChain, j: int, first: int, orientation: Array, origin: Array) -> bool:
    """Return delta_j: whether the first moments across the axis of joint j have an effect."""
    axis = orientation[first][:, 2]
    if not parallel(axis, chain.gravity / (np.linalg.norm(chain.gravity) or 1.0)):
        return True
    if not all(parallel(orientation[k][:, 2], axis) for k in range(j)):
        return True
    turning = [m for m in range(first, j) if not chain.prismatic[m]]
    return not all(parallel(origin[j] - origin[m], axis) for m in turning)
