"""Link frames that standard parameters are about, as parameter files state them.

The same robot may be described with other link frames, by a table and by a URDF, or by a table
with another zero position.  Its standard parameters have the same names then and other values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from robot_identification.robot.files.document import Document
from robot_identification.robot.geometry import geometric_parameters, placement
from robot_identification.robot.joint import GeometricParameters
from robot_identification.robot.model import RobotModel

SAME_PLACE = 1e-5
"""Entry of a rotation, or m: descriptions have six digits or more; what differs by less is not."""

_BASE = "base"


def geometry_entries(robot: RobotModel) -> dict[str, dict[str, str | float]]:
    """Return joint -> its antecedent, type and geometric parameters (rad, m), in their order."""
    return {
        joint.name: {
            "antecedent": robot.joint_names[joint.antecedent] if joint.antecedent >= 0 else _BASE,
            "type": joint.type.value,
            **asdict(geometric_parameters(joint)),
        }
        for joint in robot.joints
    }


def other_link_frames(robot: RobotModel, stated: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return what makes the link frames of a robot others than those that are stated.

    Where the base stands has no part in the parameters of links, so that the placement of joints
    that it carries may be another.

    Args:
        robot: the robot.
        stated: as of :func:`geometry_entries`.

    Returns:
        The first difference, for people; None where there is none.
    """
    if tuple(stated) != robot.joint_names:
        return f"they are of the joints {', '.join(stated)}, in this order"
    for joint, own in zip(robot.joints, geometry_entries(robot).values(), strict=True):
        before = stated[joint.name]
        for key in ("antecedent", "type"):
            if before[key] != own[key]:
                return f"the {key} of {joint.name} was {before[key]}, here it is {own[key]}"
        if joint.antecedent < 0:
            continue
        numbers = {key: value for key, value in before.items() if key not in ("antecedent", "type")}
        rotation, translation = placement(GeometricParameters(**numbers))
        turned = np.abs(rotation - joint.rotation).max()
        moved = np.abs(translation - joint.translation).max()
        if max(turned, moved) > SAME_PLACE:
            how = "turned otherwise" if turned > SAME_PLACE else "elsewhere"
            return f"the frame of {joint.name} is {how} in that of {own['antecedent']}"
    return None


def refuse_other_link_frames(document: Document, robot: RobotModel) -> None:
    """Refuse a checked file of parameters that states other link frames than those of a robot.

    Raises:
        RobotDescriptionError: it does; with file, line and field.
    """
    stated = document.data.get("provenance", {}).get("geometry")
    difference = None if stated is None else other_link_frames(robot, stated)
    if difference is not None:
        raise document.error(
            f"these values are about other link frames than those of {robot.name} here: "
            f"{difference}; give the robot file that they were calibrated with, or calibrate again",
            "provenance",
            "geometry",
        )
