"""Springs between two points of two links: gravity compensators given by their geometry.

A coil spring pulls its ends together, a gas spring pushes them apart.  With l the distance of the
ends and L a length that the description states, their forces along the line are

    coil:  preload + stiffness (l - L)  towards each other,
    gas:   preload + stiffness (L - l)  away from each other,

linear in both parameters.  What a joint must give to hold against them is the force times dl/dq, by
the principle of virtual work; whatever L is, the law is the same, but the preload is the force at
that length, and its deviation is smallest where L is one that the motion visits.  Both have the
energy stiffness (l - L)^2 / 2 + preload l, that of a gas spring with the preload negated.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from robot_identification.robot.parameters import AddedParameter
from robot_identification.robot.terms.joint_terms import SignCondition


class SpringKind(Enum):
    """What a spring does along its line."""

    COIL = "coil"
    GAS = "gas"


@dataclass(frozen=True)
class SpringEnd:
    """Where a spring is fastened.

    Attributes:
        joint: index of the joint that moves the link; -1 for the base.
        point: in the frame of that joint, in m.
    """

    joint: int
    point: tuple[float, float, float]


@dataclass(frozen=True)
class Spring:
    """A spring between two points.

    Attributes:
        name: of the spring, with which its parameters begin.
        kind: whether it pulls or pushes.
        ends: where it is fastened.
        length: L in m, where the force is the preload.
        preload: whether it has the parameter ``<name>_preload``, in N.
        stiffness: whether it has the parameter ``<name>_stiffness``, in N/m.
    """

    name: str
    kind: SpringKind
    ends: tuple[SpringEnd, SpringEnd]
    length: float
    preload: bool = True
    stiffness: bool = True

    @property
    def pull(self) -> float:
        """1 where the preload pulls the ends together, -1 where it pushes them apart."""
        return -1.0 if self.kind is SpringKind.GAS else 1.0

    @property
    def preload_name(self) -> str:
        """Name of the parameter."""
        return f"{self.name}_preload"

    @property
    def stiffness_name(self) -> str:
        """Name of the parameter."""
        return f"{self.name}_stiffness"

    @property
    def parameters(self) -> tuple[AddedParameter, ...]:
        """The preload, then the stiffness, as far as the spring has them.

        In this order a stiffness that the weight hides is grouped with the weight, and the preload
        stands by itself: with its ends on a link and on the one that carries it, the part of the
        stiffness alone is a torque like that of a weight.
        """
        pushes = self.kind is SpringKind.GAS
        joints = tuple(end.joint for end in self.ends if end.joint >= 0)
        preload = AddedParameter(
            self.preload_name,
            "N",
            SignCondition.NOT_NEGATIVE if pushes else SignCondition.ANY,
            self.name,
            "preload",
            joints,
        )
        stiffness = AddedParameter(
            self.stiffness_name,
            "N/m",
            SignCondition.NOT_NEGATIVE,
            self.name,
            "stiffness",
            joints,
        )
        return (preload,) * self.preload + (stiffness,) * self.stiffness
