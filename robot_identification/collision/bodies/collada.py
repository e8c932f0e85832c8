"""Unit of length of COLLADA files, which the library that reads meshes passes over."""

from __future__ import annotations

import math
from pathlib import Path
from xml.parsers import expat

from robot_identification.errors import RobotDescriptionError

ENDING = ".dae"
_UNIT = ["COLLADA", "asset", "unit"]
_CHUNK = 1 << 14  # bytes; the unit stands at the beginning


def metres_per_unit(path: Path) -> float:
    """Return the length in m of the unit that a COLLADA file states; 1 where it states none.

    It is ``<unit meter="...">`` in ``<asset>`` (COLLADA 1.4.1, chapter 5), which RViz and Gazebo
    count in too.

    Args:
        path: the file.

    Raises:
        RobotDescriptionError: the file is not well-formed, or the unit is no positive number.
    """
    open_: list[str] = []
    stated: list[str] = []
    done = False

    def start(tag: str, attributes: dict[str, str]) -> None:
        open_.append(tag)
        if open_ == _UNIT and "meter" in attributes:
            stated.append(attributes["meter"])

    def end(tag: str) -> None:
        nonlocal done
        open_.pop()
        done = done or (tag == _UNIT[1] and len(open_) == 1)

    parser = expat.ParserCreate(namespace_separator=None)
    parser.StartElementHandler, parser.EndElementHandler = start, end
    try:
        with path.open("rb") as file:
            while not done and (chunk := file.read(_CHUNK)):
                parser.Parse(chunk, False)
    except expat.ExpatError as error:
        problem = f"not well-formed XML: {expat.ErrorString(error.code)}"
        raise RobotDescriptionError(problem, path=path, line=error.lineno) from error
    return _positive(stated[0], path) if stated else 1.0


def _positive(text: str, path: Path) -> float:
    """Return the length of a unit."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 < value < math.inf:
        problem = f'meter="{text:.40}" must be the length of the unit in m, above 0'
        raise RobotDescriptionError(problem, path=path, field="asset.unit")
    return value
