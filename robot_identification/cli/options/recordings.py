"""Recordings from the bags that a command names."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from robot_identification.api.sources import read_bags
from robot_identification.cli.options import common as shared
from robot_identification.robot.model import RobotModel
from robot_identification.signals.recording import Recording


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
        efforts=shared.efforts_of(options),
        delay_estimated=shared.estimates_delay(options),
        begin=options.begin,
        end=options.end,
        positions_needed=positions_needed,
        columns=shared.columns_of(options),
    )
