"""From a URDF to the model of the robot, and back to the frames of the URDF's links."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import numpy as np

from robot_identification.errors import RobotDescriptionError
from robot_identification.robot.arrays import by_value
from robot_identification.robot.bodies import Body
from robot_identification.robot.files.elements.urdf_elements import (
    Mimic,
    UrdfJoint,
    UrdfLink,
    check_inertia,
    read_joint,
    read_link,
)
from robot_identification.robot.files.elements.xml_document import (
    Element,
    parse_xml,
    read_xml,
    utf8,
)
from robot_identification.robot.files.fixed_joints import held
from robot_identification.robot.geometry import axis_frame
from robot_identification.robot.limits import URDF, with_limits
from robot_identification.robot.model import Array, Joint, JointType, RobotModel, read_only

_Named = TypeVar("_Named", UrdfJoint, UrdfLink)

MAXIMUM_JOINTS = 200
_NONE: Mapping[str, float] = MappingProxyType({})
STANDARD_GRAVITY = (0.0, 0.0, -9.81)


@by_value
@dataclass(frozen=True)
class LinkFrame:
    """Frame of a URDF link: fixed in the frame of a joint of the model.

    Attributes:
        joint: index of the joint that moves the link, -1 for what does not move.
        rotation: (3, 3) orientation of the link's frame in the frame of the joint.
        translation: (3,) its origin there, in m.
        held: whether a joint carries the link there that a robot file holds fixed.
    """

    joint: int
    rotation: Array
    translation: Array
    held: bool = False


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
    links = _unique([read_link(element) for element in root.all("link")])
    joints = held(_unique([read_joint(element) for element in root.all("joint")]), fixed)
    if not links:
        raise root.error("the robot has no links")
    base = _base(links, joints)
    mimics = {one.name: one.mimic.joint for one in joints.values() if one.mimic and one.moves}
    if mimics and not allow_mimic:
        name, leader = next(iter(mimics.items()))
        raise _mimicking(joints[name], leader, _to_hold(joints, name))
    turned = {joint.child for joint in joints.values() if joint.moves}
    for link in links.values():
        check_inertia(link, fixed=link.name not in turned)
    moving, frames = _walk(base, joints)
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
    return _at(
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


def _unique(items: list[_Named]) -> dict[str, _Named]:
    """Return items by name, after a check that no name stands twice."""
    found: dict[str, _Named] = {}
    for item in items:
        if item.name in found:
            first = found[item.name].element.line
            raise item.element.error(
                f"a second {item.element.tag} of that name; the first is on line {first}"
            )
        found[item.name] = item
    return found


def _base(links: dict[str, UrdfLink], joints: dict[str, UrdfJoint]) -> str:
    """Return the one link that no joint moves, after a check that all hang together."""
    carried: dict[str, UrdfJoint] = {}
    for joint in joints.values():
        for tag, end in (("parent", joint.parent), ("child", joint.child)):
            if end not in links:
                raise _at(joint, tag, f"there is no link {end}", "link")
        if joint.child in carried:
            other = carried[joint.child].name
            problem = f"link {joint.child} already hangs on joint {other}; a URDF is a tree"
            raise _at(joint, "child", problem, "link")
        carried[joint.child] = joint
    roots = [name for name in links if name not in carried]
    if len(roots) > 1:
        raise links[roots[1]].element.error(
            f"several links hang on no joint ({', '.join(roots[:10])}); "
            "exactly one must be the root"
        )
    _check_circles(links, carried)
    return roots[0]


def _check_circles(links: dict[str, UrdfLink], carried: dict[str, UrdfJoint]) -> None:
    """Refuse links that hang on one another in a circle."""
    settled: set[str] = set()
    for name in links:
        seen = {name: None}  # in order
        last = name
        while last not in settled and (above := carried.get(last)) is not None:
            last = above.parent
            if last in seen:
                way = " <- ".join([*seen, last])
                raise above.element.error(f"the links go round in a circle: {way:.200}")
            seen[last] = None
        settled.update(seen)


def _at(joint: UrdfJoint, tag: str, problem: str, attribute: str = "") -> RobotDescriptionError:
    """Return an error at an element inside a joint."""
    element = joint.element.one(tag)
    if element is None:
        return joint.element.error(problem)
    return element.error(problem, joint.element.label, attribute)


def _walk(base: str, joints: dict[str, UrdfJoint]) -> tuple[list[Joint], dict[str, LinkFrame]]:
    """Return the moving joints, antecedents first, and the frames of all links."""
    moving: list[Joint] = []
    frames = {base: LinkFrame(-1, read_only(np.eye(3)), read_only(np.zeros(3)))}
    hanging: dict[str, list[UrdfJoint]] = defaultdict(list)
    for joint in reversed(joints.values()):
        hanging[joint.parent].append(joint)
    waiting = hanging[base][:]
    while waiting:
        joint = waiting.pop()
        parent = frames[joint.parent]
        rotation = parent.rotation @ joint.rotation
        translation = parent.translation + parent.rotation @ joint.translation
        if joint.moves:
            turn = axis_frame(joint.axis)
            moving.append(
                with_limits(
                    Joint(
                        name=joint.name,
                        link=joint.child,
                        type=JointType.PRISMATIC
                        if joint.type == "prismatic"
                        else JointType.REVOLUTE,
                        antecedent=parent.joint,
                        rotation=rotation @ turn,
                        translation=translation,
                        urdf_limits=joint.limits,
                    ),
                    joint.limits,
                    URDF,
                )
            )
            frame = LinkFrame(len(moving) - 1, read_only(turn.T), read_only(np.zeros(3)))
        else:
            place = read_only(rotation), read_only(translation)
            frame = LinkFrame(parent.joint, *place, held=parent.held or joint.held)
        frames[joint.child] = frame
        waiting += hanging[joint.child]
    return moving, frames
