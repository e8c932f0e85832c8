"""Parameters that several nodes have."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.robot.model import EffortMeaning
from robot_identification.settings import Settings, setting


@dataclass(frozen=True)
class SharedParameters(Settings):
    """What their tables take over by :func:`robot_identification.settings.same`."""

    robot: str = setting("robot file (YAML), URDF, or the name of a robot of this package")
    effort_meaning: str = setting(
        "what the efforts are; empty: what the robot file says",
        "",
        choices=("", *(meaning.value for meaning in EffortMeaning)),
    )
    output_directory: str = setting(
        "folder that services may write to; empty: robot_identification/NODE in ROS_HOME, or "
        "~/.ros",
        "",
    )
    cell: str = setting(
        "cell file: what stands around the robot, what it carries, how it is mounted; empty: what "
        "the robot file says, and the plane of its base",
        "",
    )
    clearance: float = setting(
        "distance that motions keep from the cell, and the arm from itself; 0: as the files say, "
        "else 0.02",
        0.0,
        minimum=0.0,
        maximum=1.0,
        unit="m",
    )
    diagnostics_period: float = setting(
        "time between two messages on /diagnostics", 1.0, minimum=0.1, maximum=60.0, unit="s"
    )
