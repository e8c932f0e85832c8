"""Parameters of the node computed_torque."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.ros.common.parameters.shared import RobotParameters, SharedParameters
from robot_identification.settings import same, setting


@dataclass(frozen=True)
class ComputedTorqueParameters(RobotParameters):
    """Parameters of the node computed_torque: topics, rate, how the efforts end."""

    autostart: bool = same(SharedParameters, "autostart")
    rate: float = setting(
        "rate of feedforward_effort", 100.0, minimum=1.0, maximum=1000.0, unit="Hz"
    )
    lead: float = setting(
        "how far ahead of joint_states efforts are sent; 0: the robot applies them at once",
        0.2,
        minimum=0.0,
        maximum=3.0,
        unit="s",
    )
    fade_time: float = setting(
        "time in which the efforts fall to zero when the node is deactivated; 0: at once",
        0.5,
        minimum=0.0,
        maximum=10.0,
        unit="s",
    )
