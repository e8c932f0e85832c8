"""Joints of a URDF that stand still, such as the fingers of a gripper while the arm is identified.

A robot file names them (``fixed_joints``), with the positions at which they stand.  What they carry
belongs to the link before them then, as what a fixed joint carries does; a joint that mimics one
of them stands where that joint makes it stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from robot_identification.robot.arrays import read_only
from robot_identification.robot.files.document import Document
from robot_identification.robot.files.robot_yaml import sections
from robot_identification.robot.files.schema import suggestion
from robot_identification.robot.files.urdf.elements import UrdfJoint
from robot_identification.robot.geometry import axis_frame, rotation_z

KEY = "fixed_joints"


def read_fixed_joints(document: Document) -> dict[str, float]:
    """Return the positions of the joints that a robot file holds fixed, in rad or m.

    Raises:
        RobotDescriptionError: a position is none, or the file names no URDF.
    """
    given = document.data.get(KEY, {})
    if given and "urdf" not in document.data:
        raise document.error("holds joints of a URDF; leave out joints that do not move", KEY)
    if isinstance(given, list):
        return dict.fromkeys(given, 0.0)
    return {name: sections.angle(document, KEY, name) for name in given}


def held(joints: Mapping[str, UrdfJoint], fixed: Mapping[str, float]) -> dict[str, UrdfJoint]:
    """Return the joints of a URDF, some of them fixed where they stand.

    Args:
        joints: name -> joint.
        fixed: name -> position in rad or m; names of other joints are passed over.
    """
    positions = {name: fixed[name] for name in joints if name in fixed}
    while more := {  # joints that mimic those
        name: joint.mimic.multiplier * positions[joint.mimic.joint] + joint.mimic.offset
        for name, joint in joints.items()
        if name not in positions and joint.mimic and joint.mimic.joint in positions
    }:
        positions |= more
    return {
        name: _at(joint, positions[name]) if name in positions and joint.moves else joint
        for name, joint in joints.items()
    }


def _at(joint: UrdfJoint, position: float) -> UrdfJoint:
    """Return a joint that is fixed at a position."""
    rotation, translation = joint.rotation, joint.translation
    if joint.type == "prismatic":
        translation = translation + rotation @ (position * joint.axis)
    else:
        turn = axis_frame(joint.axis)
        rotation = rotation @ turn @ rotation_z(position) @ turn.T
    return replace(
        joint,
        type="fixed",
        rotation=read_only(rotation),
        translation=read_only(translation),
        held=True,
    )


def check_fixed_joints(
    document: Document, fixed: Mapping[str, float], joints: Mapping[str, UrdfJoint]
) -> None:
    """Refuse fixed joints that cannot stand where a robot file says.

    Args:
        document: the robot file.
        fixed: what it says.
        joints: those of its URDF, held there.

    Raises:
        RobotDescriptionError: there is no such joint, it is fixed already, its limits exclude the
            position, or it mimics a joint that moves.
    """
    place = document.data.get(KEY)
    for number, (name, position) in enumerate(fixed.items()):
        path = (KEY, number if isinstance(place, list) else name)
        if name not in joints:
            moving = [other.name for other in joints.values() if other.moves or other.held]
            hint = suggestion(name, moving) or f"; it has {', '.join(moving)}"
            raise document.error(f"the URDF has no joint {name}{hint}", *path)
        joint = joints[name]
        if not joint.held:
            raise document.error(f"{name} is fixed in the URDF already; leave it out", *path)
        leader = joints.get(joint.mimic.joint) if joint.mimic else None
        if leader is not None and leader.moves:
            raise document.error(f"{name} mimics {leader.name}, which moves; hold that one", *path)
        lower, upper = joint.limits.lower, joint.limits.upper
        if lower is None or upper is None or lower == upper:
            continue  # 0 and 0: exporters that know no limits
        if not lower <= position <= upper:
            raise document.error(
                f"{name} cannot stand at {position:g}: its limits are {lower:g} and {upper:g} in "
                "the URDF; give its position, as in "
                f"{KEY}: {{{name}: {(lower + upper) / 2.0:g}}}",
                *path,
            )
