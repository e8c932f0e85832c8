"""Parameters of the calibration node."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.calibration.running_payload.settings import RunningPayloadSettings
from robot_identification.dynamics.external_efforts.settings import ExternalEffortSettings
from robot_identification.dynamics.external_efforts.wrench import WrenchSettings
from robot_identification.ros.common.parameters.shared import RobotParameters, SharedParameters
from robot_identification.settings import same, setting


@dataclass(frozen=True)
class CalibrationParameters(RobotParameters):
    """Parameters of the node calibration: publication, and the monitor of the model."""

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
        path=True,
    )
    urdf: str = setting(
        "URDF that identified_robot_description keeps everything of but inertials and friction; "
        "empty: the one that describes the robot, else a complete one is made",
        "",
        path=True,
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
    external_efforts: bool = setting(
        "whether external_joint_efforts and joint_contacts are published; needs predict", False
    )
    external_effort_rate: float = setting(
        "largest rate of external_joint_efforts; 0: one for every joint state",
        100.0,
        minimum=0.0,
        maximum=10000.0,
        unit="Hz",
    )
    observer_time_constant: float = same(ExternalEffortSettings, "time_constant")
    observer_stick_speed: tuple[float, ...] = same(ExternalEffortSettings, "stick_speed")
    contact_learning_time: float = same(ExternalEffortSettings, "learning_time")
    contact_false_alarms: float = same(ExternalEffortSettings, "false_alarms")
    wrench_frame: str = setting(
        "link or joint of the robot, or link of its URDF, at which external_wrench is published; "
        "empty: none is; needs external_efforts",
        "",
    )
    wrench_force_only: bool = same(WrenchSettings, "force_only")
    wrench_largest_deviation: float = same(WrenchSettings, "largest_deviation")

    payload: bool = setting(
        "whether payload and payload_changes are published; needs predict", False
    )
    payload_frame: str = setting(
        "link or joint of the robot, or link of its URDF, in whose frame the payload is described; "
        "empty: the last link",
        "",
    )
    payload_placement: tuple[float, ...] = setting(
        "frame of the payload in that frame: x y z in m, roll pitch yaw in rad",
        (0.0,) * 6,
    )
    payload_learning_time: float = same(RunningPayloadSettings, "learning_time")
    payload_false_changes: float = same(RunningPayloadSettings, "false_changes")
    payload_memory: float = same(RunningPayloadSettings, "memory")
    payload_least_mass: float = same(RunningPayloadSettings, "least_mass")

    def running_payload_settings(self) -> RunningPayloadSettings:
        """Return the settings of the running estimate of a payload."""
        return RunningPayloadSettings(
            learning_time=self.payload_learning_time,
            false_changes=self.payload_false_changes,
            memory=self.payload_memory,
            least_mass=self.payload_least_mass,
            stick_speed=self.observer_stick_speed,
        )

    def external_effort_settings(self) -> ExternalEffortSettings:
        """Return the settings of external efforts and contacts."""
        return ExternalEffortSettings(
            time_constant=self.observer_time_constant,
            stick_speed=self.observer_stick_speed,
            learning_time=self.contact_learning_time,
            false_alarms=self.contact_false_alarms,
        )

    def wrench_settings(self) -> WrenchSettings:
        """Return the settings of the wrench at a frame."""
        return WrenchSettings(
            force_only=self.wrench_force_only, largest_deviation=self.wrench_largest_deviation
        )
