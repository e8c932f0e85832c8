"""From a robot file in YAML to the model of the robot; docs/robot_file.md describes the format."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from robot_identification.robot.files.document import Document
from robot_identification.robot.files.robot_yaml import sections as yaml_sections
from robot_identification.robot.files.robot_yaml.document import robot_document
from robot_identification.robot.files.robot_yaml.joints import described_joints, overlaid_joints
from robot_identification.robot.files.robot_yaml.springs import springs
from robot_identification.robot.files.schema import check
from robot_identification.robot.files.urdf.fixed_joints import check_fixed_joints, read_fixed_joints
from robot_identification.robot.files.urdf.robot import STANDARD_GRAVITY, UrdfDescription, read_urdf
from robot_identification.robot.limits import wide_ranges
from robot_identification.robot.model import EffortMeaning, PositionMeaning, RobotModel


def read_yaml(path: Path) -> RobotModel:
    """Read a robot file.

    Raises:
        RobotDescriptionError: the file, or the URDF that it names, is wrong; with file, line
            and field.
    """
    return build(robot_document(path))


def build(document: Document) -> RobotModel:
    """Return the robot that a document describes.

    Args:
        document: content of a robot file; a URDF that it names is sought beside its path.

    Raises:
        RobotDescriptionError: the document does not follow the schema, or contradicts itself.
    """
    check(document, "robot")
    data = document.data
    if isinstance(data.get("cell"), dict):
        check(document, "cell", "cell")
    fixed = read_fixed_joints(document)
    if "urdf" in data:
        path = Path(document.path).parent / data["urdf"]
        urdf = read_urdf(path, allow_mimic=True, fixed=fixed)
        check_fixed_joints(document, fixed, urdf.joints)
        base_link, digest = urdf.robot.base_link, _joined(document.digest, urdf.robot.digest)
        joints = overlaid_joints(document, urdf.robot.joints)
    elif "joints" in data:
        urdf = None
        base_link, digest = data.get("base_link", "base"), document.digest
        joints = described_joints(document, base_link)
    else:
        raise document.error("the key joints is missing; or name a URDF with the key urdf")
    loops = yaml_sections.loops(document, joints)
    active = len(joints) - len(loops)
    robot = RobotModel(
        name=data["name"],
        base_link=base_link,
        joints=joints,
        gravity=np.array(data.get("gravity", STANDARD_GRAVITY)),
        fixed_joints=fixed,
        held={} if urdf is None else urdf.held_standard(),
        couplings=yaml_sections.couplings(document, joints),
        loops=loops,
        effort_meaning=EffortMeaning(data["effort_meaning"]),
        position_meaning=PositionMeaning(data.get("position_meaning", "joint")),
        processing=yaml_sections.processing(document, active),
        controller=yaml_sections.controller(document, active),
        workspace=yaml_sections.workspace(document),
        experiment=yaml_sections.experiment(document, active),
        digest=digest,
        warnings=() if urdf is None else urdf.robot.warnings,
    )
    _check_transmission(document, robot)
    if urdf is not None:
        _check_mimic(document, urdf, robot)
    relations = () if urdf is None else _other_relations(urdf, robot)
    robot = replace(robot, warnings=(*robot.warnings, *relations, *wide_ranges(robot)))
    frames = {} if urdf is None else urdf.frames
    robot = replace(robot, springs=springs(document, robot, frames))
    _check_temperature(document, robot)
    _check_added(document, robot)
    return robot


def _joined(*digests: str) -> str:
    return hashlib.sha256("".join(digests).encode()).hexdigest() if all(digests) else ""


def _check_temperature(document: Document, robot: RobotModel) -> None:
    """Refuse temperatures of a robot with loops, and of joints that have nothing to change."""
    for i, entry in enumerate(document.data.get("joints", ())):
        if "temperature" not in entry:
            continue
        path = ("joints", i, "temperature")
        if robot.loops:
            raise document.error("is not known to robots with loops; leave it out", *path)
        joint = robot.joint_names.index(entry["name"])
        if not any(own.joint == joint for own in robot.temperature_terms):
            raise document.error(
                "the joint has neither viscous nor Coulomb friction nor an offset", *path
            )


def _check_transmission(document: Document, robot: RobotModel) -> None:
    for i, entry in enumerate(document.data.get("joints", ())):
        given = entry.get("transmission", {})
        if isinstance(given, dict):
            path = ("joints", i, "transmission")
            yaml_sections.known_joints(document, given, robot.joints, *path)
    scaled = robot.motor_matrix / np.abs(robot.motor_matrix).max(axis=1, initial=1e-300)[:, None]
    if np.linalg.matrix_rank(scaled) < len(robot.active_joints):
        raise document.error(
            "the transmission ratios do not determine the joints' motion from the motors'", "joints"
        )


def _check_added(document: Document, robot: RobotModel) -> None:
    """Refuse terms of users whose parameters are called as others of the robot."""
    seen = {*robot.coupling_parameters, *(own.parameter.name for own in robot.temperature_terms)}
    for term in robot.user_terms:
        for own in term.parameters:
            if own.name in seen:
                raise document.error(
                    f"the joint term {term.name} of {own.owner} has the parameter {own.name}, "
                    "which the robot has already",
                    "joints",
                )
            seen.add(own.name)


_SAME = 1e-3  # of a factor, or rad or m: URDFs and robot files are written with a few digits


def _other_relations(urdf: UrdfDescription, robot: RobotModel) -> Iterator[str]:
    """Give out what is to be told of loops that say otherwise than the URDF how a joint follows."""
    for loop in robot.loops:
        if loop.joint not in urdf.mimics:
            continue
        found = urdf.followed(loop.joint)
        factors = {found.joint: found.multiplier}
        known = {*factors, *loop.equals}
        if not known <= set(robot.active_names):
            continue  # in other joints, of which the URDF says nothing
        away = max(abs(factors.get(name, 0.0) - loop.equals.get(name, 0.0)) for name in known)
        if max(away, abs(found.offset - loop.offset)) > _SAME:
            yield (
                f"loops: {loop.joint} follows otherwise than in the URDF, where it is "
                f"{found.multiplier:g} times {found.joint} plus {found.offset:g}; the robot file "
                "counts"
            )


def _check_mimic(document: Document, urdf: UrdfDescription, robot: RobotModel) -> None:
    """Refuse mimic joints of the URDF that the file does not declare."""
    declared = {loop.joint for loop in robot.loops}
    for name, leader in urdf.mimics.items():
        if name not in declared:
            raise document.error(
                f"joint {name} of the URDF mimics {leader}; name {urdf.to_hold(name)} under "
                "fixed_joints if both stand still, or declare the relation under loops if they "
                "move",
                "urdf",
            )
