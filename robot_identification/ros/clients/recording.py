"""A recording of the node acquisition, as far as its blocks tell those who listen."""

from __future__ import annotations

from rclpy.node import Node

from robot_identification import msg
from robot_identification.ros.clients.client import Closing
from robot_identification.ros.common import qos


class Recorded(Closing):
    """Sees the blocks of a recording.

    Args:
        node: that listens.

    Attributes:
        name: identifier of the recording; after a clock that was set back that of the last part.
        last_stamp: stamp of its newest sample, in ns; 0 before there is any.
        last_block: the last block that came; None before there is any.
    """

    def __init__(self, node: Node) -> None:
        self.name = ""
        self.last_stamp = 0
        self.last_block: msg.SampleBlock | None = None
        self._node = node
        self._blocks = node.create_subscription(
            msg.SampleBlock, "samples", self._on_block, qos.BLOCKS
        )

    def close(self) -> None:
        """Listen no longer."""
        self._node.destroy_subscription(self._blocks)

    @property
    def ended(self) -> bool:
        """Whether its last block has come."""
        block = self.last_block
        return block is not None and block.last and block.recording == self.name

    def _on_block(self, block: msg.SampleBlock) -> None:
        """Keep a block of the recording or of what continues it; those of others come late."""
        if self.name and block.recording.startswith(self.name):
            self.last_block = block
            if block.stamps:
                self.last_stamp = block.stamps[-1]
