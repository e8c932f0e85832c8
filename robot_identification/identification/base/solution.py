"""Grouping rules first, factorisation on what is left, and the agreement of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

import numpy as np

from robot_identification.errors import RankError
from robot_identification.identification.base.factorisation import (
    AGREEMENT,
    Choice,
    Factorisation,
    factorise,
)
from robot_identification.identification.base.observation import Observation
from robot_identification.identification.base.polynomials import simple_fraction
from robot_identification.identification.base.rank import CLEAR_GAP, Decision, Indices
from robot_identification.identification.base.rules import Grouping
from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.geometry import geometric_parameters, placement
from robot_identification.robot.joint import GeometricParameters, Joint, JointType
from robot_identification.robot.model import RobotModel

_SUSPICIOUS = 1e-5
_LENGTHS = ("d", "r", "b")


def warnings(robot: RobotModel, factorisation: Factorisation) -> tuple[str, ...]:
    """Return one line for everything that makes the rank doubtful; nothing where it is clear."""
    decisions = (
        _line("column norm", factorisation.norms),
        _line("diagonal element", factorisation.diagonal),
        _line("singular value", factorisation.singular_values),
        _sensitivity(robot),
    )
    return tuple(line for line in decisions if line)


def suspicious_geometry(robot: RobotModel) -> str:
    """Return the lengths and angles of a robot that are nearly, but not quite, zero.

    Angles are compared with the nearest quarter turn, lengths with 1 m or the longest of the robot.
    """
    limit = _limit(robot)
    found = []
    for joint in robot.joints:
        geometry = geometric_parameters(joint)
        for name in (f.name for f in fields(geometry)):
            rest = _rest(name, getattr(geometry, name), limit)
            if rest and not (name == "theta" and joint.type is JointType.REVOLUTE):
                unit = "m" if name in _LENGTHS else "rad off a quarter turn"
                found.append(f"{name} of {joint.name} ({rest:.3g} {unit})")
    return ", ".join(found)


def _sensitivity(robot: RobotModel) -> str:
    """Return a line if nearly zero lengths or angles decide which parameters are left."""
    suspects = suspicious_geometry(robot)
    if not suspects:
        return ""
    given, rounded = _left(robot), _left(_rounded(robot))
    if given == rounded:
        return ""
    return (
        f"the rank is doubtful: it depends on {suspects}; taken as zero, the grouping rules would "
        f"leave {len(rounded)} parameters instead of {len(given)}"
    )


def _left(robot: RobotModel) -> set[int]:
    return {column for column, row in Grouping(robot).rows.items() if row}


def _rounded(robot: RobotModel) -> RobotModel:
    """Return the robot with its nearly zero lengths and angles at zero and quarter turns."""
    limit = _limit(robot)
    return replace(robot, joints=tuple(_rounded_joint(joint, limit) for joint in robot.joints))


def _rounded_joint(joint: Joint, limit: float) -> Joint:
    geometry = geometric_parameters(joint)
    values = {f.name: getattr(geometry, f.name) for f in fields(geometry)}
    values = {name: value - _rest(name, value, limit) for name, value in values.items()}
    rotation, translation = placement(GeometricParameters(**values))
    return replace(joint, geometry=None, rotation=rotation, translation=translation)


def _limit(robot: RobotModel) -> float:
    """Return the length in m below which lengths of this robot are suspicious."""
    lengths = [float(np.linalg.norm(joint.translation)) for joint in robot.joints]
    return _SUSPICIOUS * max(1.0, *lengths)


def _rest(name: str, value: float, limit: float) -> float:
    """Return how far a parameter is from zero or a quarter turn if that is little; 0 if not."""
    if name in _LENGTHS:
        return value if abs(value) < limit else 0.0
    rest = value - round(value / (np.pi / 2)) * (np.pi / 2)
    return rest if 1e-10 < abs(rest) < _SUSPICIOUS else 0.0


def _line(what: str, decision: Decision) -> str:
    if decision.gap < CLEAR_GAP:
        return (
            f"the rank is doubtful: the last accepted {what} is {decision.last_accepted:.3g}, the "
            f"first rejected {decision.first_rejected:.3g}, less than six decades apart"
        )
    if not decision.is_clear:
        return (
            f"the rank is doubtful: the last accepted {what} is {decision.last_accepted:.3g}, the "
            f"largest {decision.values[0]:.3g}"
        )
    return ""


_NOISE = 1e-9


@by_value
@dataclass(frozen=True)
class Solution:
    """Base parameters as combinations of standard parameters.

    Attributes:
        base: (rank,) places of the leading parameters among the standard ones.
        projection: (rank, standard) matrix that takes standard to base parameters.
        remainder: what the rules left over: (leading place, other place) -> coefficient with
            which the other's whole row was grouped into the leading one's.
    """

    base: Indices
    projection: Array
    remainder: Mapping[tuple[int, int], float]


def solve(observation: Observation, w: Array, full: Factorisation, method: str) -> Solution:
    """Return the base parameters of a model.

    Args:
        observation: the model.
        w: (rows, standard) observation matrix that ``full`` was made from.
        full: factorisation of the columns that the model contains.
        method: ``qr`` or ``svd``, for what the rules leave.

    Raises:
        RankError: the rules and the factorisation disagree.
    """
    table = grouping_table(observation)
    contained = np.flatnonzero(observation.contained)
    appended = np.flatnonzero(~observation.contained)
    left = np.flatnonzero(table.any(axis=1))
    left = np.setdiff1d(np.setdiff1d(left, appended), contained[full.zero])
    remainder: dict[tuple[int, int], float] = {}
    if len(left) > full.rank:
        left, remainder = _reduced(w, left, full, method)
    if len(left) != full.rank:
        raise _refused(f"the grouping rules leave {len(left)} parameters", full)
    projection = table.copy()
    for (leading, other), coefficient in remainder.items():
        projection[leading] += coefficient * table[other]
    _check(projection, left, contained, w, full)
    base = np.sort(np.concatenate([left, appended])).astype(np.intp)
    return Solution(base, _tidy(projection[base], 15), remainder)


def grouping_table(observation: Observation) -> Array:
    """Return the rows that the grouping rules leave as a (standard, standard) matrix."""
    place = {int(column): i for i, column in enumerate(observation.columns)}
    table = np.zeros((len(place), len(place)))
    for column, row in Grouping(observation.robot).rows.items():
        for parameter, coefficient in row.items():
            table[place[column], place[parameter]] = coefficient
    return table


def _reduced(
    w: Array, left: Indices, full: Factorisation, method: str
) -> tuple[Indices, dict[tuple[int, int], float]]:
    """Return the columns that stay independent among those left, and how the others group."""
    columns = w[:, left]
    sizes = np.linalg.norm(columns, axis=0)
    rest = factorise(columns)
    if rest.rank != full.rank:
        raise _refused(f"{rest.rank} parameters left by the grouping rules are independent", full)
    choice: Choice = rest.qr if method == "qr" else rest.svd
    remainder = {}
    for i, leading in enumerate(choice.independent):
        for k, other in enumerate(choice.dependent):
            value = float(choice.beta[i, k])
            if abs(value) * sizes[leading] > _NOISE * sizes[other]:
                clean = simple_fraction(value, _NOISE)
                clean = float(f"{value:.12g}") if clean is None else clean
                remainder[int(left[leading]), int(left[other])] = clean
    return left[choice.independent], remainder


def _check(
    projection: Array, base: Indices, contained: Indices, w: Array, full: Factorisation
) -> None:
    """Refuse base parameters that the factorisation of all columns does not confirm."""
    expected = contained[full.qr.independent]
    if not np.array_equal(base, expected):
        raise _refused("the grouping rules keep other parameters", full)
    dependent = contained[full.qr.dependent]
    sizes = np.linalg.norm(w, axis=0)
    difference = np.abs(projection[np.ix_(base, dependent)] - full.qr.beta)
    difference = difference * sizes[base, None] / sizes[dependent]
    if difference.max(initial=0.0) > AGREEMENT * max(1.0, _largest(full.qr.beta, sizes, base)):
        raise _refused(f"the grouping rules differ by {difference.max():.2g} in a relation", full)


def _largest(beta: Array, sizes: Array, base: Indices) -> float:
    """Return the size that rounding in a relation is to be compared with."""
    share = np.abs(beta) * sizes[base, None] / sizes.max(initial=1.0)
    return float(share.max(initial=0.0))


def _refused(problem: str, full: Factorisation) -> RankError:
    values = full.singular_values
    shown = " ".join(f"{value:.3g}" for value in values.values[max(full.rank - 3, 0) :][:6])
    return RankError(
        f"{problem}, the factorisation of the whole model gives rank {full.rank}; "
        f"singular values around the cut: {shown} (tolerance {values.tolerance:.3g})",
        values.values.tolist(),
    )


def _tidy(values: Array, digits: int) -> Array:
    """Return values without the rounding of their last digit: 0.29 for 0.29000000000000004."""
    result: Array = values.copy()
    for place in zip(*np.nonzero(values), strict=True):
        result[place] = float(f"{values[place]:.{digits}g}")
    return result
