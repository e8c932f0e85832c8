"""An MJCF file with what MuJoCo does not read from a URDF, or that a hand-written model needs."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import quoteattr

from robot_identification.files.export.link_bodies import LinkBody
from robot_identification.files.export.mechanism import Mechanism
from robot_identification.files.export.numbers import number
from robot_identification.robot.terms import JointTerm


def mjcf_text(mechanism: Mechanism) -> str:
    """Return an MJCF file with one default class per joint: armature, damping and frictionloss.

    A model includes it and names the class of each of its joints.  The classes are called after
    the joints.  Joint terms that MuJoCo does not know, such as offsets, and couplings are left out.
    """
    known = [term for term in mechanism.robot.layout.terms if term.mujoco]
    lines = [
        f"<mujoco model={quoteattr(mechanism.robot.name)}>",
        "  <default>",
        *(line for joint in mechanism.joints for line in _class(joint, known)),
        "  </default>",
        "</mujoco>",
        "",
    ]
    return "\n".join(lines)


def _class(joint: LinkBody, known: Iterable[JointTerm]) -> tuple[str, ...]:
    written = " ".join(f'{term.mujoco}="{number(joint.terms[term.name])}"' for term in known)
    return (
        f"    <default class={quoteattr(joint.joint)}>",
        f"      <joint {written}/>",
        "    </default>",
    )
