"""The metadata of a bag, looked at before another library builds data from them.

What that library makes of a few bytes is without bounds: an alias may stand for gigabytes, and deep
or long metadata take it minutes.  Those that rosbag2 writes have no aliases and are flat and short.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from robot_identification.errors import BagError, RobotDescriptionError
from robot_identification.robot.files.document import Accepted, read_document

NAME = "metadata.yaml"
_ACCEPTED = Accepted(entries=80_000, levels=50, by_people=False)


def check_metadata(path: Path) -> None:
    """Refuse metadata that are no YAML, or larger, deeper or trickier than those of any bag.

    Args:
        path: the file; nothing is done where there is none.

    Raises:
        BagError: the metadata are refused, or cannot be read.
    """
    if path.is_file():
        _check_files(path, read_metadata(path))


def read_metadata(path: Path) -> Any:
    """Return the metadata in a file as plain data.

    Raises:
        BagError: they are refused, or cannot be read.
    """
    try:
        return read_document(path, _ACCEPTED).data
    except RobotDescriptionError as error:
        raise BagError(path, f"cannot be read: {error.told}") from error


def _check_files(path: Path, metadata: Any) -> None:
    """Refuse a data file that is named twice: its messages would count twice."""
    about = metadata.get("rosbag2_bagfile_information") if isinstance(metadata, dict) else None
    names = about.get("relative_file_paths") if isinstance(about, dict) else None
    if isinstance(names, list) and len({str(name) for name in names}) < len(names):
        raise BagError(path, "names a data file twice")
