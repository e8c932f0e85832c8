"""Friction and offset of a joint that change with a measured temperature.

With the temperature T of the joint and a reference Tr that the robot file states, every one of the
terms Fv, Fc and off that the joint has gets a parameter beside it, its change per kelvin:

    (Fv + FvT (T - Tr)) v + (Fc + FcT (T - Tr)) sign(v) + off + offT (T - Tr)

linear in all of them.  The terms themselves are those at Tr, which is where models are that know no
temperature: simulation, feed-forward, exports.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from robot_identification.robot.parameters import AddedParameter
from robot_identification.robot.terms.joint_terms import JointTerm, SignCondition
from robot_identification.robot.terms.kinds import TermKind

KINDS = (TermKind.VISCOUS, TermKind.COULOMB, TermKind.OFFSET)
"""Kinds of terms that change with the temperature."""


@dataclass(frozen=True)
class TemperatureDependence:
    """How the temperature of a joint is known.

    Attributes:
        reference: Tr, in degrees Celsius; the middle of what the robot works at serves best.
        topic: of ``sensor_msgs/Temperature`` messages in bags; empty: bags have none.
    """

    reference: float
    topic: str = ""


class TemperatureTerm(NamedTuple):
    """The change of a term of a joint per kelvin.

    Attributes:
        joint: index of the joint.
        kind: of the term.
        reference: Tr, in degrees Celsius.
        parameter: as one of the robot.
    """

    joint: int
    kind: TermKind
    reference: float
    parameter: AddedParameter


def temperature_term(
    joint: int, name: str, term: JointTerm, reference: float, *, prismatic: bool
) -> TemperatureTerm:
    """Return the change of a term per kelvin.

    Args:
        joint: index of the joint.
        name: of the joint.
        term: of a kind of :data:`KINDS`.
        reference: Tr, in degrees Celsius.
        prismatic: whether the joint translates.
    """
    parameter = AddedParameter(
        f"{term.name}T{joint + 1}",
        f"{term.unit(prismatic=prismatic)}/K",
        SignCondition.ANY,
        name,
        f"change of {term.label} per kelvin",
        (joint,),
    )
    return TemperatureTerm(joint, term.kind, reference, parameter)
