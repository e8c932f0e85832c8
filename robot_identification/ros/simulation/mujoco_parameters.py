"""Parameters of the robot whose physics are those of MuJoCo."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.ros.common.shared_parameters import SharedParameters
from robot_identification.ros.simulation.parameters import SimulationParameters
from robot_identification.settings import same, setting


@dataclass(frozen=True)
class MujocoRobotParameters(SimulationParameters):
    """What MuJoCo computes the motion from."""

    model: str = setting(
        "URDF or MJCF file that MuJoCo loads; empty: the URDF that the robot is described by, "
        "else one made from parameters_file",
        "",
    )
    parameters_file: str = setting(
        "drive inertia, friction and offset of the joints, in place of those of the model: a file, "
        "or the name of one in config/parameters; complete where there is no model",
        "",
    )
    friction_time: float = setting(
        "time constant of MuJoCo's friction constraint; 0: as the model says",
        0.0,
        minimum=0.0,
        maximum=1.0,
        unit="s",
    )
    contacts: bool = setting(
        "true: what the cell file and the shapes of the robot describe can be touched, and "
        "contacts are counted; false: the robot passes through",
        False,
    )
    cell: str = same(SharedParameters, "cell")
    clearance: float = same(SharedParameters, "clearance")
