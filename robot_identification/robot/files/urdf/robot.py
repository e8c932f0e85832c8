"""From a URDF to the model of the robot, and back to the frames of the URDF's links."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np

from robot_identification.errors import RobotDescriptionError
from robot_identification.robot.arrays import Array, read_only
from robot_identification.robot.bodies import Body
from robot_identification.robot.files.urdf.elements import (
    Mimic,
    UrdfJoint,
    UrdfLink,
    check_inertia,
    read_joint,
    read_link,
)
from robot_identification.robot.files.urdf.fixed_joints import held
from robot_identification.robot.files.urdf.tree import (
    LinkFrame,
    error_at,
    moving_joints,
    root_link,
    unique_by_name,
)
from robot_identification.robot.files.urdf.xml_document import (
    Element,
    parse_xml,
    read_xml,
    utf8,
)
from robot_identification.robot.model import RobotModel

MAXIMUM_JOINTS = 200
_NONE: Mapping[str, float] = MappingProxyType({})
STANDARD_GRAVITY = (0.0, 0.0, -9.81)


@dataclass(frozen=True)
class UrdfDescription:
    """A robot read from a URDF, with what the model of the robot does not hold.

    Attributes:
        robot: the robot; frame j has its z axis along the axis of joint j.
        links: link name -> the link.
        joints: joint name -> the joint, fixed ones included.
        frames: link name -> where its frame is.
        mimics: name of a joint that moves and mimics another -> the name of that one.
    """

    robot: RobotModel
    links: Mapping[str, UrdfLink]
    joints: Mapping[str, UrdfJoint]
    frames: Mapping[str, LinkFrame]
    mimics: Mapping[str, str]

    def to_hold(self, name: str) -> str:
        """Return which joint a robot file has to hold for one that mimics another to stand still.

        Args:
            name: of a joint that moves and mimics another.
        """
        return _to_hold(self.joints, name)

    def followed(self, name: str) -> Mimic:
        """Return the joint that mimics none which a joint mimics in the end, and by what relation.

        Args:
            name: of a joint that moves and mimics another; joints that mimic each other in a circle
                follow the last of them.
        """
        seen, found = {name}, Mimic(name)
        while (own := self.joints.get(found.joint)) is not None and own.mimic and own.moves:
            found = Mimic(
                own.mimic.joint,
                found.multiplier * own.mimic.multiplier,
                found.multiplier * own.mimic.offset + found.offset,
            )
            if found.joint in seen:
                break
            seen.add(found.joint)
        return found

    @property
    def held_links(self) -> frozenset[str]:
        """Names of the links that joints carry which a robot file holds fixed."""
        return frozenset(name for name, frame in self.frames.items() if frame.held)

    def held_bodies(self, joint: str) -> dict[str, Body]:
        """Return what hangs on a joint by joints that a robot file holds fixed.

        Args:
            joint: name of a joint that moves.

        Returns:
            Name of each link with inertials -> its body in the frame of the joint.

        Raises:
            RobotDescriptionError: an inertial is too large to be computed with.
        """
        place, found = self.robot.joint_names.index(joint), {}
        for name in sorted(self.held_links):
            frame, own = self.frames[name], self.links[name].inertial
            if frame.joint != place or own is None:
                continue
            with np.errstate(all="ignore"):
                found[name] = own.seen_from(frame.rotation, frame.translation)
                finite = np.isfinite(found[name].standard).all()
            if not finite:
                element = self.links[name].element
                raise element.error("its inertial is too large to be computed with")
        return found

    def held_standard(self) -> dict[str, Array]:
        """Return (10,) standard parameters of what is held on each joint that carries such.

        Raises:
            RobotDescriptionError: as :meth:`held_bodies`.
        """
        found = {joint: [*self.held_bodies(joint).values()] for joint in self.robot.joint_names}
        return {
            joint: read_only(np.sum([body.standard for body in bodies], axis=0))
            for joint, bodies in found.items()
            if bodies
        }


def read_urdf(
    path: Path, *, allow_mimic: bool = False, fixed: Mapping[str, float] = _NONE
) -> UrdfDescription:
    """Read a URDF.

    Fixed joints are merged: what they carry belongs to the link that moves.  The joints are
    numbered from the root outwards, branch by branch, in the order of the file.

    Args:
        path: the file.
        allow_mimic: whether joints that mimic others are accepted (and listed).
        fixed: names of joints that stand still -> their positions, in rad or m.

    Raises:
        RobotDescriptionError: the file is not well-formed, or does not describe a tree of links
            with revolute, continuous, prismatic and fixed joints; with file, line and field.
    """
    root, digest = read_xml(path)
    return _described(root, digest, path.stem, allow_mimic=allow_mimic, fixed=fixed)


def parse_urdf(
    text: str, name: str, *, allow_mimic: bool = False, fixed: Mapping[str, float] = _NONE
) -> UrdfDescription:
    """Read the text of a URDF; see :func:`read_urdf`.

    Args:
        text: the URDF; an encoding that it declares is passed over.
        name: what it is called in errors.
        allow_mimic: whether joints that mimic others are accepted (and listed).
        fixed: names of joints that stand still -> their positions, in rad or m.

    Raises:
        RobotDescriptionError: as :func:`read_urdf`.
    """
    data = utf8(text, name)
    digest = hashlib.sha256(data).hexdigest()
    root = parse_xml(data, name, encoding="utf-8")
    return _described(root, digest, name, allow_mimic=allow_mimic, fixed=fixed)


def read_urdf_of(path: Path, robot: RobotModel) -> UrdfDescription:
    """Read a URDF of a robot that says itself which joints follow others or stand still.

    Raises:
        RobotDescriptionError: as :func:`read_urdf`.
    """
    return read_urdf(path, allow_mimic=True, fixed=robot.fixed_joints)


def parse_urdf_of(text: str, name: str, robot: RobotModel) -> UrdfDescription:
    """Read the text of a URDF of a robot; see :func:`read_urdf_of`.

    Raises:
        RobotDescriptionError: as :func:`read_urdf`.
    """
    return parse_urdf(text, name, allow_mimic=True, fixed=robot.fixed_joints)


def _described(
    root: Element, digest: str, name: str, *, allow_mimic: bool, fixed: Mapping[str, float]
) -> UrdfDescription:
    """Return the robot that an XML document describes, called ``name`` where it has no name."""
    if root.tag != "robot":
        raise root.error(f"<{root.tag}> is not <robot>; is this a URDF?")
    _refuse_xacro(root)
    links = unique_by_name([read_link(element) for element in root.all("link")])
    joints = held(unique_by_name([read_joint(element) for element in root.all("joint")]), fixed)
    if not links:
        raise root.error("the robot has no links")
    base = root_link(links, joints)
    mimics = {one.name: one.mimic.joint for one in joints.values() if one.mimic and one.moves}
    if mimics and not allow_mimic:
        name, leader = next(iter(mimics.items()))
        raise _mimicking(joints[name], leader, _to_hold(joints, name))
    turned = {joint.child for joint in joints.values() if joint.moves}
    for link in links.values():
        check_inertia(link, fixed=link.name not in turned)
    moving, frames = moving_joints(base, joints)
    if not moving:
        raise root.error("no joint of the robot moves")
    if len(moving) > MAXIMUM_JOINTS:
        raise root.error(f"{len(moving)} joints move; at most {MAXIMUM_JOINTS} are accepted")
    robot = RobotModel(
        name=root.attributes.get("name") or name,
        base_link=base,
        joints=tuple(moving),
        gravity=np.array(STANDARD_GRAVITY),
        digest=digest,
        warnings=tuple(root.remarks),
    )
    return UrdfDescription(
        robot,
        MappingProxyType(links),
        MappingProxyType(joints),
        MappingProxyType(frames),
        MappingProxyType(mimics),
    )


def _to_hold(joints: Mapping[str, UrdfJoint], name: str) -> str:
    """Return which joint has to be held for one that mimics another to stand still.

    It is the other one, or the joint itself where the URDF has no such joint that could move.
    """
    own = joints[name].mimic
    leader = None if own is None else joints.get(own.joint)
    return name if leader is None or not leader.moves else leader.name


def _mimicking(joint: UrdfJoint, leader: str, to_hold: str) -> RobotDescriptionError:
    return error_at(
        joint,
        "mimic",
        f"mimics {leader}, so that its effort is not its own; write a robot file with the key urdf "
        f"and, if both stand still, fixed_joints: [{to_hold}], or loops, which declares the "
        "relation, if they move",
    )


def _refuse_xacro(root: Element) -> None:
    """Refuse a document with commands of xacro, which is no URDF yet."""
    waiting = [root]
    while waiting:
        element = waiting.pop()
        if element.tag.startswith("xacro:"):
            raise element.error(
                "is a command of xacro, so that this is no URDF yet; let the name of the file end "
                "with .xacro, or expand it first: xacro FILE > robot.urdf"
            )
        waiting += element.children[::-1]
