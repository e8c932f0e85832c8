"""Find and load the description of a robot, whatever its form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from robot_identification.errors import RobotDescriptionError, SettingError, UnknownRobotError
from robot_identification.robot.files.document import Document, read_document
from robot_identification.robot.files.robot_yaml.document import robot_document
from robot_identification.robot.files.robot_yaml.robot import read_yaml
from robot_identification.robot.files.schema import suggestion
from robot_identification.robot.files.urdf.robot import read_urdf
from robot_identification.robot.files.urdf.xml_document import URDF_ENDINGS
from robot_identification.robot.joint import Joint, JointLimits
from robot_identification.robot.limits import wide_ranges, with_limits
from robot_identification.robot.loops import KNOWN_TO
from robot_identification.robot.model import EffortMeaning, RobotModel
from robot_identification.share import share_directory

_LIMITS = {
    "velocity": ("has_velocity_limits", "max_velocity"),
    "acceleration": ("has_acceleration_limits", "max_acceleration"),
    "jerk": ("has_jerk_limits", "max_jerk"),
    "effort": ("has_effort_limits", "max_effort"),
}
_RANGE = ("has_position_limits", "min_position", "max_position")
_OF_OTHERS = (
    "has_deceleration_limits", "max_deceleration", "angle_wraparound", "has_soft_limits",
    "soft_lower_limit", "soft_upper_limit", "k_position", "k_velocity",
)  # fmt: skip
"""Keys that MoveIt, its planners and ros2_control read, and nothing here does."""


def with_joint_limits(robot: RobotModel, path: str | Path) -> RobotModel:
    """Return a robot whose limits a joint_limits.yaml completes.

    What the file states for a joint replaces what the robot had, also where it is wider than in the
    URDF; a certificate says so then.  Joints that the robot lacks are ignored, as
    are the scaling factors of MoveIt.  Ranges that are probably in degrees are among the warnings
    of the robot.

    Args:
        robot: the robot.
        path: the file: ``joint_limits: {joint: {has_velocity_limits: true, max_velocity: 2.0}}``,
            likewise for acceleration, jerk and effort, and ``has_position_limits`` with
            ``min_position`` and ``max_position``.

    Raises:
        RobotDescriptionError: the file cannot be read, names none of the joints, or holds a
            limit that is not a positive number, one of a range alone, a flag that is neither true
            nor false, or a misspelt key.
    """
    document = read_document(Path(path))
    table = document.data.get("joint_limits") if isinstance(document.data, dict) else None
    if not isinstance(table, dict):
        raise document.error("the key joint_limits is missing")
    if not any(joint.name in table for joint in robot.joints):
        names = ", ".join(robot.joint_names)
        raise document.error(f"names none of the joints of {robot.name}: {names}", "joint_limits")
    limited = replace(robot, joints=tuple(_completed(document, table, j) for j in robot.joints))
    before = set(wide_ranges(robot))
    told = [f"{path}: {one}" for one in wide_ranges(limited) if one not in before]
    return replace(limited, warnings=(*robot.warnings, *told))


def _completed(document: Document, table: dict[str, Any], joint: Joint) -> Joint:
    entry = table.get(joint.name)
    if entry is None:
        return joint
    if not isinstance(entry, dict):
        raise document.error("is not a mapping", "joint_limits", joint.name)
    _refuse_misspelt(document, entry, joint.name)
    found: dict[str, float] = {}
    for limit, (has, key) in _LIMITS.items():
        if _has(document, entry, joint.name, has, key):
            found[limit] = _number(document, entry, joint.name, key)
            if not found[limit] > 0.0:
                raise document.error("must be positive", "joint_limits", joint.name, key)
    if _has(document, entry, joint.name, *_RANGE):
        found["lower"] = _number(document, entry, joint.name, "min_position")
        found["upper"] = _number(document, entry, joint.name, "max_position")
        if not found["lower"] < found["upper"]:
            raise document.error(
                "must be below max_position", "joint_limits", joint.name, "min_position"
            )
    limits: JointLimits = replace(joint.limits, **found)
    return with_limits(joint, limits, Path(document.path).name, found)


def _refuse_misspelt(document: Document, entry: dict[str, Any], joint: str) -> None:
    """Refuse keys that are nearly those of a limit: what they state would be passed over."""
    own = (*(key for keys in _LIMITS.values() for key in keys), *_RANGE)
    for key in entry:
        if key not in (*own, *_OF_OTHERS) and (hint := suggestion(str(key), own)):
            raise document.error(f"unknown key{hint}", "joint_limits", joint, key)


def _has(document: Document, entry: dict[str, Any], joint: str, flag: str, *keys: str) -> bool:
    """Tell whether an entry states a limit: as its flag says, without one where it has a key."""
    stated = entry.get(flag, any(key in entry for key in keys))
    if not isinstance(stated, bool):
        raise document.error("must be true or false", "joint_limits", joint, flag)
    return stated


def _number(document: Document, entry: dict[str, Any], joint: str, key: str) -> float:
    value = entry.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise document.error("a number is missing here", "joint_limits", joint, key)
    return float(value)


_ROBOT_FILES = (".yaml", ".yml")
FORMATS: Mapping[str, Callable[[Path], RobotModel]] = {
    **dict.fromkeys(_ROBOT_FILES, read_yaml),
    **dict.fromkeys(URDF_ENDINGS, lambda path: read_urdf(path).robot),
}
"""Readers of descriptions of robots, by the end of the file's name."""

TOPIC = "topic:"
"""Begin of what names a topic on which a robot is described; nodes keep a file of what comes."""


def known_robots() -> tuple[str, ...]:
    """Return the names of the robots that ship with the package."""
    return tuple(sorted(path.stem for path in _robots_directory().glob("*.yaml")))


def load_robot(
    source: str | Path, *, effort_meaning: str | None = None, closed_loops: bool = False
) -> RobotModel:
    """Load a robot.

    Args:
        source: a robot file (.yaml, .yml), a URDF (.urdf, .xml), a file of xacro (.xacro), or the
            name of a robot of this package, such as ``tx40``.
        effort_meaning: joint_torque, motor_torque or current; in place of what the robot file
            says, and the only way to say it for a URDF.
        closed_loops: whether the caller can deal with joints that follow others.

    Returns:
        The robot; of a bare URDF without ``effort_meaning``, its effort_meaning is None.

    Raises:
        UnknownRobotError: there is no such file and no such robot.
        RobotDescriptionError: the description is wrong, or has closed loops that the caller
            cannot deal with.
        SettingError: ``effort_meaning`` is none of the three.
    """
    path = find_robot(source)
    robot = FORMATS[path.suffix.lower()](path)
    if robot.loops and not closed_loops:
        raise RobotDescriptionError(
            f"joints that follow others are not supported here; {KNOWN_TO}",
            path=path,
            field="loops",
        )
    if effort_meaning is not None:
        robot = replace(
            robot,
            effort_meaning=_parse_effort_meaning(effort_meaning),
            effort_meaning_reason="option",
        )
    return replace(robot, file=path)


def source_urdf(source: str | Path) -> Path | None:
    """Return the URDF that a robot is described by: itself, or the one that its robot file names.

    Args:
        source: as for :func:`load_robot`.

    Returns:
        The URDF, None where the robot is described by a table of its own.

    Raises:
        UnknownRobotError, RobotDescriptionError: as :func:`find_robot`; the robot file is wrong.
    """
    path = find_robot(source)
    if path.suffix.lower() in URDF_ENDINGS:
        return path
    named = robot_document(path).data.get("urdf") if is_robot_file(source) else None
    return None if named is None else path.parent / named


def source_files(source: str | Path) -> tuple[Path, ...]:
    """Return the files that a robot is described by: with its robot file, those that it names.

    Args:
        source: as for :func:`load_robot`.

    Raises:
        UnknownRobotError, RobotDescriptionError: as :func:`find_robot`; the robot file is no YAML.
    """
    path = find_robot(source)
    if not is_robot_file(source):
        return (path,)
    document = robot_document(path)
    data = document.data if isinstance(document.data, dict) else {}
    own = Path(document.path)
    named = [own.parent / data[key] for key in ("urdf", "cell") if isinstance(data.get(key), str)]
    return (path, own, *named)


def is_robot_file(source: str | Path) -> bool:
    """Tell whether a robot is described by a robot file in YAML, with all its sections.

    Raises:
        UnknownRobotError, RobotDescriptionError: as :func:`find_robot`.
    """
    return find_robot(source).suffix.lower() in _ROBOT_FILES


def find_robot(source: str | Path) -> Path:
    """Return the file that describes a robot; see :func:`load_robot` for ``source``.

    Raises:
        UnknownRobotError: there is no such file and no such robot.
        RobotDescriptionError: there is a file, but its name does not end as a description's; or a
            topic is named, which is for nodes only.
    """
    path = Path(source)
    if path.suffix.lower() in FORMATS and path.exists():
        return path
    if str(source) in known_robots():
        return _robots_directory() / f"{source}.yaml"
    if path.exists():
        raise RobotDescriptionError(
            f"a robot is described by a YAML file or a URDF; names end with {', '.join(FORMATS)}",
            path=path,
        )
    if str(source).startswith(TOPIC):
        raise RobotDescriptionError(
            "is a topic, which nodes take the description of a robot from; give the file that "
            "they have kept of it (their log and ~/preview name it)",
            path=str(source),
        )
    raise UnknownRobotError(str(source), known_robots())


def _robots_directory() -> Path:
    return share_directory() / "config" / "robots"


def _parse_effort_meaning(text: str) -> EffortMeaning:
    try:
        return EffortMeaning(text)
    except ValueError:
        choices = ", ".join(meaning.value for meaning in EffortMeaning)
        raise SettingError("effort_meaning", text, f"must be one of {choices}") from None
