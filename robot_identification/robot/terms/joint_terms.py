"""Joint terms: drive inertia, friction and offset, one entry each, for everything that uses them.

The effort of a joint is that of rigid bodies plus its terms, each a parameter times a function,
mostly of the joint's rate v: dv/dt, sign(v) |v|^p, or 1 (M. Gautier et al., IEEE Trans. on Control
Systems Technology 21(2), 2013, eq. 1 and 2); :mod:`.kinds` has them all, and what they depend
on besides.  A coupling multiplies such functions of a combination of rates.  A new term is a new
entry of :data:`TERMS`, and ``make schema`` after it; where its function is new too, a new
:class:`~.kinds.TermKind`.

Friction that differs between directions is described by means and half differences: ``Fv`` is the
mean of viscous friction and ``Fva`` half its difference, forwards less backwards; half the
difference of Coulomb friction acts like the offset, to which it belongs.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from robot_identification.robot.terms.kinds import TermKind


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
        return self.kind.dissipates

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
    JointTerm(
        name="Fva",
        kind=TermKind.MAGNITUDE,
        key="asymmetric_viscous_friction",
        label="asymmetric viscous friction",
        meaning="half of viscous friction forwards less that backwards",
        units=("N m s/rad", "N s/m"),
        sign=SignCondition.ANY,
        default=False,
        couples=False,
        short="asymmetric_damping",
    ),
    JointTerm(
        name="Fr",
        kind=TermKind.ROOT,
        key="root_friction",
        label="root friction",
        meaning="friction in proportion to the square root of the speed",
        units=("N m (s/rad)^0.5", "N (s/m)^0.5"),
        sign=SignCondition.ANY,
        default=False,
        couples=False,
        short="root_friction",
    ),
    JointTerm(
        name="Fs",
        kind=TermKind.STRIBECK,
        key="stribeck_friction",
        label="Stribeck friction",
        meaning="friction at low speed beyond that at higher ones",
        units=("N m", "N"),
        sign=SignCondition.ANY,
        default=False,
        couples=False,
        short="stribeck_friction",
    ),
    JointTerm(
        name="Ft",
        kind=TermKind.SMOOTH,
        key="smooth_coulomb_friction",
        label="smooth Coulomb friction",
        meaning="Coulomb friction that grows over a small speed",
        units=("N m", "N"),
        sign=SignCondition.NOT_NEGATIVE,
        default=False,
        couples=False,
        short="smooth_friction",
    ),
    JointTerm(
        name="Fl",
        kind=TermKind.LOAD,
        key="load_friction",
        label="load friction",
        meaning="Coulomb friction in proportion to the effort of bodies and drives",
        units=("", ""),
        sign=SignCondition.NOT_NEGATIVE,
        default=False,
        couples=False,
        short="load_friction",
    ),
    JointTerm(
        name="Fg",
        kind=TermKind.GRAVITY_LOAD,
        key="gravity_load_friction",
        label="gravity load friction",
        meaning="Coulomb friction in proportion to the gravity effort",
        units=("", ""),
        sign=SignCondition.NOT_NEGATIVE,
        default=False,
        couples=False,
        short="gravity_load_friction",
    ),
    JointTerm(
        name="Ks",
        kind=TermKind.POSITION,
        key="spring",
        label="spring",
        meaning="stiffness of a linear spring; with the offset it has a rest position",
        units=("N m/rad", "N/m"),
        sign=SignCondition.NOT_NEGATIVE,
        default=False,
        couples=False,
        short="stiffness",
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


def terms_of(kind: TermKind) -> tuple[JointTerm, ...]:
    """Return the terms of a kind."""
    return tuple(term for term in TERMS if term.kind is kind)
