"""Parameters of the calibration node."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.ros.common.parameters import SharedParameters
from robot_identification.settings import Settings, same, setting


@dataclass(frozen=True)
class CalibrationParameters(Settings):
    """Parameters of the node calibration: publication, and the monitor of the model."""

    robot: str = same(SharedParameters, "robot")
    output_directory: str = same(SharedParameters, "output_directory")
    effort_meaning: str = same(
        SharedParameters,
        "effort_meaning",
        help="what the efforts of joint_states are; empty: what the robot file says",
    )
    prior: str = setting(
        "prior where the request names none: parameter file, URDF, or none; empty: the URDF that "
        "describes the robot, if any",
        "",
    )
    urdf: str = setting(
        "URDF that identified_robot_description keeps everything of but inertials and friction; "
        "empty: the one that describes the robot, else a complete one is made",
        "",
    )
    predict: bool = setting(
        "whether predicted_joint_states are published and the residual is watched", True
    )
    predicted_rate: float = setting(
        "largest rate of predicted_joint_states; 0: one for every joint state",
        0.0,
        minimum=0.0,
        maximum=10000.0,
        unit="Hz",
    )
    diagnostics_period: float = same(SharedParameters, "diagnostics_period")
    drift_warning: float = setting(
        "residual of a joint, over what the calibration left, from which on diagnostics warn",
        2.0,
        minimum=1.0,
        maximum=1000.0,
        live=True,
    )
