"""The document of a robot file, also of one that joins a URDF with another robot file.

Such a file has two entries and nothing else, and nodes write it where a robot is described on a
topic:

    urdf: arm-3f2a91c04d5e.urdf
    robot_defaults: /home/me/my_arm.yaml

The robot is that of the other robot file, described by this URDF, whichever URDF that one names.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from robot_identification.robot.files.document import Document, read_document

URDF, DEFAULTS = "urdf", "robot_defaults"
"""Keys of a file that joins a URDF with a robot file."""


def robot_document(path: Path) -> Document:
    """Read a robot file.

    Args:
        path: the file; what it names is sought beside it.

    Returns:
        Its content; of a file that joins two, that of the robot file, with the URDF in place of
        the one that stands there.

    Raises:
        RobotDescriptionError: a file cannot be read, or is not what it should be; with the line.
    """
    document = read_document(path)
    data = document.data
    if not isinstance(data, dict) or DEFAULTS not in data:
        return document
    for key in (URDF, DEFAULTS):
        if not isinstance(data.get(key), str) or not data[key]:
            raise document.error("name a file here", key)
    for key in data:
        if key not in (URDF, DEFAULTS):
            raise document.error(f"goes into the file that {DEFAULTS} names", key)
    named = read_document(path.parent / data[DEFAULTS])
    if not isinstance(named.data, dict) or DEFAULTS in named.data:
        raise document.error("is no robot file that stands for itself", DEFAULTS)
    urdf = str((path.parent / data[URDF]).absolute())
    return replace(named, data={**named.data, URDF: urdf})
