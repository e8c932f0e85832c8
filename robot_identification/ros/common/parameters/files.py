"""Parameter files of ROS as plain data: the shipped ones, and what a file gives to which nodes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from robot_identification.robot.files.document import Document, read_document
from robot_identification.share import share_directory

TO_ALL = "/**"
"""The pattern that stands for every node."""

_OF_ROS = ("use_sim_time", "start_type_description_service")
QOS_OVERRIDES = "qos_overrides."
"""Begin of the names of parameters that override a quality of service."""

DIAGNOSTICS_PERIOD = "diagnostic_updater.period"
"""Time between two messages on /diagnostics, s, as the package diagnostic_updater calls it."""

_OF_UPDATER = (DIAGNOSTICS_PERIOD, "diagnostic_updater.use_fqn")

_VALUES = "ros__parameters"
_FILE, _SINGLE = "--params-file", ("-p", "--param")


@dataclass(frozen=True)
class Section:
    """The parameters that a file gives to some nodes.

    Attributes:
        document: the file.
        pattern: full name of a node, in which ``*`` stands for one namespace and ``**`` for any
            number of them.
        place: path of the section in the document.
        values: name -> value.
    """

    document: Document
    pattern: str
    place: tuple[str, ...]
    values: Mapping[str, Any]

    def concerns(self, node: str) -> bool:
        """Tell whether a node gets these parameters.

        Args:
            node: its full name, such as ``/left/excitation``.
        """
        if self.pattern == TO_ALL:
            return True
        steps = re.escape(self.pattern).replace(r"/\*\*", r"(/\w+)*").replace(r"/\*", r"/\w+")
        return re.fullmatch(steps, node) is not None

    def error(self, problem: str, name: str = "") -> Exception:
        """Return the error that says what is wrong with the section, or with one parameter."""
        return self.document.error(problem, *self.place, *((_VALUES, name) if name else ()))


def read_parameters(path: str | Path) -> tuple[Section, ...]:
    """Read a parameter file.

    Raises:
        RobotDescriptionError: it cannot be read, or is no parameter file; with its line.
    """
    document = read_document(Path(path))
    if not isinstance(document.data, dict):
        raise document.error(f"no parameter file: it begins with NODE: {_VALUES}:")
    return tuple(_sections(document, document.data, ()))


def _sections(document: Document, data: dict[str, Any], place: tuple[str, ...]) -> list[Section]:
    found = []
    for key, content in data.items():
        here = (*place, key)
        if not isinstance(content, dict):
            raise document.error(f"parameters of a node stand under NODE: {_VALUES}:", *here)
        if key == _VALUES:
            if not place:
                raise document.error(f"the name of a node stands before {_VALUES}", *here)
            pattern = "/" + "/".join(place).lstrip("/")
            found.append(Section(document, pattern, place, _flat(content)))
        else:
            found += _sections(document, content, here)
    return found


def _flat(values: dict[str, Any], before: str = "") -> dict[str, Any]:
    """Return nested parameters by their dotted names."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{before}{name}.")
        else:
            flat[before + name] = value
    return flat


@cache
def shipped_parameters(node: str) -> Mapping[str, Any]:
    """Return what the package's own parameter file of a node gives: a value for every parameter."""
    (section,) = read_parameters(shipped_file(node))
    return section.values


def shipped_file(node: str) -> Path:
    """Return the package's own parameter file of a node."""
    return share_directory() / "config" / f"{node}.yaml"


def shipped_nodes() -> tuple[str, ...]:
    """Return the names of the nodes of this package."""
    return tuple(sorted(path.stem for path in (share_directory() / "config").glob("*.yaml")))


def simulation_file(robot: str) -> Path | None:
    """Return the parameter file with truth and sensors of a robot of the package, if it has one."""
    path = share_directory() / "config" / "simulations" / f"{robot}.yaml"
    return path if "/" not in robot and path.is_file() else None


def is_of_ros(name: str) -> bool:
    """Tell whether a parameter is declared by ROS, and not in the table of a node."""
    return name in (*_OF_ROS, *_OF_UPDATER) or name.startswith(QOS_OVERRIDES)


def given_to_all(arguments: Sequence[str]) -> frozenset[str]:
    """Return the parameters that a command line gives to every node, and not to this one by name.

    Args:
        arguments: of a process; its parameter files are read.
    """
    pairs = list(pairwise(arguments))
    single = {
        value.partition(":=")[0].rpartition(":")[2] for option, value in pairs if option in _SINGLE
    }
    files = [read_parameters(value) for option, value in pairs if option == _FILE]
    sections = [section for file in files for section in file]
    to_all = {name for one in sections if one.pattern == TO_ALL for name in one.values}
    by_name = {name for one in sections if one.pattern != TO_ALL for name in one.values}
    return frozenset(to_all - by_name - single)
