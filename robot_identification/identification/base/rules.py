"""Symbolic grouping rules for serial and tree robots with joints placed in any way.

The energy of a combination of the parameters of link j may not depend on its own joint at all;
the combination then belongs to the link that carries the joint, transported there rigidly.  For
a revolute joint these are XX + YY, MZ and M, for a prismatic joint the whole inertia tensor
(Gautier and Khalil 1990; Khalil and Bennis 1995).  Links that can turn about one
direction only have more such combinations.  Every rule is an identity of energies, so it holds
for the dynamic, the simplified and the energy model and for closed loops cut open; that no
relation is left over is for the numerical method to confirm.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from robot_identification.identification.base.link_motions import (
    PARALLEL,
    LinkMotion,
    Turning,
    link_motions,
)
from robot_identification.robot.geometry import snapped
from robot_identification.robot.joint import JointType
from robot_identification.robot.model import RobotModel
from robot_identification.robot.parameters import INERTIAL

# Numbers are float arrays; symbols are object arrays of polynomials.
Values = Any

_TENSOR = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def transported(
    tensor: Values, first_moments: Values, mass: Values, rotation: Values, origin: Values
) -> list[Values]:
    """Return the ten inertial parameters of a body in the frame that carries its own.

    Args:
        tensor: (3, 3) inertia tensor at the origin of the body's frame and in it.
        first_moments: (3,) mass times centre of mass.
        mass: mass.
        rotation: (3, 3) orientation of the body's frame in the other frame.
        origin: (3,) origin of the body's frame in the other frame.

    Returns:
        XX XY XZ YY YZ ZZ MX MY MZ M in the other frame.
    """
    turned = rotation @ tensor @ rotation.T
    moments = rotation @ first_moments
    square = 2 * (origin @ moments) + mass * (origin @ origin)
    result = []
    for i, k in _TENSOR:
        moved = turned[i, k] - origin[i] * moments[k] - moments[i] * origin[k]
        moved = moved - mass * (origin[i] * origin[k])
        result.append(moved + square if i == k else moved)
    return [*result, *(moments + mass * origin), mass]


def unit_body(*entries: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], float]:
    """Return tensor, first moments and mass of a body with the given parameters equal to 1.

    Args:
        entries: places among XX XY XZ YY YZ ZZ MX MY MZ M.
    """
    tensor, moments, mass = np.zeros((3, 3)), np.zeros(3), 0.0
    for entry in entries:
        if entry < len(_TENSOR):
            i, k = _TENSOR[entry]
            tensor[i, k] = tensor[k, i] = 1.0
        elif entry < 9:
            moments[entry - 6] = 1.0
        else:
            mass = 1.0
    return tensor, moments, mass


def carried(entries: Sequence[int], rotation: Values, origin: Values) -> list[Values]:
    """Return :func:`transported` of :func:`unit_body`."""
    return transported(*unit_body(*entries), rotation, origin)


XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M = range(len(INERTIAL))
# Of lengths that go through several rotations and products before they cancel.
_ROUNDING = 64.0 * float(np.finfo(np.float64).eps)
Rows = dict[int, dict[int, Values]]


def without_rounding(values: list[Values]) -> list[Values]:
    """Return numbers with those set to zero that are rounding next to the largest of them."""
    if not all(isinstance(value, float) for value in values):
        return values
    limit = _ROUNDING * max(abs(value) for value in values)
    return [0.0 if abs(value) <= limit else value for value in values]


def sum_without_rounding(a: Values, b: Values) -> Values:
    """Return a sum, zero where nothing but rounding of numbers is left."""
    total = a + b
    if isinstance(total, float) and abs(total) <= _ROUNDING * max(abs(a), abs(b)):
        return 0.0
    return total


class Grouping:
    """Combinations of standard parameters that are left after the rules were applied.

    Args:
        robot: the robot; its closed loops are cut open.
        rotations: (3, 3) constant orientation of every frame in its antecedent's: numbers by
            default, or symbols.  The part about a revolute joint's own axis does not matter.
        translations: (3,) origin of every frame in its antecedent's, likewise.

    Attributes:
        rows: column of the full regressor -> {column: coefficient}: what a parameter has become;
            empty for a parameter that was grouped into others or has no effect.
    """

    def __init__(
        self,
        robot: RobotModel,
        rotations: Sequence[Values] | None = None,
        translations: Sequence[Values] | None = None,
    ) -> None:
        self.robot = robot
        self.rows: Rows = {int(i): {int(i): 1.0} for i in robot.standard_indices}
        self._rotations = rotations or [snapped(joint.rotation) for joint in robot.joints]
        self._translations = translations or [joint.translation for joint in robot.joints]
        self._motions = link_motions(robot)
        self._coupled = {coupling.parameter for coupling in robot.couplings}
        for j in reversed(range(len(robot.joints))):
            if robot.joints[j].type is JointType.REVOLUTE:
                self._group_revolute(j, self._motions[j])
            else:
                self._group_prismatic(j, self._motions[j])

    def _group_revolute(self, j: int, motion: LinkMotion) -> None:
        self._carry(j, [XX, YY], YY, {XX: -1.0})
        self._carry(j, [MZ], MZ)
        self._carry(j, [M], M)
        if motion.turning is Turning.SINGLE:
            self._drop(j, [XX, XY, XZ, YZ])
            if motion.still:
                self._drop(j, [MX, MY])
        if self._turns_alone(j):
            self._group_alike(j)

    def _group_prismatic(self, j: int, motion: LinkMotion) -> None:
        if motion.turning is Turning.NONE:
            self._drop(j, range(M))
            if self._slides_alone(j):
                self._group_alike(j)
            return
        for entry in range(ZZ + 1):
            self._carry(j, [entry], entry)
        if motion.along:
            self._drop(j, [MZ])
            for entry in (MX, MY):
                self._carry(j, [entry], entry)
        elif motion.turning is Turning.SINGLE:
            last = int(np.flatnonzero(motion.axis)[-1])
            self._move(
                self._column(j, MX + last),
                {self._column(j, MX + i): -motion.axis[i] / motion.axis[last] for i in range(last)},
            )

    def _turns_alone(self, j: int) -> bool:
        """Return whether link j turns about its own axis by its own joint only."""
        antecedent = self.robot.joints[j].antecedent
        if antecedent < 0 or self._motions[antecedent].turning is Turning.NONE:
            return True
        before = self._motions[antecedent]
        direction = snapped(self.robot.joints[j].rotation).T @ before.axis
        return before.turning is Turning.SINGLE and abs(direction[2]) <= PARALLEL

    def _slides_alone(self, j: int) -> bool:
        """Return whether only joint j moves link j, and across gravity."""
        joint, gravity = self.robot.joints[j], self.robot.gravity
        across = abs(joint.rotation[:, 2] @ gravity) <= PARALLEL * np.linalg.norm(gravity)
        return joint.antecedent < 0 and bool(across)

    def _group_alike(self, j: int) -> None:
        """Group joint terms with the inertial parameter that acts as they do."""
        prismatic = self.robot.joints[j].type is JointType.PRISMATIC
        for place, term in self.robot.layout.places:
            column = self._column(j, place)
            if term.like and self.robot.all_parameter_names[column] not in self._coupled:
                entry = INERTIAL.index(term.like[int(prismatic)])
                self._move(column, {self._column(j, entry): 1.0})

    def _carry(
        self,
        j: int,
        entries: Sequence[int],
        eliminated: int,
        own: Mapping[int, float] | None = None,
    ) -> None:
        """Eliminate an entry of link j: entries of 1 each are carried over to the antecedent."""
        targets: dict[int, Values] = {self._column(j, i): c for i, c in (own or {}).items()}
        antecedent = self.robot.joints[j].antecedent
        if antecedent >= 0:
            parts = without_rounding(carried(entries, self._rotations[j], self._translations[j]))
            targets |= {self._column(antecedent, i): part for i, part in enumerate(parts)}
        self._move(self._column(j, eliminated), targets)

    def _move(self, column: int, targets: Mapping[int, Values]) -> None:
        """Add multiples of a row to others and empty it."""
        moved = self.rows.get(column)
        if not moved:
            return
        for target, factor in targets.items():
            if not factor:
                continue
            row = self.rows[target]
            for parameter, coefficient in moved.items():
                before, added = row.get(parameter, 0.0), factor * coefficient
                row[parameter] = sum_without_rounding(before, added)
        self.rows[column] = {}

    def _drop(self, j: int, entries: Iterable[int]) -> None:
        for entry in entries:
            self.rows[self._column(j, entry)] = {}

    def _column(self, j: int, entry: int) -> int:
        return self.robot.layout.first(j) + entry
