"""A xacro file: properties of every link and joint, and macros that put them in place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import quoteattr

import numpy as np

from robot_identification.files.export.bodies import LinkBody, Mechanism
from robot_identification.files.export.text import comment, number, numbers
from robot_identification.robot.terms.joint_terms import JointTerm

_NOT_IN_A_NAME = re.compile(r"\W", re.ASCII)


def xacro_text(mechanism: Mechanism) -> str:
    """Return a xacro file to include in the description of the robot.

    For a link ``upper`` it has the properties ``upper_mass``, ``upper_com``, ``upper_ixx`` and so
    on, and the macro ``upper_inertial``; for the joint ``elbow`` the properties
    ``elbow_damping``, ``elbow_friction`` and ``elbow_armature``, and the macro
    ``elbow_dynamics``.  What cannot stand in a name becomes ``_``.
    """
    namespace = "http://www.ros.org/wiki/xacro"
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<robot name={quoteattr(_literal(mechanism.robot.name))} xmlns:xacro="{namespace}">',
    ]
    names = _Names()
    for joint in mechanism.joints:
        lines += _link(joint, names.free(joint.link))
        lines += _joint(joint, names.free(joint.joint), mechanism.robot.layout.terms)
    return "\n".join([*lines, "</robot>", ""])


def _literal(text: str) -> str:
    """Return text in which xacro finds nothing to evaluate: one more $ before a bracket."""
    return re.sub(r"(\$+)(?=[({])", r"$\1", text)


class _Names:
    """Hands out names that are made of letters, digits and ``_``, each once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def free(self, wanted: str) -> str:
        name = _NOT_IN_A_NAME.sub("_", wanted)
        name = f"_{name}" if name[:1].isdigit() else name
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name


def _link(joint: LinkBody, name: str) -> Iterator[str]:
    body = joint.body
    yield _property(f"{name}_mass", number(body.mass))
    yield _property(f"{name}_com", numbers(body.centre))
    keys = [f"i{'xyz'[i]}{'xyz'[j]}" for i, j in zip(*np.triu_indices(3), strict=True)]
    for key, value in zip(keys, body.inertia[np.triu_indices(3)], strict=True):
        yield _property(f"{name}_{key}", number(value))
    inertia = " ".join(f'{key}="${{{name}_{key}}}"' for key in keys)
    if joint.lumped:
        yield f"  {comment(joint.lumped_remark)}"
    yield f'  <xacro:macro name="{name}_inertial">'
    yield "    <inertial>"
    yield f'      <origin xyz="${{{name}_com}}" rpy="0 0 0"/>'
    yield f'      <mass value="${{{name}_mass}}"/>'
    yield f"      <inertia {inertia}/>"
    yield "    </inertial>"
    yield "  </xacro:macro>"


def _joint(joint: LinkBody, name: str, terms: Sequence[JointTerm]) -> Iterator[str]:
    in_urdf = [term for term in terms if term.urdf]
    if joint.remark:
        yield f"  {comment(joint.remark)}"
    for term in (*in_urdf, *(term for term in terms if term.mujoco and not term.urdf)):
        yield _property(f"{name}_{term.short}", number(joint.plain_terms[term.name]))
    attributes = " ".join(f'{term.urdf}="${{{name}_{term.short}}}"' for term in in_urdf)
    yield f'  <xacro:macro name="{name}_dynamics">'
    yield f"    <dynamics {attributes}/>"
    yield "  </xacro:macro>"


def _property(name: str, value: str) -> str:
    return f'  <xacro:property name="{name}" value="{value}"/>'
