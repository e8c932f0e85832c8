"""Typical sizes of the parameters of a robot, by which conditions and their matrices are scaled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_identification.calibration.consistency.conditions import APART, CENTRE, LINK, Condition
from robot_identification.calibration.prior import Prior
from robot_identification.identification.regrouping import Regrouping
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.joint import JointType
from robot_identification.robot.model import RobotModel
from robot_identification.robot.parameters import INERTIAL, kind_of
from robot_identification.robot.terms.kinds import TermKind

_SHORTEST = 0.01  # m: no link is thought of as smaller
_SMALLEST = 1e-3  # of the largest of its kind: floor of a scale
_LEAST_OF_TORQUE = 1e-2  # of the mass that explains the torque: floor of a mass
_POWERS = dict(zip(INERTIAL, (2, 2, 2, 2, 2, 2, 1, 1, 1, 0), strict=True))
"""Of the length, in the unit of each inertial parameter."""


@by_value
@dataclass(frozen=True)
class Scales:
    """Typical sizes.

    Attributes:
        mass: (joints,) of each link, in kg.
        length: (joints,) radius of gyration of each link about the origin of its frame, in m.
        parameters: (parameters,) of each parameter of the full regressor, in its unit.
        nominal: (parameters,) a plausible machine: for each link a ball of that mass and radius of
            gyration at the origin; drives and friction 0.
    """

    mass: Array
    length: Array
    parameters: Array
    nominal: Array

    def of(self, condition: Condition) -> Array:
        """Return the (size,) scales d of a condition: its matrix is of the size of d d^T."""
        if condition.kind in (LINK, APART, CENTRE):
            (joint,) = condition.joints
            mass, length = self.mass[joint], self.length[joint]
            if condition.kind in (LINK, APART):
                return np.asarray(np.sqrt(mass) * np.array([length, length, length, 1.0]))
            return np.full(6, np.sqrt(mass * length))
        diagonal = [np.abs(condition.basis[i, i]) * self.parameters for i in range(condition.size)]
        return np.sqrt([float(row.max()) for row in diagonal])


def scales(robot: RobotModel, prior: Prior, regrouping: Regrouping, estimate: Array) -> Scales:
    """Return typical sizes, from the prior where it tells them, else from the estimate.

    Args:
        robot: the robot.
        prior: what is known of its parameters.
        regrouping: what the base parameters stand for.
        estimate: (base,) their estimate.
    """
    names = robot.all_parameter_names
    values = dict.fromkeys(names, 0.0)
    values.update(zip(prior.names, prior.values, strict=True))
    reach = _typical_length(robot)
    spread = dict.fromkeys(names, 0.0) | _spread(regrouping, estimate, reach)
    mass, length = _bodies(robot, values, spread, reach)
    sizes = np.zeros(len(names))
    nominal = np.zeros(len(names))
    for j, joint in enumerate(robot.joints):
        link = robot.layout.link(j)
        second = mass[j] * length[j] ** 2
        sizes[link] = [second] * 6 + [mass[j] * length[j]] * 3 + [mass[j]]
        nominal[link] = second * np.array([2, 0, 0, 2, 0, 2, 0, 0, 0, 0]) / 3.0
        nominal[link.start + INERTIAL.index("M")] = mass[j]
        rotor = mass[j] if joint.type is JointType.PRISMATIC else second
        sizes[list(robot.layout.columns(j, TermKind.INERTIA))] = rotor
    _terms(robot, values, spread, sizes)
    return Scales(read_only(mass), read_only(length), read_only(sizes), read_only(nominal))


def _spread(regrouping: Regrouping, estimate: Array, reach: float) -> dict[str, float]:
    """Return sizes of all parameters that explain the base parameters with small bodies."""
    kinds = [kind_of(name) for name in regrouping.standard_names]
    units = np.array([reach ** _POWERS.get(kind, 0) for kind in kinds])
    values = units * (np.linalg.pinv(regrouping.projection * units) @ estimate)
    return dict(zip(regrouping.standard_names, np.abs(values).tolist(), strict=True))


def _typical_length(robot: RobotModel) -> float:
    lengths = [float(np.linalg.norm(joint.translation)) for joint in robot.joints]
    mean = sum(lengths) / len(lengths)
    return max(mean, 10.0 * _SHORTEST)


def _bodies(
    robot: RobotModel, values: dict[str, float], spread: dict[str, float], reach: float
) -> tuple[Array, Array]:
    """Return masses and lengths of the links.

    The prior's count where they are positive; but a prior may be anything, so that no mass is
    taken for much smaller than what the torque and the other links say.
    """
    count = len(robot.joints)
    given = np.array([values[f"M{j + 1}"] for j in range(count)])
    torque = np.array([_mass_of_torque(spread, j + 1, reach) for j in range(count)])
    positive = given[given > 0.0]
    guess = np.full(count, np.median(positive)) if positive.size else torque
    mass = np.maximum(np.where(given > 0.0, given, guess), _LEAST_OF_TORQUE * torque)
    mass = np.maximum(mass, _SMALLEST * mass.max() if mass.max() > 0.0 else 1.0)
    length = np.full(count, reach)
    for j in range(count):
        trace = sum(values[f"{name}{j + 1}"] for name in ("XX", "YY", "ZZ"))
        if given[j] > 0.0 and trace > 0.0:
            length[j] = np.clip(np.sqrt(trace / 2.0 / mass[j]), 0.1 * reach, 10.0 * reach)
    return mass, length


def _mass_of_torque(spread: dict[str, float], number: int, reach: float) -> float:
    return max(spread[f"{kind}{number}"] / reach**power for kind, power in _POWERS.items())


def _terms(
    robot: RobotModel, values: dict[str, float], spread: dict[str, float], sizes: Array
) -> None:
    """Fill in the scales of drives, friction, offsets and couplings.

    Drives of which neither prior nor estimate tells anything keep the size of a rotor.
    """
    groups: dict[str, list[int]] = {}
    inertias = {term.name for term in robot.layout.terms if term.kind is TermKind.INERTIA}
    for i, name in enumerate(robot.all_parameter_names):
        kind = kind_of(name)
        if sizes[i] == 0.0 or kind in inertias:
            groups.setdefault(kind, []).append(i)
            seen = max(abs(values[name]), spread[name])
            sizes[i] = seen or sizes[i]
    for members in groups.values():
        top = sizes[members].max()
        sizes[members] = np.maximum(sizes[members], _SMALLEST * top if top else 1.0)
