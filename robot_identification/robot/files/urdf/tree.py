"""The tree of links and joints of a URDF: its root, and its moving joints from there outwards."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from robot_identification.errors import RobotDescriptionError
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.files.urdf.elements import UrdfJoint, UrdfLink
from robot_identification.robot.geometry import axis_frame
from robot_identification.robot.joint import Joint, JointType
from robot_identification.robot.limits import SOFT, URDF, with_limits

_Named = TypeVar("_Named", UrdfJoint, UrdfLink)


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


def unique_by_name(items: list[_Named]) -> dict[str, _Named]:
    """Return items by name.

    Raises:
        RobotDescriptionError: a name stands twice.
    """
    found: dict[str, _Named] = {}
    for item in items:
        if item.name in found:
            first = found[item.name].element.line
            raise item.element.error(
                f"a second {item.element.tag} of that name; the first is on line {first}"
            )
        found[item.name] = item
    return found


def root_link(links: dict[str, UrdfLink], joints: dict[str, UrdfJoint]) -> str:
    """Return the one link that no joint moves.

    Raises:
        RobotDescriptionError: a joint names a link that there is not, or the links do not all hang
            together in a tree.
    """
    carried: dict[str, UrdfJoint] = {}
    for joint in joints.values():
        for tag, end in (("parent", joint.parent), ("child", joint.child)):
            if end not in links:
                raise error_at(joint, tag, f"there is no link {end}", "link")
        if joint.child in carried:
            other = carried[joint.child].name
            problem = f"link {joint.child} already hangs on joint {other}; a URDF is a tree"
            raise error_at(joint, "child", problem, "link")
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


def error_at(
    joint: UrdfJoint, tag: str, problem: str, attribute: str = ""
) -> RobotDescriptionError:
    """Return an error at an element inside a joint."""
    element = joint.element.one(tag)
    if element is None:
        return joint.element.error(problem)
    return element.error(problem, joint.element.label, attribute)


def moving_joints(
    base: str, joints: dict[str, UrdfJoint]
) -> tuple[list[Joint], dict[str, LinkFrame]]:
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
            made = Joint(
                name=joint.name,
                link=joint.child,
                type=JointType.PRISMATIC if joint.type == "prismatic" else JointType.REVOLUTE,
                antecedent=parent.joint,
                rotation=rotation @ turn,
                translation=translation,
                urdf_limits=joint.limits,
            )
            moving.append(
                with_limits(with_limits(made, joint.limits, URDF), joint.soft_limits, SOFT)
            )
            frame = LinkFrame(len(moving) - 1, read_only(turn.T), read_only(np.zeros(3)))
        else:
            place = read_only(rotation), read_only(translation)
            frame = LinkFrame(parent.joint, *place, held=parent.held or joint.held)
        frames[joint.child] = frame
        waiting += hanging[joint.child]
    return moving, frames
