"""A joint of a robot: its placement, limits, terms and drive, as an immutable value."""

from __future__ import annotations

import copyreg
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any

from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.terms.joint_terms import DEFAULT_TERMS, TERMS, JointTerm
from robot_identification.robot.terms.kinds import TermKind
from robot_identification.robot.terms.temperature import TemperatureDependence
from robot_identification.robot.terms.user_terms import UserTerm


def _frozen(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(values)


# A robot goes to other processes: plans are made in one, and are of a robot.
copyreg.pickle(MappingProxyType, lambda mapping: (_frozen, (dict(mapping),)))


class JointType(Enum):
    """Type of a joint: it moves about (revolute) or along (prismatic) its z axis."""

    REVOLUTE = "revolute"
    PRISMATIC = "prismatic"


@dataclass(frozen=True)
class GeometricParameters:
    """Modified Denavit-Hartenberg parameters of a joint at position zero, in rad and m.

    The placement is Rot(z, gamma) Trans(z, b) Rot(x, alpha) Trans(x, d) Rot(z, theta)
    Trans(z, r); gamma and b are needed on trees only.
    """

    alpha: float = 0.0
    d: float = 0.0
    theta: float = 0.0
    r: float = 0.0
    gamma: float = 0.0
    b: float = 0.0


@dataclass(frozen=True)
class JointLimits:
    """Limits of a joint in rad or m, their time derivatives, and N m or N; None is unknown.

    ``lower`` and ``upper`` are None for a continuous joint.
    """

    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    acceleration: float | None = None
    jerk: float | None = None
    effort: float | None = None


@by_value
@dataclass(frozen=True)
class Joint:
    """A joint, the link that it moves, and its drive.

    Attributes:
        name: as in joint_states.
        link: name of the moved link.
        type: revolute or prismatic.
        antecedent: index of the joint that carries this one, -1 for the base; always smaller
            than the joint's own index.
        rotation: (3, 3) constant part of the orientation of frame j in its antecedent's frame.
        translation: (3,) origin of frame j in its antecedent's frame at position zero, in m.
        geometry: modified Denavit-Hartenberg parameters, where the robot was given by them.
        limits: limits of position and its derivatives.
        urdf_limits: those that the URDF gives, where the robot is described by one.
        terms: names of the joint terms that belong to the model, such as ``Ia`` and ``Fv``.
        shapes: name of a term -> shape parameters of its function, where they are given.
        user_terms: terms that other packages give, by the names under which they do.
        temperature: how its temperature is known, on which friction and offset depend; None: they
            do not.
        transmission: motor turns per joint turn, of a slide motor radians per metre, by joint name:
            the motor of this joint moves by the sum of ratio times joint position (Gautier and
            Venture 2013, eq. 34); signs count.
        drive_gain: motor torque (N m) or force (N) per ampere, motor side; None where unknown.
        limit_sources: field of ``limits`` -> where its value stands, such as ``URDF``.
    """

    name: str
    link: str
    type: JointType
    antecedent: int
    rotation: Array
    translation: Array
    geometry: GeometricParameters | None = None
    limits: JointLimits = JointLimits()
    urdf_limits: JointLimits = JointLimits()
    terms: frozenset[str] = DEFAULT_TERMS
    shapes: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    user_terms: Mapping[str, UserTerm] = field(default_factory=dict)
    temperature: TemperatureDependence | None = None
    transmission: Mapping[str, float] = field(default_factory=dict)
    drive_gain: float | None = None
    limit_sources: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rotation", read_only(self.rotation))
        object.__setattr__(self, "translation", read_only(self.translation))
        object.__setattr__(self, "shapes", MappingProxyType(dict(self.shapes)))
        object.__setattr__(self, "user_terms", MappingProxyType(dict(self.user_terms)))
        object.__setattr__(self, "transmission", MappingProxyType(dict(self.transmission)))
        object.__setattr__(self, "limit_sources", MappingProxyType(dict(self.limit_sources)))

    @property
    def joint_terms(self) -> tuple[JointTerm, ...]:
        """The joint terms that belong to the model."""
        return tuple(term for term in TERMS if term.name in self.terms)

    @property
    def rate_units(self) -> tuple[str, str]:
        """SI units of the velocity and the effort of the joint."""
        return ("m/s", "N") if self.type is JointType.PRISMATIC else ("rad/s", "N m")

    def shape_of(self, term: JointTerm) -> tuple[float, ...]:
        """Return the shape parameters of a term, the nominal ones where none are given."""
        return self.shapes.get(term.name, term.kind.nominal_shape)

    def has(self, kind: TermKind) -> bool:
        """Tell whether a term of a kind belongs to the model."""
        return any(term.kind is kind for term in self.joint_terms)
