"""Outputs of a command, which are never written over what it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from robot_identification.files.atomic import check_targets, refuse_inputs
from robot_identification.files.parameters import parameter_files
from robot_identification.robot.files.loading import source_files

_BAG_FILES = ("metadata.yaml", "*.db3*", "*.mcap*")


def check_outputs(
    outputs: Iterable[Path | None],
    robot: str | None,
    read: Iterable[str | Path | None] = (),
    parameters: Iterable[str | Path | None] = (),
) -> None:
    """Refuse outputs that cannot be written, or that are files that are read; None is no file.

    Args:
        outputs: what is to be written.
        robot: the robot, as the command names it; None: it names none.
        read: files and bags that are read.
        parameters: files of parameters, URDFs or results, or names of shipped ones.

    Raises:
        OutputError: a target cannot be written, stands twice, or is a file that is read.
        UnknownRobotError: there is no such robot.
        RobotDescriptionError: a file that names others cannot be read.
    """
    targets = [path for path in outputs if path is not None]
    if not targets:
        return
    check_targets(targets)
    inputs = [
        *(() if robot is None else source_files(robot)),
        *(file for place in read if place is not None for file in _files(Path(place))),
        *(file for source in parameters if source is not None for file in parameter_files(source)),
    ]
    for target in targets:
        refuse_inputs(target, inputs)


def _files(place: Path) -> Iterator[Path]:
    """Yield a file, or the files of a bag that is a folder."""
    if not place.is_dir():
        yield place
        return
    for pattern in _BAG_FILES:
        yield from place.glob(pattern)
