"""Tables of the parameters that several nodes have."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.robot.model import EffortMeaning
from robot_identification.settings import Settings, same, setting


@dataclass(frozen=True)
class SharedParameters(Settings):
    """Settings that the tables of nodes take over by :func:`robot_identification.settings.same`."""

    robot: str = setting(
        "robot file (YAML), URDF, or the name of a robot of this package; or topic:NAME, the topic "
        "on which a URDF of the robot is published, such as topic:robot_description",
        path=True,
    )
    robot_defaults: str = setting(
        "robot file that says what the URDF on that topic cannot; empty: none", "", path=True
    )
    effort_meaning: str = setting(
        "what the efforts are; empty: what the robot file says",
        "",
        choices=("", *(meaning.value for meaning in EffortMeaning)),
    )
    output_directory: str = setting(
        "folder that services may write to; empty: robot_identification/NODE in ROS_HOME, or "
        "~/.ros",
        "",
        path=True,
        fixed=True,
    )
    autostart: bool = setting(
        "true: the node configures and activates itself; false: it waits for `ros2 lifecycle set`",
        True,
        fixed=True,
    )
    cell: str = setting(
        "cell file: what stands around the robot, what it carries, how it is mounted; empty: what "
        "the robot file says, and the plane of its base",
        "",
        path=True,
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


@dataclass(frozen=True)
class RobotParameters(Settings):
    """Settings of every node that has a robot; the tables of nodes derive from them."""

    robot: str = same(SharedParameters, "robot")
    robot_defaults: str = same(SharedParameters, "robot_defaults")
