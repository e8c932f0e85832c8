"""Files of robots that were described on a topic, under names that follow from their content.

Plans, results and other processes read a robot from a file.  What a topic says becomes one, so that
all of them read the same, and so that a result can be worked with when the topic is long silent.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from robot_identification.errors import OutputError, RobotDescriptionError
from robot_identification.files.atomic import write_files_atomically
from robot_identification.files.output_folder import default_folder
from robot_identification.robot.files.loading import find_robot, is_robot_file, source_urdf
from robot_identification.robot.files.robot_yaml.document import DEFAULTS, URDF
from robot_identification.robot.files.urdf.robot import parse_urdf
from robot_identification.robot.files.urdf.xml_document import (
    MAXIMUM_BYTES,
    read_description,
    utf8,
)

FOLDER = "robot_descriptions"
_DIGITS = 12  # of the SHA-256 in a name
_LONGEST_NAME = 60
_DECLARED = re.compile(r"""\A(\ufeff?<\?xml[^>]*?)\s+encoding\s*=\s*(["'])([^"'>]*)\2""")


@dataclass(frozen=True)
class KeptDescription:
    """A description of a robot, as files.

    Attributes:
        source: what the robot is loaded from: ``urdf``, or a file that joins it with a robot file.
        urdf: the description.
        digest: SHA-256 of the description.
        remark: how the robot file names a URDF that is another; empty if it does not.
    """

    source: Path
    urdf: Path
    digest: str
    remark: str = ""


def description_bytes(text: str, name: str) -> bytes:
    """Return what a file holds of the description on a topic: its text in UTF-8.

    A file of the same text and encoding has the same bytes.

    Args:
        text: of a URDF.
        name: what it is called in errors.

    Raises:
        RobotDescriptionError: it is larger than a URDF may be, or holds half a character.
    """
    declared = _DECLARED.match(text)
    if declared is not None and not _is_true(declared[3].lower(), text):
        text = declared[1] + text[declared.end() :]
    data = utf8(text, name)
    if len(data) > MAXIMUM_BYTES:
        raise RobotDescriptionError(f"larger than {MAXIMUM_BYTES} bytes", path=name)
    return data


def _is_true(encoding: str, text: str) -> bool:
    """Tell whether a text in UTF-8 is read rightly by who believes that it is in an encoding."""
    return encoding == "utf-8" or (text.isascii() and not encoding.startswith(("utf-16", "ucs")))


def description_digest(text: str, name: str) -> str:
    """Return the SHA-256 of :func:`description_bytes`."""
    return hashlib.sha256(description_bytes(text, name)).hexdigest()


def keep_description(
    text: str, name: str, *, defaults: str = "", folder: Path | None = None
) -> KeptDescription:
    """Write the description of a robot to a file, and beside it, where there is one, a robot file.

    The names follow from robot and content, so that what is described again is where it was.

    Args:
        text: of a URDF.
        name: what it is called in errors, such as the topic.
        defaults: robot file that says what a URDF cannot; empty: none.
        folder: where to write; by default ``robot_descriptions`` below ``ROS_HOME``, or ``~/.ros``.

    Raises:
        RobotDescriptionError, UnknownRobotError: the text is no URDF that can be used, or the robot
            file is none; nothing has been written.
        OutputError: a file cannot be written.
    """
    data = description_bytes(text, name)
    described = parse_urdf(data.decode(), name, allow_mimic=True).robot
    completed = None if not defaults else _robot_file(defaults)
    place = default_folder(FOLDER) if folder is None else folder
    digest = hashlib.sha256(data).hexdigest()
    urdf = place / f"{_plain(described.name)}-{digest[:_DIGITS]}.urdf"
    files, source = [(urdf, data)], urdf
    if completed is not None:
        both = hashlib.sha256(f"{digest}{completed}".encode()).hexdigest()
        source = urdf.with_name(f"{_plain(completed.stem)}-{both[:_DIGITS]}.yaml")
        files.append((source, _joined(urdf, completed)))
    _write(place, files)
    return KeptDescription(source, urdf, digest, _remark(completed, digest))


def _robot_file(defaults: str) -> Path:
    path = find_robot(defaults)
    if not is_robot_file(defaults):
        raise RobotDescriptionError(
            f"{DEFAULTS} is a robot file (YAML), which says what a URDF cannot", path=path
        )
    return path.absolute()


def _joined(urdf: Path, completed: Path) -> bytes:
    lines = [
        "# Written by robot_identification: the robot that a topic described, completed by a file.",
        f"{URDF}: {urdf.name}",
        f"{DEFAULTS}: {_quoted(str(completed))}",
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _plain(name: str) -> str:
    """Return a name of which files can be called; anybody may publish any."""
    return re.sub(r"[^A-Za-z0-9_]+", "_", name)[:_LONGEST_NAME].strip("_") or "robot"


def _write(folder: Path, files: list[tuple[Path, bytes]]) -> None:
    """Write files that are not there as they should be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        missing = [(path, data) for path, data in files if not _holds(path, data)]
    except OSError as error:
        problem = f"cannot be written: {error.strerror or error}; set ROS_HOME to another folder"
        raise OutputError(folder, problem) from error
    if missing:
        write_files_atomically(missing)


def _holds(path: Path, data: bytes) -> bool:
    return path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data


def _remark(completed: Path | None, digest: str) -> str:
    """Return how the URDF that a robot file names differs from a description."""
    urdf = None if completed is None else source_urdf(completed)
    if urdf is None or not urdf.is_file() or read_description(urdf)[1] == digest:
        return ""
    return f"{completed} names {urdf}, which is not what is described: the description counts"
