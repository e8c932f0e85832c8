"""An MJCF file with what MuJoCo does not read from a URDF, or that a hand-written model needs."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

from robot_identification.storage.export.mechanism import JointDynamics, Mechanism
from robot_identification.storage.export.numbers import number


def mjcf_text(mechanism: Mechanism) -> str:
    """Return an MJCF file with one default class per joint: armature, damping and frictionloss.

    A model includes it and names the class of each of its joints.  The classes are called after
    the joints.  Offsets and couplings have no place there; they are left out.
    """
    lines = [
        f"<mujoco model={quoteattr(mechanism.robot.name)}>",
        "  <default>",
        *(line for joint in mechanism.joints for line in _class(joint)),
        "  </default>",
        "</mujoco>",
        "",
    ]
    return "\n".join(lines)


def _class(joint: JointDynamics) -> tuple[str, ...]:
    attributes = {
        "armature": joint.drive_inertia,
        "damping": joint.link.viscous_friction,
        "frictionloss": joint.link.coulomb_friction,
    }
    written = " ".join(f'{name}="{number(value)}"' for name, value in attributes.items())
    return (
        f"    <default class={quoteattr(joint.name)}>",
        f"      <joint {written}/>",
        "    </default>",
    )
