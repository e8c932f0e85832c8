"""Reading and writing of bags, as every library of them is used here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from robot_identification.files.mcap.message_batches import MessageBatch

Storage = Literal["sqlite3", "mcap"]


class Topic(NamedTuple):
    """A topic of a bag.

    Attributes:
        name: its name.
        message_type: type of its messages, such as ``sensor_msgs/msg/JointState``.
        message_count: number of its messages, as the bag says.
    """

    name: str
    message_type: str
    message_count: int


class OpenBag(Protocol):
    """A bag, or one file of it, that is open for reading.

    What it raises may be anything; :func:`.files.foreign_errors` makes errors of this package of
    it.
    """

    @property
    def message_count(self) -> int:
        """Number of messages, as the bag says."""
        ...

    @property
    def topics(self) -> Sequence[Topic]:
        """Topics; one may stand twice, as where several recorders wrote it."""
        ...

    def batches(self, topic: str) -> Iterator[MessageBatch]:
        """Yield the messages of a topic in the order of the bag, many at a time."""
        ...

    def close(self) -> None:
        """Let go of the files."""
        ...


class Writer(Protocol):
    """A bag that is being written."""

    def write(self, topic: str, message_type: str, time: int, message: bytes) -> None:
        """Write a message in CDR, recorded at a time in ns."""
        ...

    def close(self) -> None:
        """End the bag; it is whole then."""
        ...

    def abort(self) -> None:
        """Let go of the files, whatever they hold."""
        ...


class Library(Protocol):
    """A library of bags; modules of this folder are such."""

    def opened(self, path: Path) -> OpenBag:
        """Open the folder of a rosbag2, whose metadata were checked, or one file .db3 or .mcap."""
        ...

    def writer(self, path: Path, storage: Storage) -> Writer:
        """Begin a bag in a folder, which is made; MCAP files are not packed."""
        ...
