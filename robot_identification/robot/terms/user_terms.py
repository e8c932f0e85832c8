"""Joint terms of users: functions of a joint's motion that an installed package gives.

A package says in its metadata which terms it has, as entry points of the group :data:`GROUP`:

    [project.entry-points."robot_identification.joint_terms"]
    gear_ripple = "my_package.terms:GEAR_RIPPLE"

with a :class:`UserTerm` at that place.  Nothing of it is imported before a robot file gives a joint
the term by that name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_identification.errors import SettingError, ShapeError
from robot_identification.robot.arrays import Array, read_only
from robot_identification.robot.parameters import INERTIAL, AddedParameter
from robot_identification.robot.terms.joint_terms import SignCondition, term_named

GROUP = "robot_identification.joint_terms"
"""Group of entry points that terms of users are found in."""

Columns = Callable[[Array, Array, Array], npt.ArrayLike]

_NAME = re.compile(r"[A-Za-z]+")


@dataclass(frozen=True)
class UserParameter:
    """A parameter of a term of a user.

    Attributes:
        name: letters, such as ``Frs``; the number of the joint follows: ``Frs2``.
        label: what it is, for people.
        units: SI units for a revolute and for a prismatic joint.
        sign: condition of physical consistency.

    Raises:
        SettingError: a name that is not letters, or one of this package.
    """

    name: str
    label: str
    units: tuple[str, str]
    sign: SignCondition = SignCondition.ANY

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise SettingError("name", self.name, "give letters alone; the joint's number follows")
        if self.name in INERTIAL or term_named(self.name) is not None:
            raise SettingError("name", self.name, "is a parameter of this package; give another")


@dataclass(frozen=True)
class UserTerm:
    """A term of a joint: parameters times functions of the joint's motion.

    Attributes:
        parameters: one for each function.
        columns: takes (samples,) positions, velocities and accelerations of a joint, which it must
            not change, to the (samples,) or (samples, parameters) functions: the efforts for a unit
            of each parameter.  Where processes share the work it must be a function of a module.
    """

    parameters: tuple[UserParameter, ...]
    columns: Columns

    def __post_init__(self) -> None:
        names = [parameter.name for parameter in self.parameters]
        if not names or len(set(names)) < len(names):
            raise SettingError("parameters", names, "give one or more, each with its own name")

    def rows(self, position: Array, velocity: Array, acceleration: Array) -> Array:
        """Return the (parameters, samples) functions along a motion of a joint.

        Args:
            position: (samples,) in rad or m.
            velocity: (samples,).
            acceleration: (samples,).

        Raises:
            ShapeError: the columns have another shape.
            SettingError: one is NaN or infinite where the motion is not.
        """
        motion = [read_only(signal) for signal in (position, velocity, acceleration)]
        found = np.asarray(self.columns(*motion), dtype=np.float64)
        wanted = (len(position), len(self.parameters))
        if found.shape == wanted[:1] and len(self.parameters) == 1:
            found = found[:, None]
        if found.shape != wanted:
            names = ", ".join(own.name for own in self.parameters)
            raise ShapeError(f"columns of {names}", found.shape, str(wanted))
        for sample, place in np.argwhere(~np.isfinite(found))[:1]:
            if all(np.isfinite(signal[sample]) for signal in motion):
                at = ", ".join(f"{signal[sample]:.6g}" for signal in motion)
                raise SettingError(
                    f"column of {self.parameters[place].name}",
                    float(found[sample, place]),
                    f"at position, velocity and acceleration {at}; it must be finite everywhere",
                )
        return found.T


class TermOfJoint(NamedTuple):
    """A term of a user that a joint has.

    Attributes:
        joint: index of the joint.
        name: of the entry point.
        term: the term.
        parameters: as those of the robot, with the joint's number behind their names.
    """

    joint: int
    name: str
    term: UserTerm
    parameters: tuple[AddedParameter, ...]


def term_of_joint(
    joint: int, joint_name: str, name: str, term: UserTerm, *, prismatic: bool
) -> TermOfJoint:
    """Return a term as one of a joint.

    Args:
        joint: index of the joint.
        joint_name: its name.
        name: of the entry point.
        term: the term.
        prismatic: whether the joint translates.
    """
    parameters = tuple(
        AddedParameter(
            f"{own.name}{joint + 1}",
            own.units[int(prismatic)],
            own.sign,
            joint_name,
            own.label,
            (joint,),
        )
        for own in term.parameters
    )
    return TermOfJoint(joint, name, term, parameters)
