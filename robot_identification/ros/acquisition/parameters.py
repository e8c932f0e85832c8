"""Parameters of the acquisition node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from robot_identification.files.bags.cdr.dynamic_states import MESSAGE_TYPE as DYNAMIC_STATE
from robot_identification.files.bags.cdr.dynamic_states import SIGNALS
from robot_identification.ros.acquisition.efforts import JOINT_STATE_TYPE, TYPES
from robot_identification.ros.common.parameters.shared import RobotParameters, SharedParameters
from robot_identification.settings import same, setting
from robot_identification.signals.efforts.separate import EffortSource


@dataclass(frozen=True)
class AcquisitionParameters(RobotParameters):
    """Parameters of the node acquisition: topics, recording, filters."""

    effort_meaning: str = same(SharedParameters, "effort_meaning")
    joint_states_type: str = setting(
        "type of the joint states: with interfaces of every joint they are taken from "
        "dynamic_joint_states, in place of joint_states",
        JOINT_STATE_TYPE,
        choices=(JOINT_STATE_TYPE, DYNAMIC_STATE),
    )
    position_interface: str = setting("interface of a joint that is its position", "position")
    velocity_interface: str = setting("interface of a joint that is its velocity", "velocity")
    effort_interface: str = setting(
        "interface of a joint that is its effort, such as current", "effort"
    )
    temperature_interface: str = setting(
        "interface of a joint that is its temperature, such as motor_temperature", "temperature"
    )
    block_period: float = setting(
        "time between two blocks of samples", 0.1, minimum=0.01, maximum=10.0, unit="s"
    )
    expected_rate: float = setting(
        "rate of the joint states, by which lost samples are counted; 0: the measured one",
        0.0,
        minimum=0.0,
        maximum=100000.0,
        unit="Hz",
    )
    autostart: bool = setting(
        "whether a recording begins with the node, without a call of ~/start", False
    )
    publish_filtered: bool = setting("whether filtered_samples are computed and published", True)
    filtered_cutoff: float = setting(
        "cut-off of the positions of filtered_samples; 0: the robot file's, or 20",
        0.0,
        minimum=0.0,
        maximum=10000.0,
        unit="Hz",
    )
    filtered_rate: float = setting(
        "rate of filtered_samples; 0: the robot file's, or 50",
        0.0,
        minimum=0.0,
        maximum=10000.0,
        unit="Hz",
    )
    effort_topic: str = setting(
        "topic of the efforts where they have one of their own; empty: those of joint_states", ""
    )
    effort_type: str = setting(
        "type of the messages on it; arrays have no stamps, and count when they were sent",
        JOINT_STATE_TYPE,
        choices=TYPES,
    )
    effort_joints: tuple[str, ...] = setting(
        "joints of such an array, in its order; empty: those of the robot", ()
    )
    effort_delay: float = setting(
        "time by which the stamps of these efforts lie behind the motion; arrays need one",
        0.0,
        minimum=-1.0,
        maximum=1.0,
        unit="s",
    )
    bag_directory: str = setting(
        "folder, made if need be, in which every recording becomes a bag, from the next one on; "
        "empty: no bags",
        "",
        path=True,
        live=True,
    )
    bag_part_period: float = setting(
        "time after which what has come is written into the bag as a file of its own",
        5.0,
        minimum=0.5,
        maximum=600.0,
        unit="s",
    )
    diagnostics_period: float = same(SharedParameters, "diagnostics_period")

    @property
    def has_interfaces(self) -> bool:
        """Whether joint states have interfaces of every joint."""
        return self.joint_states_type == DYNAMIC_STATE

    @property
    def interfaces(self) -> Mapping[str, str]:
        """Signal -> name of its interface."""
        return {signal: getattr(self, f"{signal}_interface") for signal in SIGNALS}

    @property
    def effort_source(self) -> EffortSource | None:
        """Source of efforts that do not come with the joint states.

        Raises:
            SettingError: if the delay is beyond a second.
        """
        if not self.effort_topic:
            return None
        joints = tuple(name for name in self.effort_joints if name)
        return EffortSource(self.effort_topic, self.effort_delay, joints)
