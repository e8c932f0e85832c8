"""Relations between joints: parameters that act across them, and joints that follow others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from robot_identification.robot.terms.kinds import TermKind


@dataclass(frozen=True)
class CouplingTerm:
    """One contribution of a coupling parameter to joint torques.

    With the motion v = sum of ``of[j]`` times the velocity of joint j, the torque of joint i is
    ``on[i]`` times the parameter times a function of v, which the kind of the coupling says.
    """

    on: Mapping[str, float]
    of: Mapping[str, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "on", MappingProxyType(dict(self.on)))
        object.__setattr__(self, "of", MappingProxyType(dict(self.of)))


@dataclass(frozen=True)
class Coupling:
    """A parameter that acts across joints, such as the friction of a shared wrist motor.

    Attributes:
        parameter: its name: a new one, appended to the standard parameters, or an existing one
            (such as ``Ia6``), which then also acts where ``terms`` say.
        kind: what it multiplies.
        terms: its contributions; they add up.
    """

    parameter: str
    kind: TermKind
    terms: tuple[CouplingTerm, ...]


@dataclass(frozen=True)
class LoopRelation:
    """A joint that a closed loop or a mimic mechanism ties to other joints.

    Its position is ``offset`` plus the sum of ``equals[j]`` times the position of joint j.

    Attributes:
        joint: the joint that follows.
        equals: joint name -> factor.
        offset: in rad or m.
    """

    joint: str
    equals: Mapping[str, float]
    offset: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "equals", MappingProxyType(dict(self.equals)))
