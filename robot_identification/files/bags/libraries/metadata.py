"""Metadata of bags, checked before a library reads them.

What a library makes of a few bytes is without bounds: an alias may stand for gigabytes, and deep
or long metadata take it minutes.  Those that rosbag2 writes have no aliases and are flat and short.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robot_identification.errors import BagError, RobotDescriptionError
from robot_identification.robot.files.document import Accepted, read_document

METADATA = "metadata.yaml"
_ACCEPTED = Accepted(entries=80_000, levels=50, by_people=False)


def check_metadata(path: Path) -> None:
    """Refuse metadata that are no YAML, or larger, deeper or trickier than those of any bag.

    A data file that is named twice is refused too: its messages would count twice.

    Args:
        path: the file; nothing is done where there is none.

    Raises:
        BagError: the metadata are refused, or cannot be read.
    """
    if not path.is_file():
        return
    names = bag_information(path).get("relative_file_paths")
    if isinstance(names, list) and len({str(name) for name in names}) < len(names):
        raise BagError(path, "names a data file twice")


def bag_information(path: Path) -> Mapping[str, Any]:
    """Return what metadata say of a bag, as plain data; nothing where they say nothing.

    Raises:
        BagError: they are refused, or cannot be read.
    """
    metadata = read_metadata(path)
    about = metadata.get("rosbag2_bagfile_information") if isinstance(metadata, dict) else None
    return about if isinstance(about, dict) else {}


def read_metadata(path: Path) -> Any:
    """Return the metadata in a file as plain data.

    Raises:
        BagError: they are refused, or cannot be read.
    """
    try:
        return read_document(path, _ACCEPTED).data
    except RobotDescriptionError as error:
        raise BagError(path, f"cannot be read: {error.told}") from error
