"""Parameters of the excitation node."""

from __future__ import annotations

from robot_identification.excitation.fourier.settings import FourierSettings
from robot_identification.excitation.plan import FAMILIES, QUINTIC
from robot_identification.excitation.points import PointSettings
from robot_identification.nodes.outputs import OUTPUT_DIRECTORY
from robot_identification.nodes.parameters import CELL, CLEARANCE, ROBOT, ParameterSpec, Type

SPEED = ParameterSpec(
    "speed",
    Type.DOUBLE,
    "share of the planned speed at which the trajectory is followed; 0.2 for a rehearsal",
    default=1.0,
    minimum=0.01,
    maximum=1.0,
    read_only=False,
)
APPROACH_SPEED = ParameterSpec(
    "approach_speed",
    Type.DOUBLE,
    "share of the limits at which the robot approaches the start",
    default=0.2,
    minimum=0.01,
    maximum=1.0,
    read_only=False,
)
ACKNOWLEDGE_UNCHECKED = ParameterSpec(
    "acknowledge_unchecked",
    Type.BOOL,
    "true: motions may begin although obstacles are not checked, because nothing is in the way",
    default=False,
    read_only=False,
)
TRACKING_ERROR_LIMIT = ParameterSpec(
    "tracking_error_limit",
    Type.DOUBLE_ARRAY,
    "error at which the motion is stopped, rad or m; one or one per joint",
    default=(0.1,),
    minimum=0.0001,
    maximum=10.0,
    read_only=False,
    asks=True,
)
STATE_TIMEOUT = ParameterSpec(
    "state_timeout",
    Type.DOUBLE,
    "age of the newest joint state at which it counts as stale, s",
    default=0.1,
    minimum=0.005,
    maximum=10.0,
    read_only=False,
    asks=True,
)
FAMILY = (
    ParameterSpec(
        "family",
        Type.STRING,
        "motions that are planned: quintic, through points, or fourier, series over whole periods",
        default=QUINTIC,
        choices=FAMILIES,
        read_only=False,
    ),
    *(
        ParameterSpec.of(entry, description=f"fourier: {entry.description}", read_only=False)
        for entry in FourierSettings.table().values()
    ),
)
PARAMETERS = (
    ROBOT,
    OUTPUT_DIRECTORY,
    ParameterSpec(
        "joint_limits",
        Type.STRING,
        "joint_limits.yaml of MoveIt that completes the robot's limits; empty: none",
        default="",
    ),
    ParameterSpec(
        "parameters_file",
        Type.STRING,
        "values of the standard parameters to check efforts with: a file, or the name of one in "
        "config/parameters; empty: efforts are not checked",
        default="",
    ),
    CELL,
    CLEARANCE,
    ParameterSpec(
        "arm_timeout",
        Type.DOUBLE,
        "age at which a joint state of another robot of the cell does not say any more where that "
        "stands, s",
        default=2.0,
        minimum=0.05,
        maximum=60.0,
    ),
    ParameterSpec(
        "base_frame",
        Type.STRING,
        "frame of the base in TF, in which ~/markers are shown; empty: the base link of the robot",
        default="",
    ),
    ACKNOWLEDGE_UNCHECKED,
    SPEED,
    APPROACH_SPEED,
    ParameterSpec(
        "velocity_share",
        Type.DOUBLE,
        "share of the velocity limits that motions use; the rest is for the controller",
        default=0.95,
        minimum=0.1,
        maximum=1.0,
    ),
    ParameterSpec(
        "acceleration_share",
        Type.DOUBLE,
        "share of the acceleration limits that motions and braking use; the rest is for the "
        "controller, which goes beyond it where a joint that stuck comes loose",
        default=0.6,
        minimum=0.1,
        maximum=1.0,
    ),
    TRACKING_ERROR_LIMIT,
    ParameterSpec(
        "braking_lag_time",
        Type.DOUBLE,
        "time in which braking takes the lag of the controller away at most, s; 0: at once, so "
        "that the first point is the measured position",
        default=1.0,
        minimum=0.0,
        maximum=10.0,
    ),
    STATE_TIMEOUT,
    ParameterSpec(
        "start_lead",
        Type.DOUBLE,
        "time from sending a trajectory to its start stamp, s",
        default=0.3,
        minimum=0.05,
        maximum=10.0,
    ),
    ParameterSpec(
        "rest_speed",
        Type.DOUBLE,
        "speed below which a joint counts as at rest, rad/s or m/s",
        default=0.02,
        minimum=1e-6,
        maximum=1.0,
    ),
    ParameterSpec(
        "rows",
        Type.INTEGER,
        "rows of the regressor of a plan, where the request does not say; 0: as the model needs",
        default=0,
        minimum=0,
        maximum=100000,
    ),
    ParameterSpec.of(
        PointSettings.table()["starts"],
        description="starts of each optimiser, where the request does not say",
        default=3,
    ),
    *FAMILY,
    ParameterSpec(
        "planning_niceness",
        Type.INTEGER,
        "how far the process that plans steps back where processors are short, so that braking "
        "never waits for it; 0: not at all",
        default=5,
        minimum=0,
        maximum=19,
    ),
    ParameterSpec(
        "status_period",
        Type.DOUBLE,
        "time between two messages on ~/status, s; changes are told at once",
        default=0.1,
        minimum=0.01,
        maximum=10.0,
    ),
)
