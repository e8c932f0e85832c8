"""The links of a robot as bodies: mass, centre of mass and central inertia in a link's frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.direct import checked_values
from robot_identification.errors import InconsistentParametersError
from robot_identification.robot.bodies import Body, body_of, pseudo_inertia
from robot_identification.robot.files.urdf import UrdfDescription
from robot_identification.robot.files.urdf_prior import joint_places
from robot_identification.robot.model import Array, RobotModel
from robot_identification.robot.terms import SignCondition


@dataclass(frozen=True)
class LinkBody:
    """What one joint moves, with all that is fixed to it.

    Attributes:
        joint: name of the joint.
        link: name of the link that it moves, and of the frame: the link's own in a URDF, else
            frame j of the robot.
        body: the body, seen from that frame.
        terms: name of a joint term, such as ``Fv`` -> its value, for every term of the robot.
    """

    joint: str
    link: str
    body: Body
    terms: Mapping[str, float]


def link_bodies(
    robot: RobotModel,
    values: npt.ArrayLike,
    description: UrdfDescription | None = None,
    *,
    name: str = "<string>",
) -> tuple[LinkBody, ...]:
    """Return the links of a robot as bodies, in the order of its joints.

    Args:
        robot: the robot.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.
        description: a URDF of the robot whose link frames are to be used; by default those of
            the robot.
        name: what the URDF is called in errors.

    Raises:
        ShapeError: the number of values differs.
        SampleError: a value is NaN or infinite.
        InconsistentParametersError: see :func:`require_consistent`.
        RobotDescriptionError: the URDF is of another robot.
    """
    vector = checked_values(robot, values)
    require_consistent(robot, vector)
    places = None if description is None else joint_places(description, robot, name)
    found = []
    for index, joint in enumerate(robot.joints):
        link, body = joint.link, body_of(vector[robot.layout.link(index)])
        own = robot.layout.table(vector)[index]
        if description is not None and places is not None:
            link = description.joints[joint.name].child
            body = _into(body, places[index, :3, :3], places[index, :3, 3])
            frame = description.frames[link]
            body = _into(body, frame.rotation, frame.translation)
        found.append(
            LinkBody(
                joint=joint.name,
                link=link,
                body=body,
                terms={term.name: float(own[place]) for place, term in robot.layout.places},
            )
        )
    return tuple(found)


def _into(body: Body, rotation: Array, translation: Array) -> Body:
    """Return a body seen from a frame that is placed so in the frame it is given in."""
    return body.seen_from(rotation.T, -rotation.T @ translation)


def require_consistent(robot: RobotModel, values: Array) -> None:
    """Refuse parameters of links and friction that cannot exist.

    Args:
        robot: the robot.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.

    Raises:
        InconsistentParametersError: a link has no positive mass or no positive definite
            pseudo-inertia, or a joint has negative friction.
    """
    for index, joint in enumerate(robot.joints):
        own = values[robot.layout.link(index)]
        if own[-1] <= 0.0:
            raise InconsistentParametersError(f"link {joint.link}", f"its mass is {own[-1]:g} kg")
        if np.linalg.eigvalsh(pseudo_inertia(own))[0] <= 0.0:
            raise InconsistentParametersError(
                f"link {joint.link}", "no distribution of mass has its inertia"
            )
        for place, term in robot.layout.places:
            value = values[robot.layout.first(index) + place]
            if term.sign is SignCondition.NOT_NEGATIVE and value < 0.0:
                raise InconsistentParametersError(
                    f"joint {joint.name}", f"{term.name} is {value:g}, negative"
                )
