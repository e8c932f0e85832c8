"""Recordings from the bags that a command names."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from robot_identification.api.sources.recordings import read_bags
from robot_identification.cli.options import bags as bag_options
from robot_identification.cli.options import common as shared
from robot_identification.errors import SettingError
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.signals.recording import Recording

_READING: Mapping[str, object] = {
    "--topic": "/joint_states", "--columns": [], "--effort-topic": None, "--effort-joints": None,
    "--effort-delay": None, "--begin": 0.0, "--end": 1.0, "--derive-settings": False,
}  # fmt: skip
"""Options on how bags are read, with what they are where nobody gives them."""


def refuse_reading(options: argparse.Namespace, problem: str) -> None:
    """Refuse options on how bags are read and processed, where none is read.

    Args:
        options: parsed arguments.
        problem: why they are refused.

    Raises:
        SettingError: one of them is given.
    """
    shared.refuse_given(options, _READING, problem)
    for name, value in shared.stated(options, ProcessingSettings).items():
        raise SettingError(ProcessingSettings.table()[name].option, value, problem)


def recordings_of(
    options: argparse.Namespace,
    robot: RobotModel,
    bags: Sequence[str | Path],
    *,
    reference_topic: str | None = None,
    positions_needed: bool = True,
) -> list[Recording]:
    """Return the recordings in bags, read as the options of ``add_bag_reading`` say.

    Where efforts have a topic of their own, or their delay is asked for, it is estimated.

    Args:
        options: parsed arguments.
        robot: the robot.
        bags: folders of rosbag2, or bare files.
        reference_topic: topic of commanded positions; None: no reference.
        positions_needed: whether positions must be there and finite.

    Raises:
        BagError: a bag cannot be read or lacks a topic.
        InputError: the options do not fit together, or the samples are of no use.
    """
    return read_bags(
        robot,
        bags,
        topic=options.topic,
        reference_topic=reference_topic,
        efforts=bag_options.efforts_of(options),
        delay_estimated=bag_options.estimates_delay(options),
        processing=shared.processing_of(options),
        begin=options.begin,
        end=options.end,
        positions_needed=positions_needed,
        columns=bag_options.columns_of(options),
    )
