"""Parameters of the acquisition node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robot_identification.nodes.parameters import (
    DIAGNOSTICS_PERIOD,
    ROBOT,
    ParameterSpec,
    Type,
    effort_meaning,
)
from robot_identification.nodes.separate_efforts import JOINT_STATE_TYPE, TYPES
from robot_identification.signals.separate_efforts import EffortSource

BAG_DIRECTORY = ParameterSpec(
    "bag_directory",
    Type.STRING,
    "folder in which every recording becomes a bag, from the next one on; empty: no bags",
    default="",
    read_only=False,
)

PARAMETERS = (
    ROBOT,
    effort_meaning("what the efforts are; empty: what the robot file says"),
    ParameterSpec(
        "block_period",
        Type.DOUBLE,
        "time between two blocks of samples, s",
        default=0.1,
        minimum=0.01,
        maximum=10.0,
    ),
    ParameterSpec(
        "expected_rate",
        Type.DOUBLE,
        "rate of the joint states, Hz, by which lost samples are counted; 0: the measured one",
        default=0.0,
        minimum=0.0,
        maximum=100000.0,
    ),
    ParameterSpec(
        "autostart",
        Type.BOOL,
        "whether a recording begins with the node, without a call of ~/start",
        default=False,
    ),
    ParameterSpec(
        "publish_filtered",
        Type.BOOL,
        "whether filtered_samples are computed and published",
        default=True,
    ),
    ParameterSpec(
        "filtered_cutoff",
        Type.DOUBLE,
        "cut-off of the positions of filtered_samples, Hz; 0: the robot file's, or 20",
        default=0.0,
        minimum=0.0,
        maximum=10000.0,
    ),
    ParameterSpec(
        "filtered_rate",
        Type.DOUBLE,
        "rate of filtered_samples, Hz; 0: the robot file's, or 50",
        default=0.0,
        minimum=0.0,
        maximum=10000.0,
    ),
    ParameterSpec(
        "effort_topic",
        Type.STRING,
        "topic of the efforts where they have one of their own; empty: those of joint_states",
        default="",
    ),
    ParameterSpec(
        "effort_type",
        Type.STRING,
        "type of the messages on it; arrays have no stamps, and count when they were sent",
        default=JOINT_STATE_TYPE,
        choices=TYPES,
    ),
    ParameterSpec(
        "effort_joints",
        Type.STRING_ARRAY,
        "joints of such an array, in its order; empty: those of the robot",
        default=(),
    ),
    ParameterSpec(
        "effort_delay",
        Type.DOUBLE,
        "time by which the stamps of these efforts lie behind the motion, s; arrays need one",
        default=0.0,
        minimum=-1.0,
        maximum=1.0,
    ),
    BAG_DIRECTORY,
    ParameterSpec(
        "bag_part_period",
        Type.DOUBLE,
        "time after which what has come is written into the bag as a file of its own, s",
        default=5.0,
        minimum=0.5,
        maximum=600.0,
    ),
    DIAGNOSTICS_PERIOD,
)


def effort_source(values: Mapping[str, Any]) -> EffortSource | None:
    """Return where efforts come from that do not come with the joint states.

    Args:
        values: of the parameters.

    Raises:
        SettingError: if the delay is beyond a second.
    """
    if not values["effort_topic"]:
        return None
    return EffortSource(
        values["effort_topic"],
        values["effort_delay"],
        tuple(name for name in values["effort_joints"] if name),
    )
