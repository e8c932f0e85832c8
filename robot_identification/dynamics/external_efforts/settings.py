"""Settings of external joint efforts: the momentum observer, thresholds, contacts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_identification.dynamics.external_efforts.speed_zones import SpeedZones
from robot_identification.dynamics.tree import Floats
from robot_identification.robot.model import RobotModel
from robot_identification.settings import Settings, per_joint, setting

_STICK_SHARE = 0.03  # of the velocity limit
_STICK_SPEED = 0.05  # rad/s or m/s, where a joint has no limit


@dataclass(frozen=True)
class ExternalEffortSettings(Settings):
    """Settings of external joint efforts and of the contacts that they tell."""

    time_constant: float = setting(
        "with which external efforts are followed; shorter: sooner and with more noise",
        0.01,
        minimum=0.0005,
        maximum=10.0,
        unit="s",
    )
    longest_gap: float = setting(
        "between two states across which the observer goes on; it begins anew after a longer one",
        0.1,
        above=0.0,
        maximum=10.0,
        unit="s",
    )
    stick_speed: tuple[float, ...] = setting(
        "speed below which friction is uncertain, one or one per joint, rad/s or m/s; 0: 3 % of "
        "the velocity limit, 0.05 without a limit",
        (0.0,),
        minimum=0.0,
        maximum=10.0,
    )
    learning_time: float = setting(
        "of free motion from which thresholds are learned",
        120.0,
        minimum=1.0,
        maximum=36000.0,
        unit="s",
    )
    false_alarms: float = setting(
        "false contacts of all joints together that are accepted in an hour of motion",
        1.0,
        above=0.0,
        maximum=3600.0,
    )
    release: float = setting(
        "share of its threshold below which an external effort ends a contact",
        0.5,
        above=0.0,
        maximum=1.0,
    )
    release_time: float = setting(
        "for which it must stay there",
        0.05,
        minimum=0.0,
        maximum=10.0,
        unit="s",
    )

    def stick_speeds(self, robot: RobotModel) -> Floats:
        """Return the (joints,) speeds below which friction is uncertain.

        Raises:
            SettingError: there are neither one nor one per joint.
        """
        joints = robot.active_joints
        limits = [joint.limits.velocity for joint in joints]
        usual = [_STICK_SHARE * limit if limit else _STICK_SPEED for limit in limits]
        given = per_joint("stick_speed", self.stick_speed, len(joints))
        return np.array([own or other for own, other in zip(given, usual, strict=True)])

    def speed_zones(self, robot: RobotModel) -> SpeedZones:
        """Return the zones of the speed in which levels of the residual are learned.

        Raises:
            SettingError: as :meth:`stick_speeds`.
        """
        return SpeedZones(self.stick_speeds(robot), self.time_constant)
