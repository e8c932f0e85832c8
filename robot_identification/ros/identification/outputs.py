"""Files that requests ask for, which are never written over what they read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from robot_identification import msg
from robot_identification.errors import OutputError
from robot_identification.files.atomic import refuse_inputs
from robot_identification.files.output_folder import OutputFolder
from robot_identification.files.parameters import parameter_files
from robot_identification.robot.files.loading import source_files
from robot_identification.robot.model import RobotModel


def check_output(
    request: Any,
    outputs: OutputFolder,
    robot: RobotModel,
    data: Iterable[msg.DataSelection],
    parameters: Iterable[str] = (),
) -> None:
    """Refuse a file that may not be written, before anybody waits for what it is to hold.

    Args:
        request: with the fields ``output``, empty for no file, and ``overwrite``.
        outputs: where files may be written.
        robot: the robot, whose files are read.
        data: bags that are read.
        parameters: files of results, parameters and payloads that are read, or names of shipped
            ones; empty for none.

    Raises:
        OutputError: it may not, or it is a file that is read.
        RobotDescriptionError: a file that names others cannot be read.
    """
    if not request.output:
        return
    target = outputs.target(request.output, overwrite=request.overwrite)
    bags = [Path(bag) for selection in data for bag in selection.bags]
    described = () if robot.file is None else source_files(robot.file)
    given = [file for name in parameters if name for file in parameter_files(name)]
    refuse_inputs(target, [*described, *given, *bags])
    for bag in bags:
        if bag.is_dir() and bag.resolve() in target.resolve().parents:
            raise OutputError(target, f"lies in a bag that is read ({bag}); name another target")
