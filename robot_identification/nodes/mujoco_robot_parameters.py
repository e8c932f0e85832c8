"""Parameters of the robot whose physics are those of MuJoCo."""

from __future__ import annotations

from robot_identification.nodes.parameters import CELL, CLEARANCE, ParameterSpec, Type
from robot_identification.nodes.simulated_robot_parameters import COMMON, ROBOT

PARAMETERS = (
    ROBOT,
    ParameterSpec(
        "model",
        Type.STRING,
        "URDF or MJCF file that MuJoCo loads; empty: the URDF that the robot is described by, "
        "else one made from parameters_file",
        default="",
    ),
    ParameterSpec(
        "parameters_file",
        Type.STRING,
        "drive inertia, friction and offset of the joints, in place of those of the model: a file, "
        "or the name of one in config/parameters; complete where there is no model",
        default="",
    ),
    ParameterSpec(
        "friction_time",
        Type.DOUBLE,
        "time constant of MuJoCo's friction constraint, s; 0: as the model says",
        default=0.0,
        minimum=0.0,
        maximum=1.0,
    ),
    ParameterSpec(
        "contacts",
        Type.BOOL,
        "true: what the cell file and the shapes of the robot describe can be touched, and "
        "contacts are counted; false: the robot passes through",
        default=False,
    ),
    CELL,
    CLEARANCE,
    *COMMON,
)
