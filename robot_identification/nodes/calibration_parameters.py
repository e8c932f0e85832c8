"""Parameters of the calibration node."""

from __future__ import annotations

from robot_identification.nodes.outputs import OUTPUT_DIRECTORY
from robot_identification.nodes.parameters import (
    DIAGNOSTICS_PERIOD,
    ROBOT,
    ParameterSpec,
    Type,
    effort_meaning,
)

DRIFT = ParameterSpec(
    "drift_warning",
    Type.DOUBLE,
    "residual of a joint, over what the calibration left, from which on diagnostics warn",
    default=2.0,
    minimum=1.0,
    maximum=1000.0,
    read_only=False,
)
PARAMETERS = (
    ROBOT,
    OUTPUT_DIRECTORY,
    effort_meaning("what the efforts of joint_states are; empty: what the robot file says"),
    ParameterSpec(
        "prior",
        Type.STRING,
        "prior where the request names none: parameter file, URDF, or none; empty: the URDF that "
        "describes the robot, if any",
        default="",
    ),
    ParameterSpec(
        "urdf",
        Type.STRING,
        "URDF that identified_robot_description keeps everything of but inertials and friction; "
        "empty: the one that describes the robot, else a complete one is made",
        default="",
    ),
    ParameterSpec(
        "predict",
        Type.BOOL,
        "whether predicted_joint_states are published and the residual is watched",
        default=True,
    ),
    ParameterSpec(
        "predicted_rate",
        Type.DOUBLE,
        "largest rate of predicted_joint_states, Hz; 0: one for every joint state",
        default=0.0,
        minimum=0.0,
        maximum=10000.0,
    ),
    DIAGNOSTICS_PERIOD,
    DRIFT,
)
