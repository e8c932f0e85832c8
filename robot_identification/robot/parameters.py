"""Names and places of the standard parameters of a robot.

Every joint has, in this order, the six entries of the inertia tensor at the origin of frame j and
the first moments and mass of link j, then its terms (:mod:`.terms`): drive inertia, viscous and
Coulomb friction and offset, and further ones where a joint of the robot has them.  The parameters
of couplings follow those of the last joint, then those of springs between links.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from robot_identification.robot.terms.joint_terms import JointTerm, SignCondition, term_named
from robot_identification.robot.terms.kinds import TermKind

INERTIAL = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
LINK_PARAMETERS = len(INERTIAL)
"""Number of inertial parameters of a link."""

UNITS = {
    **dict.fromkeys(("XX", "XY", "XZ", "YY", "YZ", "ZZ"), "kg m^2"),
    **dict.fromkeys(("MX", "MY", "MZ"), "kg m"),
    "M": "kg",
}

Value = TypeVar("Value", bound=np.generic)


@dataclass(frozen=True)
class AddedParameter:
    """A parameter of a robot that is none of a link, a joint term or a coupling.

    Attributes:
        name: the whole name.
        unit: SI unit.
        sign: condition of physical consistency.
        owner: what it belongs to, for people.
        label: what it is, for people.
        joints: indices of the joints whose links it acts on.
    """

    name: str
    unit: str
    sign: SignCondition
    owner: str
    label: str
    joints: tuple[int, ...]


@dataclass(frozen=True)
class Layout:
    """Places of a robot's standard parameters in a full vector, and their names.

    Attributes:
        joints: number of joints.
        terms: the terms that a joint of the robot has, in order.
        shared: names of the parameters of couplings; those that are no joint's are appended.
        added: names of further parameters, which follow those of couplings.
    """

    joints: int
    terms: tuple[JointTerm, ...]
    shared: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    @cached_property
    def per_joint(self) -> int:
        """Number of parameters of a joint, its link's included."""
        return LINK_PARAMETERS + len(self.terms)

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Names of the parameters of a joint, without its number."""
        return INERTIAL + tuple(term.name for term in self.terms)

    @cached_property
    def places(self) -> tuple[tuple[int, JointTerm], ...]:
        """Every term with its place among the parameters of a joint."""
        return tuple(enumerate(self.terms, LINK_PARAMETERS))

    @cached_property
    def couplings(self) -> tuple[str, ...]:
        """Names of the parameters that couplings add to those of the joints."""
        own = set(self._own)
        return tuple(dict.fromkeys(name for name in self.shared if name not in own))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of all parameters, one per column of the full regressor."""
        return self._own + self.couplings + self.added

    @cached_property
    def _own(self) -> tuple[str, ...]:
        return tuple(f"{kind}{j + 1}" for j in range(self.joints) for kind in self.kinds)

    def first(self, joint: int) -> int:
        """Return the place of the first parameter of a joint (counted from 0)."""
        return joint * self.per_joint

    def link(self, joint: int) -> slice:
        """Return the places of the inertial parameters of a link."""
        return slice(self.first(joint), self.first(joint) + LINK_PARAMETERS)

    def columns(self, joint: int, *kinds: TermKind) -> list[int]:
        """Return the places of the terms of a joint, of given kinds or of all."""
        first = self.first(joint)
        return [first + place for place, term in self.places if not kinds or term.kind in kinds]

    def term_of(self, column: int) -> JointTerm:
        """Return the term at a place of a full vector that is one of a joint term."""
        return self.terms[column % self.per_joint - LINK_PARAMETERS]

    def table(self, values: npt.NDArray[Value]) -> npt.NDArray[Value]:
        """Return (joints, per_joint) parameters of joints: a view into a full vector."""
        return values[: self.first(self.joints)].reshape(self.joints, self.per_joint)


def kind_of(name: str) -> str:
    """Return what a standard parameter is, such as ``Fv`` for ``Fv2`` and for ``Fvm6``."""
    return name.rstrip("0123456789").rstrip("m")


def unit(name: str, *, prismatic: bool) -> str:
    """Return the SI unit of a standard parameter such as ``Fv2``.

    Args:
        name: name of the parameter.
        prismatic: whether the joint that it belongs to translates.
    """
    kind = kind_of(name)
    if kind in UNITS:
        return UNITS[kind]
    term = term_named(kind)
    if term is None:
        return "N" if prismatic else "N m"
    return term.unit(prismatic=prismatic)
