"""Joint terms: drive inertia, friction and offset, one entry each, for everything that uses them.

The effort of a joint is that of rigid bodies plus its terms, each a parameter times a function of
the joint's rate v: dv/dt, sign(v) |v|^p, or 1 (M. Gautier et al., IEEE Trans. on Control Systems
Technology 21(2), 2013, eq. 1 and 2).  A coupling multiplies the same functions of a combination of
rates.  A new term is a new entry of :data:`TERMS`, and ``make schema`` after it; where its function
is new too, a new :class:`TermKind`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from robot_identification.robot.arrays import Array


class TermKind(Enum):
    """Factor of the parameter of a joint term or of a coupling, as a function of a rate v."""

    INERTIA = "inertia"
    VISCOUS = "viscous"
    COULOMB = "coulomb"
    OFFSET = "offset"

    @property
    def power(self) -> int | None:
        """The p of sign(v) |v|^p; None where the function is not one of the velocity."""
        return _POWERS.get(self)

    @property
    def formula(self) -> str:
        """The function, for people; empty for 1."""
        if self.power is None:
            return "dv/dt" if self is TermKind.INERTIA else ""
        return {0: "sign(v)", 1: "v"}.get(self.power, f"sign(v) |v|^{self.power}")

    @property
    def stores_energy(self) -> bool:
        """Whether the energy model holds the parameter: times v^2 / 2."""
        return self is TermKind.INERTIA

    def of(self, velocity: Array, acceleration: Array | None = None) -> Array:
        """Return the function at velocities, and at accelerations where it depends on these."""
        if self is TermKind.INERTIA:
            return np.zeros_like(velocity) if acceleration is None else acceleration
        if self.power is None:
            return np.ones_like(velocity)
        if self.power == 1:
            return velocity
        signed: Array = np.sign(velocity) * np.abs(velocity) ** self.power
        return signed


_POWERS = {TermKind.COULOMB: 0, TermKind.VISCOUS: 1}


class SignCondition(Enum):
    """Sign that a parameter must have in a physically consistent machine."""

    ANY = "any"
    NOT_NEGATIVE = "not negative"
    POSITIVE = "positive"


@dataclass(frozen=True)
class JointTerm:
    """A parameter of a joint that is not one of a rigid body.

    Attributes:
        name: as in names of parameters: ``Fv`` for ``Fv1``, ``Fv2`` and so on.
        kind: what it multiplies.
        key: name in robot files, messages and parameters of controllers.
        label: what it is, for people.
        meaning: the same, as a definition.
        units: SI units for a revolute and for a prismatic joint.
        sign: condition of physical consistency.
        default: whether joints have it where their robot file does not say; a robot without any
            joint that has it has no columns for it either.
        couples: whether a coupling may be of its kind.
        like: inertial parameters, for a revolute and for a prismatic joint, with the same effect
            where a link moves by its own joint alone; empty where there are none.
        short: name in xacro files and in the table of joint values for Pinocchio.
        urdf: attribute of ``<dynamics>`` in a URDF; empty where there is none.
        mujoco: attribute of ``<joint>`` in MJCF; empty where there is none.
    """

    name: str
    kind: TermKind
    key: str
    label: str
    meaning: str
    units: tuple[str, str]
    sign: SignCondition
    short: str
    default: bool = True
    couples: bool = True
    like: tuple[str, ...] = ()
    urdf: str = ""
    mujoco: str = ""

    @property
    def dissipates(self) -> bool:
        """Whether it takes power from the motion: friction."""
        return self.kind.power is not None

    def unit(self, *, prismatic: bool) -> str:
        """Return the SI unit of the parameter."""
        return self.units[int(prismatic)]


TERMS = (
    JointTerm(
        name="Ia",
        kind=TermKind.INERTIA,
        key="drive_inertia",
        label="drive inertia",
        meaning="inertia of the drive on the joint side",
        units=("kg m^2", "kg"),
        sign=SignCondition.POSITIVE,
        like=("ZZ", "M"),
        short="armature",
        mujoco="armature",
    ),
    JointTerm(
        name="Fv",
        kind=TermKind.VISCOUS,
        key="viscous_friction",
        label="viscous friction",
        meaning="viscous friction, in proportion to the velocity",
        units=("N m s/rad", "N s/m"),
        sign=SignCondition.NOT_NEGATIVE,
        short="damping",
        urdf="damping",
        mujoco="damping",
    ),
    JointTerm(
        name="Fc",
        kind=TermKind.COULOMB,
        key="coulomb_friction",
        label="Coulomb friction",
        meaning="Coulomb friction, the same at every speed",
        units=("N m", "N"),
        sign=SignCondition.NOT_NEGATIVE,
        short="friction",
        urdf="friction",
        mujoco="frictionloss",
    ),
    JointTerm(
        name="off",
        kind=TermKind.OFFSET,
        key="offset",
        label="offset",
        meaning="effort at rest that is neither gravity nor friction",
        units=("N m", "N"),
        sign=SignCondition.ANY,
        couples=False,
        short="offset",
    ),
)
"""All terms, in the order of their parameters behind those of the link."""

DEFAULT_TERMS = frozenset(term.name for term in TERMS if term.default)
"""Names of the terms of a joint whose robot file does not say otherwise."""

COUPLING_KINDS = tuple(term.kind.value for term in TERMS if term.couples)
"""Factors that a coupling may have, as robot files name them."""


def term_named(name: str) -> JointTerm | None:
    """Return the term with a name such as ``Fv``, None where there is none."""
    return next((term for term in TERMS if term.name == name), None)
