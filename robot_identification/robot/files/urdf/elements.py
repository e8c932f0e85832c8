"""The links and joints of a URDF as they stand in the file, each checked by itself.

What identification does not need (visuals, collisions, materials, transmissions, extensions) is
passed over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.bodies import Body
from robot_identification.robot.files.urdf.xml_document import Element
from robot_identification.robot.geometry import (
    WRITTEN,
    nominal_angle,
    rotation_x,
    rotation_y,
    rotation_z,
)
from robot_identification.robot.joint import JointLimits
from robot_identification.robot.limits import tighter
from robot_identification.robot.terms.joint_terms import TERMS, SignCondition

MOVING = ("revolute", "continuous", "prismatic")
_ROUNDING = 1e-9  # of the largest moment of inertia, or kg m^2
_SLIGHT = 1e-6  # kg m^2: the last of six digits after the point
_INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


@dataclass(frozen=True)
class UrdfLink:
    """A link; ``inertial``, in the link's frame, is None where the file gives none."""

    name: str
    inertial: Body | None
    element: Element


@dataclass(frozen=True)
class Mimic:
    """Another joint that a joint follows: its position times ``multiplier``, plus ``offset``."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@by_value
@dataclass(frozen=True)
class UrdfJoint:
    """A joint.

    Attributes:
        name: its name.
        type: revolute, continuous, prismatic or fixed.
        parent: link that carries it.
        child: link that it moves.
        rotation: (3, 3) orientation of the child's frame at position zero, in the parent's.
        translation: (3,) its origin, in m.
        axis: (3,) unit vector of the motion in the child's frame.
        limits: limits of the motion.
        soft_limits: the same, but narrowed to the positions that a controller lets it go to.
        dynamics: stated attribute of <dynamics>, such as ``damping`` -> its value.
        mimic: the joint that it mimics, None for an independent joint.
        element: where it stands.
        held: whether it could move, but a robot file holds it fixed.
    """

    name: str
    type: str
    parent: str
    child: str
    rotation: Array
    translation: Array
    axis: Array
    limits: JointLimits
    soft_limits: JointLimits
    dynamics: Mapping[str, float]
    mimic: Mimic | None
    element: Element
    held: bool = False

    @property
    def moves(self) -> bool:
        """Return whether the joint moves."""
        return self.type in MOVING


def read_link(element: Element) -> UrdfLink:
    """Read a link.

    Raises:
        RobotDescriptionError: its inertial is incomplete, or its mass is negative.
    """
    name = element.text("name")
    inertial = element.one("inertial")
    return UrdfLink(name, None if inertial is None else _inertial(inertial, element), element)


def _inertial(element: Element, link: Element) -> Body:
    mass_element, inertia_element = element.one("mass"), element.one("inertia")
    if mass_element is None:
        raise element.error("<mass> is missing", link.label)
    if inertia_element is None:
        raise element.error("<inertia> is missing", link.label)
    mass = mass_element.number("value")
    if mass < 0:
        raise mass_element.error(f"a mass of {mass} kg is negative", link.label, "value")
    rotation, centre = pose(element.first("origin"))
    xx, xy, xz, yy, yz, zz = (inertia_element.number(name) for name in _INERTIA)
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    with np.errstate(all="ignore"):
        turned = rotation @ inertia @ rotation.T
    if not np.isfinite(turned).all():
        raise inertia_element.error("is too large to be computed with", link.label)
    return Body(mass, centre, turned)


def check_inertia(link: UrdfLink, *, fixed: bool) -> None:
    """Refuse a link whose inertia no body can have; that of a small fixed part is remarked.

    What exporters leave of the inertia of a screw or a label may be slightly below zero.  Where
    such a part is fixed, it counts as a part of the body that carries it, and harms nobody.

    Args:
        link: the link.
        fixed: whether a fixed joint, or none, carries it.

    Raises:
        RobotDescriptionError: a principal moment of inertia is negative.
    """
    inertial = link.element.one("inertial")
    place = None if inertial is None else inertial.one("inertia")
    if link.inertial is None or place is None:
        return
    moments = np.linalg.eigvalsh(link.inertial.inertia)
    largest = float(np.abs(moments).max())
    if moments[0] >= -_ROUNDING * max(1.0, largest):
        return
    problem = f"a principal moment of inertia is negative ({moments[0]:.3g})"
    if not fixed or moments[0] < -_SLIGHT:
        raise place.error(problem, link.element.label)
    place.remark(f"{problem}; the part is fixed and taken as it is", link.element.label)


def pose(origin: Element | None) -> tuple[Array, Array]:
    """Return rotation (3, 3) and translation (3,) of an <origin>; the identity without one.

    Raises:
        RobotDescriptionError: a number is missing or not finite.
    """
    zero = (0.0, 0.0, 0.0)
    if origin is None:
        return np.eye(3), np.zeros(3)
    xyz = origin.numbers("xyz", 3) if "xyz" in origin.attributes else zero
    roll, pitch, yaw = origin.numbers("rpy", 3) if "rpy" in origin.attributes else zero
    roll, pitch, yaw = map(nominal_angle, (roll, pitch, yaw))
    return rotation_z(yaw) @ rotation_y(pitch) @ rotation_x(roll), np.array(xyz)


RESERVED_NAME = "total"
RESERVED = (
    f"{RESERVED_NAME} is what errors of all joints together are called; rename the joint, in the "
    "driver too"
)
"""Name that no joint may have, and why."""


def read_joint(element: Element) -> UrdfJoint:
    """Read a joint.

    Raises:
        RobotDescriptionError: it is incomplete, of a type that cannot be identified, or has a
            zero axis, a name that means something else, a number that is not finite, or limits
            that contradict themselves.
    """
    name, kind = element.text("name"), element.text("type")
    if kind in ("floating", "planar"):
        raise element.error(
            f"a {kind} joint has no single motion and effort to identify; replace it by a fixed "
            "joint, or by revolute and prismatic ones",
            attribute="type",
        )
    if name == RESERVED_NAME and kind in MOVING:
        raise element.error(RESERVED, attribute="name")
    if kind not in (*MOVING, "fixed"):
        raise element.error(f"{kind} is not a joint type of URDF", attribute="type")
    ends = []
    for tag in ("parent", "child"):
        end = element.one(tag)
        if end is None:
            raise element.error(f"<{tag}> is missing")
        ends.append(end.text("link"))
    rotation, translation = pose(element.first("origin"))
    mimic = element.one("mimic")
    limits = _limits(element, continuous=kind == "continuous")
    return UrdfJoint(
        name=name,
        type=kind,
        parent=ends[0],
        child=ends[1],
        rotation=read_only(rotation),
        translation=read_only(translation),
        axis=_axis(element) if kind in MOVING else read_only([0.0, 0.0, 1.0]),
        limits=limits,
        soft_limits=_soft_limits(element, limits),
        dynamics=MappingProxyType(_dynamics(element)),
        mimic=None if mimic is None else _mimic(mimic),
        element=element,
    )


def _mimic(element: Element) -> Mimic:
    given = {
        name: element.number(name)
        for name in ("multiplier", "offset")
        if name in element.attributes
    }
    return Mimic(element.text("joint"), **given)


def _axis(joint: Element) -> Array:
    element = joint.one("axis")
    if element is None:
        return read_only([1.0, 0.0, 0.0])  # the default of URDF
    axis = np.array(element.numbers("xyz", 3))
    largest = float(np.abs(axis).max())
    if largest < 1e-6:
        raise element.error("the axis has no direction", joint.label, "xyz")
    axis = axis / largest
    axis[np.abs(axis) <= WRITTEN] = 0.0  # six digits of a direction that is meant to be upright
    return read_only(axis / np.linalg.norm(axis))


def _limits(joint: Element, *, continuous: bool) -> JointLimits:
    element = joint.one("limit")
    if element is None:
        return JointLimits()
    given = {
        name: element.number(name)
        for name in ("lower", "upper", "velocity", "effort")
        if name in element.attributes
    }
    for name in ("velocity", "effort"):
        if given.get(name, 0.0) < 0:
            raise element.error(f"{given[name]} is negative", joint.label, name)
        if given.get(name) == 0:
            del given[name]  # how exporters write that they do not know
    if not {"lower", "upper"} & given.keys() or continuous:
        return JointLimits(velocity=given.get("velocity"), effort=given.get("effort"))
    lower, upper = given.pop("lower", 0.0), given.pop("upper", 0.0)  # 0 is URDF's default
    if lower > upper:
        raise element.error(f"lower ({lower}) is above upper ({upper})", joint.label)
    return JointLimits(lower=lower, upper=upper, **given)


def _soft_limits(joint: Element, limits: JointLimits) -> JointLimits:
    """Return limits narrowed by soft ones; equal soft ones are how exporters know none."""
    element = joint.one("safety_controller")
    if element is None or limits.lower is None or limits.upper is None:
        return limits
    stated = {
        name: element.number(f"soft_{name}_limit")
        for name in ("lower", "upper")
        if f"soft_{name}_limit" in element.attributes
    }
    if len({*stated.values()}) < len(stated):
        return limits
    found = tighter(limits, JointLimits(**stated))
    if found.lower is None or found.upper is None or found.lower >= found.upper:
        told = " and ".join(f"{name} {value:g}" for name, value in stated.items())
        raise element.error(
            f"the soft limits ({told}) leave nothing of {limits.lower:g} to {limits.upper:g}",
            joint.label,
        )
    return found


def _dynamics(joint: Element) -> dict[str, float]:
    element = joint.one("dynamics")
    values: dict[str, float] = {}
    for term in TERMS:
        if element is None or term.urdf not in element.attributes:
            continue
        value = element.number(term.urdf)
        if value < 0 and term.sign is not SignCondition.ANY:
            raise element.error(f"{value} is negative", joint.label, term.urdf)
        values[term.urdf] = value
    return values
