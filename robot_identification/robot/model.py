"""The model of a robot: joints, drives, couplings and gravity, as immutable values.

Frames follow Khalil and Kleinfinger's convention in its widest form: the frame of joint j is the
frame of its antecedent, moved by a constant placement and then by the joint about or along its
own z axis.  Both modified Denavit-Hartenberg parameters and URDF joints become this.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.couplings import Coupling, LoopRelation
from robot_identification.robot.experiment import Controller, SimulatedExperiment, Workspace
from robot_identification.robot.joint import Joint, JointType
from robot_identification.robot.parameters import AddedParameter, Layout, unit
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.robot.terms.joint_terms import TERMS
from robot_identification.robot.terms.measured_range import MeasuredRange
from robot_identification.robot.terms.springs import Spring
from robot_identification.robot.terms.temperature import (
    KINDS,
    TemperatureTerm,
    temperature_term,
)
from robot_identification.robot.terms.user_terms import TermOfJoint, term_of_joint


class EffortMeaning(Enum):
    """Meaning of the efforts of a recording."""

    JOINT_TORQUE = "joint_torque"
    MOTOR_TORQUE = "motor_torque"
    CURRENT = "current"


class PositionMeaning(Enum):
    """Side of the transmission where positions are measured."""

    JOINT = "joint"
    MOTOR = "motor"


@by_value
@dataclass(frozen=True)
class RobotModel:
    """A serial or tree robot whose dynamic parameters are to be identified.

    Attributes:
        name: name of the robot.
        base_link: name of the link that does not move.
        joints: in an order where every antecedent comes before its successors.
        gravity: (3,) acceleration of gravity in the base frame, in m/s^2.
        couplings: parameters that act across joints.
        loops: joints that follow others; what does not know closed loops must refuse a robot
            that has any.
        springs: between points of two links.
        fixed_joints: names of joints of its URDF that stand still -> their positions, in rad or m.
        held: name of a joint -> (10,) XX XY XZ YY YZ ZZ MX MY MZ M in its frame of what hangs on it
            by these, as the URDF states it; joints of which it states nothing are left out.
        effort_meaning: what recorded efforts are; None where nobody has said.
        effort_meaning_reason: who has said so, ``robot file``, ``option``, or a live
            ``recording``.
        position_meaning: where recorded positions are measured.
        loads: (full columns,) the parameters whose efforts load-dependent friction follows; None
            where nobody has said, see :mod:`.terms.kinds`.
        measured: speeds and loads of the recordings that its friction law was identified from;
            None where nobody has said.
        processing: recommended signal processing.
        controller: declared control law, None where the file has none.
        workspace: box that the tool point must not leave, None where the file has none.
        experiment: how an experiment is simulated, None where the file has none.
        digest: SHA-256 of the file the model was read from, empty where there is none.
        file: that file, None where there is none.
        warnings: what was passed over in the description, for people.
    """

    name: str
    base_link: str
    joints: tuple[Joint, ...]
    gravity: Array
    couplings: tuple[Coupling, ...] = ()
    loops: tuple[LoopRelation, ...] = ()
    springs: tuple[Spring, ...] = ()
    fixed_joints: Mapping[str, float] = field(default_factory=dict)
    held: Mapping[str, Array] = field(default_factory=dict, compare=False, repr=False)
    effort_meaning: EffortMeaning | None = None
    position_meaning: PositionMeaning = PositionMeaning.JOINT
    loads: Array | None = field(default=None, compare=False)
    measured: MeasuredRange | None = field(default=None, compare=False)
    processing: ProcessingSettings = field(default_factory=ProcessingSettings)
    controller: Controller | None = None
    workspace: Workspace | None = None
    experiment: SimulatedExperiment | None = None
    digest: str = ""
    file: Path | None = field(default=None, compare=False, repr=False)
    warnings: tuple[str, ...] = field(default=(), compare=False, repr=False)
    effort_meaning_reason: str = field(default="robot file", compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "gravity", read_only(self.gravity))
        object.__setattr__(self, "fixed_joints", MappingProxyType(dict(self.fixed_joints)))
        held = {name: read_only(standard) for name, standard in self.held.items()}
        object.__setattr__(self, "held", MappingProxyType(held))
        if self.loads is not None:
            object.__setattr__(self, "loads", read_only(self.loads))

    def __repr__(self) -> str:
        count = len(self.joints)
        names = ", ".join(self.joint_names if count <= 8 else (*self.joint_names[:7], "..."))
        return f"<RobotModel: {self.name}, {count} joint{'s'[: count > 1]}: {names}>"

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, in the order of the model."""
        return tuple(joint.name for joint in self.joints)

    @cached_property
    def active_joints(self) -> tuple[Joint, ...]:
        """The joints that can be moved independently, in the order of the model.

        Positions, efforts and references of a robot have a column for each of them; without
        loops they are all joints.
        """
        following = {loop.joint for loop in self.loops}
        return tuple(joint for joint in self.joints if joint.name not in following)

    @cached_property
    def active_names(self) -> tuple[str, ...]:
        """Names of the joints that can be moved independently, in the order of the model."""
        return tuple(joint.name for joint in self.active_joints)

    @cached_property
    def layout(self) -> Layout:
        """Places of the standard parameters in a full vector."""
        terms = tuple(
            term
            for term in TERMS
            if term.default or any(term.name in joint.terms for joint in self.joints)
        )
        shared = tuple(coupling.parameter for coupling in self.couplings)
        return Layout(len(self.joints), terms, shared, tuple(self.added_parameters))

    @cached_property
    def added_parameters(self) -> Mapping[str, AddedParameter]:
        """Parameters that are none of links, joint terms or couplings, by name and in order."""
        found = [parameter for spring in self.springs for parameter in spring.parameters]
        found += [parameter for own in self.user_terms for parameter in own.parameters]
        found += [own.parameter for own in self.temperature_terms]
        return MappingProxyType({parameter.name: parameter for parameter in found})

    @cached_property
    def user_terms(self) -> tuple[TermOfJoint, ...]:
        """Terms that other packages give, joint by joint."""
        return tuple(
            term_of_joint(i, joint.name, name, term, prismatic=joint.type is JointType.PRISMATIC)
            for i, joint in enumerate(self.joints)
            for name, term in joint.user_terms.items()
        )

    @cached_property
    def temperature_terms(self) -> tuple[TemperatureTerm, ...]:
        """What changes with the temperature of joints, joint by joint."""
        return tuple(
            temperature_term(
                i,
                joint.name,
                term,
                joint.temperature.reference,
                prismatic=joint.type is JointType.PRISMATIC,
            )
            for i, joint in enumerate(self.joints)
            if joint.temperature is not None
            for term in joint.joint_terms
            if term.kind in KINDS
        )

    @property
    def follows_load(self) -> bool:
        """Whether friction of a joint depends on what it carries."""
        return any(term.kind.follows_load for joint in self.joints for term in joint.joint_terms)

    def loaded_by(self, values: npt.ArrayLike) -> RobotModel:
        """Return the robot with friction that follows the load of given parameters.

        Args:
            values: (full columns,) the parameters.
        """
        return replace(self, loads=np.asarray(values)) if self.follows_load else self

    @property
    def coupling_parameters(self) -> tuple[str, ...]:
        """Names of the parameters that couplings add to those of the joints."""
        return self.layout.couplings

    @property
    def all_parameter_names(self) -> tuple[str, ...]:
        """Names of all parameters, one per column of the regressor: joints', couplings', added."""
        return self.layout.names

    @cached_property
    def standard_indices(self) -> npt.NDArray[np.intp]:
        """Columns of the full regressor that belong to the model (joint terms may not)."""
        kept = np.ones(len(self.layout.names), dtype=np.bool_)
        table = self.layout.table(kept)
        for row, joint in zip(table, self.joints, strict=True):
            for place, term in self.layout.places:
                row[place] = term.name in joint.terms
        return read_only(np.flatnonzero(kept), np.intp)

    @cached_property
    def standard_names(self) -> tuple[str, ...]:
        """Names of the standard parameters that belong to the model."""
        return tuple(self.all_parameter_names[i] for i in self.standard_indices)

    def unit_of(self, parameter: str) -> str:
        """Return the SI unit of a standard parameter, such as ``ZZ1``."""
        if parameter in self.added_parameters:
            return self.added_parameters[parameter].unit
        number = int("0" + "".join(c for c in parameter if c.isdigit()))
        known = 1 <= number <= len(self.joints)
        prismatic = known and self.joints[number - 1].type is JointType.PRISMATIC
        return unit(parameter, prismatic=prismatic)

    @cached_property
    def motor_matrix(self) -> Array:
        """(active, active) matrix N of the transmission: motor velocity = N joint velocity.

        Joint torque is N^T motor torque (Gautier and Venture 2013, eq. 34).  Joints without a
        stated transmission have ratio 1.  A motor that moves with a joint that follows others
        moves with these; motors of joints that follow are not part of it.
        """
        place = {name: i for i, name in enumerate(self.active_names)}
        follows = {loop.joint: loop.equals for loop in self.loops}
        matrix = np.eye(len(place))
        for i, joint in enumerate(self.active_joints):
            if joint.transmission:
                matrix[i] = 0.0
                for name, ratio in joint.transmission.items():
                    for other, factor in follows.get(name, {name: 1.0}).items():
                        matrix[i, place[other]] += ratio * factor
        return read_only(matrix)

    @cached_property
    def ancestors(self) -> npt.NDArray[np.bool_]:
        """(joints, joints) table: [k, j] tells whether joint k moves link j (k = j included)."""
        n = len(self.joints)
        table = np.zeros((n, n), dtype=np.bool_)
        for j in range(n):
            k = j
            while k >= 0:
                table[k, j] = True
                k = self.joints[k].antecedent
        return read_only(table, np.bool_)
