"""A URDF with other inertials and friction; everything else of its text stays as it was.

What fixed joints hang on a moving link is part of that link's body, so its own inertial goes.
What hangs on joints that only the robot file holds fixed keeps its own: in the URDF it moves.
Where such a link has a collision geometry, a massless inertial takes its place: MuJoCo gives a
link without one the mass of that geometry at the density of water.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from robot_identification.files.export.bodies import LinkBody, link_bodies, require_consistent
from robot_identification.files.export.text import comment, number, numbers
from robot_identification.files.export.xml_surgery import Edit, Surgery, applied
from robot_identification.robot.bodies import Body
from robot_identification.robot.files.urdf.elements import UrdfJoint, UrdfLink
from robot_identification.robot.files.urdf.prior import values_of_urdf
from robot_identification.robot.files.urdf.robot import UrdfDescription, parse_urdf_of
from robot_identification.robot.files.urdf.xml_document import Element, parse_xml, utf8
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.joint_terms import TERMS

_NO_MASS = Body(0.0, np.zeros(3), np.zeros((3, 3)))


def rewritten_urdf(
    text: str, robot: RobotModel, values: npt.ArrayLike, *, name: str = "<string>"
) -> str:
    """Return the text of a URDF with the inertials and the friction of given parameters.

    Every moving link gets mass, centre of mass and inertia in its own frame, with axes along that
    frame; every moving joint its damping Fv and friction Fc, or those nearest to its friction law,
    with a comment that says so.  What does not move, and what a URDF
    has no place for (Ia, off, couplings), is not touched.

    Args:
        text: a URDF of the robot.
        robot: the robot; its frames may be placed otherwise than those of the URDF.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.
        name: what the URDF is called in errors.

    Raises:
        RobotDescriptionError: the URDF is wrong or of another robot.
        ShapeError: the number of values differs.
        SampleError: a value is NaN or infinite.
        InconsistentParametersError: a link or a friction cannot exist, as it is given or as it is
            read back.
    """
    description = parse_urdf_of(text, name, robot)
    bodies = link_bodies(robot, values, description, name=name, apart=True)
    data = utf8(text, name)
    surgery = Surgery(data, parse_xml(data, name, encoding="utf-8"))
    edits = _link_edits(surgery, description, {body.link: body for body in bodies})
    for body in bodies:
        edits += _dynamics_edits(surgery, description.joints[body.joint], body)
    result = applied(data, edits).decode("utf-8")
    require_consistent(robot, values_of_urdf(result, robot, name=name))
    return result


def inertial_lines(body: Body) -> list[tuple[int, str]]:
    """Return an <inertial> element as (depth, text) of each line."""
    inside = (
        ("origin", {"xyz": numbers(body.centre), "rpy": "0 0 0"}),
        ("mass", {"value": number(body.mass)}),
        ("inertia", inertia_attributes(body)),
    )
    return [
        (0, "<inertial>"),
        *((1, f"<{tag} {_written(attributes)}/>") for tag, attributes in inside),
        (0, "</inertial>"),
    ]


def inertia_attributes(body: Body) -> dict[str, str]:
    """Return the six attributes of an <inertia> element."""
    axes = "xyz"
    return {
        f"i{axes[i]}{axes[j]}": number(body.inertia[i, j])
        for i, j in zip(*np.triu_indices(3), strict=True)
    }


def dynamics_attributes(body: LinkBody) -> dict[str, str]:
    """Return the attributes of a <dynamics> element."""
    return {name: number(value) for name, value in _friction(body).items()}


def _friction(body: LinkBody) -> dict[str, float]:
    """Return the joint terms that a URDF has a place for, by their attributes."""
    known = (term for term in TERMS if term.urdf and term.name in body.terms)
    return {term.urdf: body.plain_terms[term.name] for term in known}


def _written(attributes: Mapping[str, str]) -> str:
    return " ".join(f'{name}="{text}"' for name, text in attributes.items())


def _link_edits(
    surgery: Surgery, description: UrdfDescription, bodies: Mapping[str, LinkBody]
) -> list[Edit]:
    edits: list[Edit] = []
    for name, link in description.links.items():
        if name in bodies:
            edits += _inertial_edits(surgery, link, bodies[name].body)
        elif description.frames[name].joint >= 0 and name not in description.held_links:
            edits += _lumped_edits(surgery, link)
    return edits


def _inertial_edits(surgery: Surgery, link: UrdfLink, body: Body) -> list[Edit]:
    """Return the edits that give a link the inertial of a body."""
    inertial = link.element.one("inertial")
    if inertial is None:
        return [surgery.insert_first(link.element, inertial_lines(body))]
    edits = []
    origin = inertial.first("origin")
    pose = {"xyz": numbers(body.centre), "rpy": "0 0 0"}
    if origin is None:
        edits.append(surgery.insert_first(inertial, [(0, f"<origin {_written(pose)}/>")]))
    for tag, attributes in (
        ("origin", pose),
        ("mass", {"value": number(body.mass)}),
        ("inertia", inertia_attributes(body)),
    ):
        element = inertial.one(tag)
        if element is not None:
            edits += surgery.set_attributes(element, _changed(element, attributes))
    return edits


def _changed(element: Element, attributes: Mapping[str, str]) -> dict[str, str]:
    """Return the attributes that an element does not state with these very numbers already."""
    return {
        name: text
        for name, text in attributes.items()
        if _parsed(element.attributes.get(name, "")) != _parsed(text)
        and not (name == "rpy" and name not in element.attributes)
    }


def _parsed(text: str) -> list[float]:
    return [float(part) for part in text.split()]


def _lumped_edits(surgery: Surgery, link: UrdfLink) -> list[Edit]:
    """Return the edits that take the mass of a link away."""
    inertial = link.element.one("inertial")
    if link.inertial is not None and not link.inertial.mass and not link.inertial.inertia.any():
        return []
    if not link.element.all("collision"):
        return [] if inertial is None else [surgery.remove(inertial)]
    if inertial is None:
        return [surgery.insert_first(link.element, inertial_lines(_NO_MASS))]
    return _inertial_edits(surgery, link, _NO_MASS)


def _dynamics_edits(surgery: Surgery, joint: UrdfJoint, body: LinkBody) -> list[Edit]:
    """Return the edits that give a joint its friction."""
    attributes = dynamics_attributes(body)
    element, wanted = joint.element.one("dynamics"), _friction(body)
    if element is not None:
        changed = {n: attributes[n] for n in wanted if joint.dynamics.get(n, 0.0) != wanted[n]}
        said = [surgery.insert_after(element, comment(body.remark))] if body.remark else []
        return [*surgery.set_attributes(element, changed), *said]
    if not any(wanted.values()):
        return []
    last = joint.element.children[-1]
    line = f"<dynamics {_written(attributes)}/>"
    return [surgery.insert_after(last, f"{line} {comment(body.remark)}" if body.remark else line)]
