"""Bodies of a robot from the collision elements of its URDF; meshes become convex hulls."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

import numpy as np

from robot_identification.collision.bodies.hulls import hull
from robot_identification.collision.bodies.shapes import (
    Box,
    Capsule,
    Cylinder,
    Shape,
    Sphere,
    meant_in_mm,
)
from robot_identification.collision.engine import load_mesh
from robot_identification.collision.scene import CollisionBody, LeftOut
from robot_identification.errors import MissingMeshError, SettingError
from robot_identification.robot.files.urdf.elements import pose
from robot_identification.robot.files.urdf.robot import UrdfDescription
from robot_identification.robot.files.urdf.xml_document import Element, read_xml
from robot_identification.robot.model import RobotModel


def read_srdf(path: Path) -> tuple[LeftOut, ...]:
    """Return the pairs that an SRDF disables, with its reasons.

    Args:
        path: the file.

    Raises:
        RobotDescriptionError: it cannot be read, or is no SRDF.
    """
    root, _ = read_xml(path)
    if root.tag != "robot":
        raise root.error(f"<{root.tag}> is not <robot>; is this an SRDF?")
    return tuple(
        LeftOut(
            entry.text("link1"),
            entry.text("link2"),
            f"{path.name}: {entry.attributes.get('reason', 'disabled')}",
        )
        for entry in root.all("disable_collisions")
    )


_PACKAGE = "package://"
_SCALE = 'scale="0.001 0.001 0.001"'  # of a mesh in mm


def urdf_bodies(
    description: UrdfDescription, path: Path, robot: RobotModel
) -> tuple[CollisionBody, ...]:
    """Return the bodies of all links, those behind fixed joints included.

    Args:
        description: of the URDF.
        path: of the URDF; meshes are looked for beside it and in the packages of ROS.
        robot: the robot; joints of the URDF that it lacks are an error.

    Raises:
        RobotDescriptionError: a collision element is wrong, or so large that it is in mm, or a mesh
            cannot be read.
        MissingMeshError: a mesh cannot be found.
        MissingPackageError: there are meshes, and coal, which reads them, is not installed.
    """
    place = {name: index for index, name in enumerate(robot.joint_names)}
    moved_by = description.robot.joint_names
    bodies = []
    for name, link in description.links.items():
        frame = description.frames[name]
        joint = place[moved_by[frame.joint]] if frame.joint >= 0 else -1
        elements = link.element.all("collision")
        for number, element in enumerate(elements):
            turn, where = pose(element.first("origin"))
            for part, shape in enumerate(_shapes(element, link.element, path)):
                if joint >= 0 and (wrong := meant_in_mm(shape, turn, where, _SCALE)):
                    raise element.error(wrong, link.element.label)
                several = len(elements) > 1 or part > 0
                suffix = f" ({number + 1}.{part + 1})" if several else ""
                bodies.append(
                    CollisionBody(
                        name=f"{name}{suffix}",
                        link=name,
                        joint=joint,
                        shape=shape,
                        rotation=frame.rotation @ turn,
                        translation=frame.translation + frame.rotation @ where,
                    )
                )
    return tuple(bodies)


def connected_links(description: UrdfDescription, shaped: Collection[str]) -> set[frozenset[str]]:
    """Return the pairs of links that a joint connects.

    Links without a shape that are fixed to another count as part of it: what is meant is that
    nothing with a shape lies between.  What is fixed beside the joint, as a tool on a flange is,
    is not connected with what is beyond it.

    Args:
        description: of the URDF.
        shaped: names of the links that have shapes.
    """
    carried_by = {joint.child: joint for joint in description.joints.values()}

    def shown(link: str) -> str:
        """Return the first link with a shape, from here to the base, that moves with a link."""
        while link not in shaped and link in carried_by and carried_by[link].type == "fixed":
            link = carried_by[link].parent
        return link

    pairs = set()
    for link in shaped:
        joint = carried_by.get(link)
        while joint is not None and joint.type == "fixed" and joint.parent not in shaped:
            joint = carried_by.get(joint.parent)
        if joint is not None and joint.type != "fixed":
            pairs.add(frozenset((link, shown(joint.parent))))
    return pairs


def _solid(geometry: Element) -> Shape | None:
    """Return the shape of a geometry by its sizes; None for another one, such as a mesh.

    Raises:
        SettingError: a size is none.
    """
    box, sphere = geometry.one("box"), geometry.one("sphere")
    cylinder, capsule = geometry.one("cylinder"), geometry.one("capsule")
    if box is not None:
        x, y, z = box.numbers("size", 3)
        return Box((x, y, z))
    if sphere is not None:
        return Sphere(sphere.number("radius"))
    if cylinder is not None:
        return Cylinder(cylinder.number("radius"), cylinder.number("length"))
    if capsule is not None:
        return Capsule(capsule.number("radius"), capsule.number("length"))
    return None


def _shapes(collision: Element, link: Element, path: Path) -> list[Shape]:
    """Return the shapes of a collision element."""
    geometry = collision.one("geometry")
    if geometry is None:
        raise collision.error("<geometry> is missing", link.label)
    try:
        solid = _solid(geometry)
    except SettingError as error:
        advice = "give it a size, or leave the <collision> of a link without a body out"
        raise geometry.error(f"{error}; {advice}", link.label) from error
    if solid is not None:
        return [solid]
    mesh = geometry.one("mesh")
    if mesh is None:
        raise geometry.error("needs a box, sphere, cylinder, capsule or mesh", link.label)
    scale = np.array(mesh.numbers("scale", 3) if "scale" in mesh.attributes else (1.0, 1.0, 1.0))
    file = mesh_path(mesh.text("filename"), path)
    if file is None:
        raise MissingMeshError(
            mesh.text("filename"),
            path=mesh.path,
            line=mesh.line,
            field=f"{link.label}.{mesh.label}",
        )
    return [hull(vertices, file) for vertices in load_mesh(file, scale)]


def mesh_path(name: str, urdf: Path) -> Path | None:
    """Return the file that a URDF calls a mesh; None where there is none.

    Args:
        name: ``package://PACKAGE/...``, ``file://...``, or a path relative to the URDF.
        urdf: the URDF.
    """
    if not name.startswith(_PACKAGE):
        found = urdf.parent / name.removeprefix("file://")
        return found if found.is_file() else None
    package, _, inside = name.removeprefix(_PACKAGE).partition("/")
    for folder in _package_folders(package, urdf):
        if (folder / inside).is_file():
            return folder / inside
    return None


def _package_folders(package: str, urdf: Path) -> list[Path]:
    """Return where the files of a package may be: around the URDF, then as ROS looks for it."""
    folders = []
    for parent in urdf.resolve().parents:
        if parent.name == package:
            folders.append(parent)
        folders.append(parent / package)
    folders += [prefix / "share" / package for prefix in _paths("AMENT_PREFIX_PATH")]
    for root in _paths("ROS_PACKAGE_PATH"):
        folders += [root / package, root] if root.name == package else [root / package]
    return folders


def _paths(variable: str) -> list[Path]:
    return [Path(entry) for entry in os.environ.get(variable, "").split(os.pathsep) if entry]
