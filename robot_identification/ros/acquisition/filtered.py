"""The topic `filtered_samples` of the acquisition node, for other nodes and for plots."""

from __future__ import annotations

from importlib import import_module

import numpy as np
from rclpy.node import Node

from robot_identification.errors import InputError
from robot_identification.msg import SampleBlock
from robot_identification.robot.arrays import Array
from robot_identification.robot.drives import to_joint_side
from robot_identification.robot.model import RobotModel
from robot_identification.ros.acquisition.recorder import Block
from robot_identification.ros.common import qos
from robot_identification.ros.messages.blocks import filtered_message
from robot_identification.signals.filters.filtering import DEFAULT_DIFFERENCE_ORDER, DEFAULT_ORDER
from robot_identification.signals.growing.samples import FilteredBlock, OnlineFilter

CUTOFF_HZ = 20.0
RATE_HZ = 50.0


class FilteredPublisher:
    """Filters raw blocks on the joint side and publishes what is finished.

    Args:
        node: the node that publishes.
        robot: the robot; its file may recommend cut-off, rate, and the orders of both filters.
        cutoff_hz: cut-off of the positions, Hz; 0 takes the recommended one, else 20.
        rate_hz: rate after decimation, Hz; 0 takes the recommended one, else 50.
    """

    def __init__(self, node: Node, robot: RobotModel, cutoff_hz: float, rate_hz: float) -> None:
        self._log = node.get_logger()
        self._robot = robot
        self._cutoff = cutoff_hz or robot.processing.cutoff_hz or CUTOFF_HZ
        self._rate = rate_hz or robot.processing.rate_hz or RATE_HZ
        self._publisher = node.create_publisher(SampleBlock, "filtered_samples", qos.BLOCKS)
        # It takes a second on a small machine; at the first block joint states would wait for it.
        import_module("scipy.signal")
        self._filter: OnlineFilter | None = None
        self._sequence = self._samples = 0

    def begin(self) -> None:
        """Begin another recording."""
        recommended = self._robot.processing
        self._filter = OnlineFilter(
            len(self._robot.joints),
            self._cutoff,
            self._rate,
            order=recommended.filter_order or DEFAULT_ORDER,
            difference_order=recommended.difference_order or DEFAULT_DIFFERENCE_ORDER,
        )
        self._sequence = self._samples = 0

    def publish(self, block: Block) -> None:
        """Take in raw samples and publish the filtered ones that are finished."""
        if self._filter is None:
            return
        try:
            finished = self._push(self._filter, block)
        except InputError as error:
            self._log.error(f"no filtered_samples: {error}")
            self._filter = None
            return
        if block.last:
            finished = finished or [_nothing(len(self._robot.joints), self._rate)]
        for number, filtered in enumerate(finished):
            last = block.last and number == len(finished) - 1
            self._send(filtered, block, last=last)

    def _push(self, online: OnlineFilter, block: Block) -> list[FilteredBlock]:
        samples = block.samples
        joints = to_joint_side(self._robot, samples.position, None, samples.effort)
        if joints.position is None or joints.effort is None:
            return []
        finished = online.push(samples.stamps, joints.position, joints.effort)
        return finished + online.flush() if block.last else finished

    def _send(self, filtered: FilteredBlock, block: Block, *, last: bool) -> None:
        message = filtered_message(filtered, block, self._robot)
        message.sequence, message.first_sample = self._sequence, self._samples
        message.last = last
        self._publisher.publish(message)
        self._sequence += 1
        self._samples += len(filtered.stamps)


def _nothing(joints: int, rate_hz: float) -> FilteredBlock:
    none: Array = np.zeros((0, joints))
    whole = np.zeros(0, dtype=np.bool_)
    return FilteredBlock(np.zeros(0, dtype=np.int64), none, none, none, none, rate_hz, whole)
