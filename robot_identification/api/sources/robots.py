"""Robots as arguments of the public functions: models, files, names of shipped ones."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.loops import refuse_loops
from robot_identification.robot.model import RobotModel

RobotSource: TypeAlias = RobotModel | str | Path
"""A robot, or its file, or the name of a shipped one."""


def robot_of(source: RobotSource, *, closed_loops: bool = False) -> RobotModel:
    """Return a robot, loaded where it is named.

    Args:
        source: the robot, its file, or the name of a shipped one.
        closed_loops: whether the caller can deal with joints that follow others.
    """
    if not isinstance(source, RobotModel):
        return load_robot(source, closed_loops=closed_loops)
    if not closed_loops:
        refuse_loops(source, "this function")
    return source
