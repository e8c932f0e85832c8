"""A complete URDF of a robot that is described otherwise, by a Denavit-Hartenberg table say.

The frame of every link is frame j of the robot, so that the inertials are its parameters and the
axis of every joint is z.  The text is read back before it is given out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from xml.sax.saxutils import quoteattr

import numpy as np
import numpy.typing as npt

from robot_identification.files.export.bodies import LinkBody, link_bodies, require_consistent
from robot_identification.files.export.remarks import (
    description_remarks,
    needs_limit,
    parameter_remarks,
)
from robot_identification.files.export.text import comment, number, numbers
from robot_identification.files.export.urdf_rewriting import dynamics_attributes, inertial_lines
from robot_identification.robot.arrays import Array
from robot_identification.robot.couplings import LoopRelation
from robot_identification.robot.files.urdf.prior import values_of_urdf
from robot_identification.robot.geometry import axis_frame, roll_pitch_yaw
from robot_identification.robot.joint import Joint, JointType
from robot_identification.robot.model import RobotModel

_UP = (0.0, 0.0, 1.0)
_ANGLE_TOLERANCE = 1e-12


def generated_urdf(robot: RobotModel, values: npt.ArrayLike) -> str:
    """Return a URDF of a robot with given parameters.

    Joints without position limits become continuous; an effort or velocity limit that is unknown
    but that URDF demands is stated as 0.  Where gravity does not point along -z of the base, a
    root link is added in which it does.  A joint that follows one other becomes a mimic joint; one
    that follows several stays independent (the spanning tree of the closed loop).  Comments at the
    top of the file say what of this applies, and what a URDF has no place for.

    Args:
        robot: the robot.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.

    Raises:
        ShapeError: the number of values differs.
        SampleError: a value is NaN or infinite.
        InconsistentParametersError: a link or a friction cannot exist, as it is given or as it is
            read back.
    """
    bodies = link_bodies(robot, values)
    remarks = (*parameter_remarks(robot, values), *description_remarks(robot))
    lines = ['<?xml version="1.0" encoding="utf-8"?>']
    lines += [comment(remark) for remark in remarks]
    lines += [f"<robot name={quoteattr(robot.name)}>", *_base(robot)]
    loops = {loop.joint: loop for loop in robot.loops if len(loop.equals) == 1}
    for joint, body in zip(robot.joints, bodies, strict=True):
        lines += _link(body)
        lines += _joint(robot, joint, body, loops.get(joint.name))
    text = "\n".join([*lines, "</robot>", ""])
    require_consistent(robot, values_of_urdf(text, robot, name=robot.name))
    return text


def _base(robot: RobotModel) -> Iterator[str]:
    """Return the link that does not move, below one in which gravity points down if it must be."""
    yield f"  <link name={quoteattr(robot.base_link)}/>"
    magnitude = float(np.linalg.norm(robot.gravity))
    if not magnitude:
        return
    up = -robot.gravity / magnitude
    if np.abs(up - _UP).max() <= _ANGLE_TOLERANCE:
        return
    taken = {robot.base_link, *(joint.link for joint in robot.joints)}
    world = _free("world", taken)
    mount = _free("world_to_base", set(robot.joint_names))
    yield f"  <link name={quoteattr(world)}/>"
    yield f'  <joint name={quoteattr(mount)} type="fixed">'
    yield from _ends(world, robot.base_link)
    yield _origin(axis_frame(up).T, np.zeros(3))
    yield "  </joint>"


def _free(name: str, taken: set[str]) -> str:
    """Return a name that nothing has yet."""
    while name in taken:
        name += "_"
    return name


def _link(body: LinkBody) -> Iterator[str]:
    yield f"  <link name={quoteattr(body.link)}>"
    for depth, line in inertial_lines(body.body):
        yield "    " + depth * "  " + line
    yield "  </link>"


def _joint(
    robot: RobotModel, joint: Joint, body: LinkBody, follows: LoopRelation | None
) -> Iterator[str]:
    carried = joint.antecedent >= 0
    parent = robot.joints[joint.antecedent].link if carried else robot.base_link
    yield f'  <joint name={quoteattr(joint.name)} type="{_type(joint)}">'
    yield from _ends(parent, joint.link)
    yield _origin(joint.rotation, joint.translation)
    yield f'    <axis xyz="{numbers(_UP)}"/>'
    if needs_limit(joint):
        yield _element("limit", _limits(joint))
    yield _element("dynamics", dynamics_attributes(body))
    if follows is not None:
        ((leader, factor),) = follows.equals.items()
        relation = {
            "joint": leader,
            "multiplier": number(factor),
            "offset": number(follows.offset),
        }
        yield _element("mimic", relation)
    yield "  </joint>"


def _type(joint: Joint) -> str:
    if joint.type is JointType.PRISMATIC:
        return "prismatic"
    return "continuous" if joint.limits.lower is None else "revolute"


def _limits(joint: Joint) -> dict[str, str]:
    limits = joint.limits
    stated = {"lower": limits.lower, "upper": limits.upper}
    demanded = {"effort": limits.effort or 0.0, "velocity": limits.velocity or 0.0}
    known = {name: value for name, value in stated.items() if value is not None}
    return {name: number(value) for name, value in {**known, **demanded}.items()}


def _ends(parent: str, child: str) -> Iterator[str]:
    yield _element("parent", {"link": parent})
    yield _element("child", {"link": child})


def _origin(rotation: Array, translation: Array) -> str:
    pose = {"xyz": numbers(translation), "rpy": numbers(roll_pitch_yaw(rotation))}
    return _element("origin", pose)


def _element(tag: str, attributes: Mapping[str, str]) -> str:
    return f"    <{tag} {' '.join(f'{k}={quoteattr(v)}' for k, v in attributes.items())}/>"
