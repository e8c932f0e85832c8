"""Links of a robot as bodies with values, which every export writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.direct import checked_values
from robot_identification.errors import InconsistentParametersError
from robot_identification.files.export.friction import PlainFriction, plain_friction
from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.bodies import Body, body_of, pseudo_inertia
from robot_identification.robot.couplings import Coupling
from robot_identification.robot.files.urdf.prior import joint_places
from robot_identification.robot.files.urdf.robot import UrdfDescription
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.joint_terms import SignCondition


@dataclass(frozen=True)
class LinkBody:
    """Bodies that one joint moves, fixed to each other.

    Attributes:
        joint: name of the joint.
        link: name of the link that it moves, and of the frame: the link's own in a URDF, else
            frame j of the robot.
        body: the body, seen from that frame.
        terms: name of a joint term, such as ``Fv`` -> its value, for every term of the robot.
        plain: Coulomb and viscous friction that stand for a friction law in formats without one;
            None where the joint has no other friction.
        lumped: names of the other links of a URDF that are fixed to this one and state inertials;
            the body has theirs.
    """

    joint: str
    link: str
    body: Body
    terms: Mapping[str, float]
    plain: PlainFriction | None = None
    lumped: tuple[str, ...] = ()

    @property
    def plain_terms(self) -> Mapping[str, float]:
        """The terms for formats that know Coulomb and viscous friction only."""
        return self.terms if self.plain is None else {**self.terms, **self.plain.values}

    @property
    def remark(self) -> str:
        """What these stand for, and how far they are off; empty where they are exact."""
        return "" if self.plain is None else self.plain.remark

    @property
    def lumped_remark(self) -> str:
        """What must go where the macro takes the place of the link's own; empty where nothing."""
        if not self.lumped:
            return ""
        return (
            f"link {self.link}: its inertial in the xacro file has that of "
            f"{', '.join(self.lumped)}, fixed to it; where its macro is used, remove <inertial> "
            "there (a URDF that is written needs nothing of that)"
        )


def link_bodies(
    robot: RobotModel,
    values: npt.ArrayLike,
    description: UrdfDescription | None = None,
    *,
    name: str = "<string>",
    apart: bool = False,
) -> tuple[LinkBody, ...]:
    """Return the links of a robot as bodies, in the order of its joints.

    Args:
        robot: the robot.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.
        description: a URDF of the robot whose link frames are to be used; by default those of
            the robot.
        name: what the URDF is called in errors.
        apart: whether what hangs on joints that the robot file holds fixed is left out, because it
            keeps its own inertials in the URDF.

    Raises:
        ShapeError: the number of values differs.
        SampleError: a value is NaN or infinite.
        InconsistentParametersError: see :func:`require_consistent`; nothing is left of a link.
        RobotDescriptionError: the URDF is of another robot.
    """
    vector = checked_values(robot, values)
    require_consistent(robot, vector)
    places = None if description is None else joint_places(description, robot, name)
    plain = plain_friction(robot, vector)
    found = []
    for index, joint in enumerate(robot.joints):
        link, body = joint.link, body_of(vector[robot.layout.link(index)])
        lumped: tuple[str, ...] = ()
        own = robot.layout.table(vector)[index]
        if description is not None and places is not None:
            link = description.joints[joint.name].child
            lumped = _lumped(description, joint.name)
            body = _into(body, places[index, :3, :3], places[index, :3, 3])
            body = _without_held(body, description, joint.name) if apart else body
            frame = description.frames[link]
            body = _into(body, frame.rotation, frame.translation)
        found.append(
            LinkBody(
                joint=joint.name,
                link=link,
                body=body,
                terms={term.name: float(own[place]) for place, term in robot.layout.places},
                plain=plain[index],
                lumped=lumped,
            )
        )
    return tuple(found)


def _into(body: Body, rotation: Array, translation: Array) -> Body:
    """Return a body seen from a frame that is placed so in the frame it is given in."""
    return body.seen_from(rotation.T, -rotation.T @ translation)


def _lumped(description: UrdfDescription, joint: str) -> tuple[str, ...]:
    """Return the links with inertials that fixed joints of a URDF hang on what a joint moves."""
    place = description.robot.joint_names.index(joint)
    apart = {description.joints[joint].child, *description.held_links}
    return tuple(
        name
        for name, frame in description.frames.items()
        if frame.joint == place
        and name not in apart
        and (own := description.links[name].inertial) is not None
        and (own.mass or own.inertia.any())
    )


def _without_held(body: Body, description: UrdfDescription, joint: str) -> Body:
    """Return the body that a joint moves without what joints carry that stand still.

    In the URDF these move, so that its links keep their own inertials there.

    Args:
        body: all that the joint moves, in its frame.
        description: the URDF.
        joint: name of the joint.

    Raises:
        InconsistentParametersError: what is left is no body.
    """
    held = description.held_bodies(joint)
    if not held:
        return body
    rest = np.array(body.standard)
    for own in held.values():
        rest -= own.standard
    if problem := _impossible(rest):
        raise InconsistentParametersError(
            f"link {description.joints[joint].child}",
            f"without {', '.join(held)}, whose inertials the URDF states (fixed_joints), "
            f"{problem} (where the parameters are consistent already, correct these inertials, or "
            "make the joints fixed in a copy of the URDF)",
        )
    return body_of(rest)


def _impossible(standard: Array) -> str:
    """Return why no body has ten standard parameters; empty where one has."""
    if standard[-1] <= 0.0:
        return f"its mass is {standard[-1]:g} kg"
    possible = np.linalg.eigvalsh(pseudo_inertia(standard))[0] > 0.0
    return "" if possible else "no distribution of mass has its inertia"


def require_consistent(robot: RobotModel, values: Array) -> None:
    """Refuse parameters of links and friction that cannot exist.

    Args:
        robot: the robot.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.

    Raises:
        InconsistentParametersError: a link has no positive mass or no positive definite
            pseudo-inertia, or a joint has negative friction, or a spring a negative stiffness.
    """
    for index, joint in enumerate(robot.joints):
        own = values[robot.layout.link(index)]
        if problem := _impossible(own):
            raise InconsistentParametersError(f"link {joint.link}", problem)
        for place, term in robot.layout.places:
            value = values[robot.layout.first(index) + place]
            if term.sign is SignCondition.NOT_NEGATIVE and value < 0.0:
                raise InconsistentParametersError(
                    f"joint {joint.name}", f"{term.name} is {value:g}, negative"
                )
    known = dict(zip(robot.all_parameter_names, values.tolist(), strict=True))
    for name, parameter in robot.added_parameters.items():
        if parameter.sign is SignCondition.NOT_NEGATIVE and known[name] < 0.0:
            raise InconsistentParametersError(
                parameter.owner, f"its {parameter.label} is {known[name]:g}, negative"
            )


@by_value
@dataclass(frozen=True)
class Mechanism:
    """A robot with values for its parameters.

    Attributes:
        robot: the robot.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.
        joints: one per joint of the robot, in its order.
    """

    robot: RobotModel
    values: Array
    joints: tuple[LinkBody, ...]

    def value(self, coupling: Coupling) -> float:
        """Return the value of the parameter of a coupling."""
        return float(self.values[self.robot.all_parameter_names.index(coupling.parameter)])


def mechanism_of(
    robot: RobotModel,
    values: npt.ArrayLike,
    description: UrdfDescription | None = None,
    *,
    apart: bool = False,
) -> Mechanism:
    """Return a robot with values for its parameters.

    Args:
        robot: the robot.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.
        description: a URDF of the robot whose link frames are to be used; by default those of
            the robot.
        apart: as for :func:`link_bodies`.

    Raises:
        ShapeError: the number of values differs.
        SampleError: a value is NaN or infinite.
        InconsistentParametersError: a link or a friction cannot exist.
        RobotDescriptionError: the URDF is of another robot.
    """
    vector = checked_values(robot, values)
    return Mechanism(robot, vector, link_bodies(robot, vector, description, apart=apart))
