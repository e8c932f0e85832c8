"""Pairs of links whose distance need not be kept, by an SRDF of MoveIt."""

from __future__ import annotations

from pathlib import Path

from robot_identification.collision.scene import LeftOut
from robot_identification.robot.files.xml_document import read_xml


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
