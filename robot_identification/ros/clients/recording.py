"""A recording of the node acquisition, as far as its blocks tell those who listen."""

from __future__ import annotations

import re

from rclpy.node import Node

from robot_identification import msg
from robot_identification.errors import ResultRefusedError
from robot_identification.ros.clients.client import Closing
from robot_identification.ros.common import qos


class RecordingEndedError(ResultRefusedError):
    """A recording was ended before its time, and does not hold what it was made for.

    Attributes:
        recording: its identifier.
    """

    def __init__(self, recording: str, told: str) -> None:
        self.recording = recording
        super().__init__(
            f"the recording {recording} was ended meanwhile ({told}), by somebody else or with the "
            "node acquisition: it does not hold the whole motion; record it again, and let one at "
            "a time record"
        )


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

    def require_own(self, stopped: str) -> None:
        """Make sure that what was stopped is this recording, or goes on with it.

        Raises:
            RecordingEndedError: it is another one.
        """
        if not re.fullmatch(re.escape(self.name) + r"(\.\d+)?", stopped):
            raise RecordingEndedError(self.name, f"{stopped} ran in its place, and was stopped")

    def _on_block(self, block: msg.SampleBlock) -> None:
        """Keep a block of the recording or of what continues it; those of others come late."""
        if self.name and block.recording.startswith(self.name):
            self.last_block = block
            if block.stamps:
                self.last_stamp = block.stamps[-1]
