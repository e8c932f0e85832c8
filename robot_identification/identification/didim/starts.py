"""First parameters of DIDIM: regular ones that need no knowledge at all, or known ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from robot_identification.errors import RankError
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.didim.loop import Inertias, inertias
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.joint import Joint, JointType
from robot_identification.robot.terms.kinds import TermKind

REGULAR = "regular"
IDIM = "idim"
PRIOR = "prior"
"""Name of the parameters that are known before."""

_SMALLEST_RATIO = 1e-6


@by_value
@dataclass(frozen=True)
class Start:
    """First parameters.

    Attributes:
        name: what they are, for reports.
        values: (base,) base parameters.
        is_estimate: whether they are meant to be the robot's; regular ones are not.
    """

    name: str
    values: Array
    is_estimate: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", read_only(self.values))


def full_vector(base: BaseParameters, values: Array) -> Array:
    """Return the full parameter vector that holds base parameters, and zeros elsewhere."""
    full = np.zeros(len(base.robot.all_parameter_names))
    full[base.base_columns] = values
    return full


def regular(base: BaseParameters, positions: Array) -> tuple[Start, Inertias]:
    """Return the regular start (Gautier et al. 2013, eq. 61-63), and its inertias.

    All parameters are 0 but one inertia of every joint: its drive inertia (eq. 61), or the inertia
    of its link about the joint (eq. 63; the mass for a prismatic joint).  Where drives are coupled
    or a joint has no drive inertia of its own, unit drive inertias may leave the mass matrix
    singular; of the possible choices the one with the best conditioned mass matrix is taken.

    Args:
        base: base parameters of the robot.
        positions: (positions, joints) where the mass matrix must be regular.

    Raises:
        RankError: if no choice makes the mass matrix regular.
    """
    best: tuple[float, Start, Inertias] | None = None
    for name, standard in _candidates(base):
        values = base.values(standard)
        found = inertias(base.robot, full_vector(base, values), positions)
        ratio = found.smallest_eigenvalue / max(found.largest_eigenvalue, np.finfo(float).tiny)
        if best is None or ratio > best[0] * (1.0 + 1e-9):
            best = (ratio, Start(f"regular, {name}", values, is_estimate=False), found)
    if best is None or best[0] < _SMALLEST_RATIO:
        raise RankError(
            f"{base.robot.name}: no regular start makes the mass matrix regular; "
            "give parameters to start from",
            [] if best is None else [best[2].largest_eigenvalue, best[2].smallest_eigenvalue],
        )
    return best[1], best[2]


def _candidates(base: BaseParameters) -> Iterator[tuple[str, Array]]:
    """Yield the name and the (standard,) parameters of every choice."""
    robot = base.robot
    drives = [joint.has(TermKind.INERTIA) for joint in robot.joints]
    if any(drives):
        name = "Ia = 1" if all(drives) else "Ia = 1, or ZZ = 1 for joints without drive inertia"
        yield name, _unit(base, drives)
    zz = "ZZ = 1"
    if any(joint.type is JointType.PRISMATIC for joint in robot.joints):
        zz = "ZZ = 1, or M = 1 for prismatic joints"
    yield zz, _unit(base, [False] * len(drives))


def _unit(base: BaseParameters, drives: list[bool]) -> Array:
    place = {name: i for i, name in enumerate(base.standard_names)}
    standard = np.zeros(len(place))
    for number, (joint, driven) in enumerate(zip(base.robot.joints, drives, strict=True), 1):
        standard[place[f"{_inertia(joint, driven=driven)}{number}"]] = 1.0
    return standard


def _inertia(joint: Joint, *, driven: bool) -> str:
    """Return the parameter that is the inertia of the drive, or of the link about its joint."""
    if driven:
        return next(term.name for term in joint.joint_terms if term.kind is TermKind.INERTIA)
    return "M" if joint.type is JointType.PRISMATIC else "ZZ"
