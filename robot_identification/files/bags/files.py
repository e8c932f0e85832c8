"""Bags as files: opening them, and reading serialised messages.

Everything foreign stays behind this border: whatever the reader of a damaged file raises comes
out as :class:`~robot_identification.errors.BagError` with path and cause.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from robot_identification.errors import BagError, RobotIdentificationError, TopicError
from robot_identification.files.bags.file_checks import check_file
from robot_identification.files.bags.libraries.choice import library
from robot_identification.files.bags.libraries.interface import OpenBag
from robot_identification.files.bags.libraries.metadata import METADATA, check_metadata
from robot_identification.files.cancelling import Cancelled, give_up_if
from robot_identification.files.mcap.message_batches import DamagedMessageError, MessageBatch
from robot_identification.files.tables.reading import is_table

JOINT_TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"


_FILE_TYPES = (".db3", ".mcap")
DATA_SUFFIXES = (*_FILE_TYPES, ".db3.zstd", ".mcap.zstd")
"""How the names of the data files of a bag end."""
_PACKED = (".gz", ".bz2", ".xz", ".zip", ".7z", ".tar", ".tgz", ".zst", ".zstd", ".lz4")
_ARRAYS = (".mat", ".npy", ".npz", ".h5", ".hdf5", ".parquet", ".xls", ".xlsx")


@contextmanager
def foreign_errors(path: Path) -> Iterator[None]:
    """Turn whatever another library raises about a bag into our own error."""
    try:
        yield
    except RobotIdentificationError:
        raise
    except Exception as error:
        text = str(error) or type(error).__name__
        raise BagError(
            path, f"cannot be read: {text}; the file is damaged or not a ROS 2 bag"
        ) from error


@contextmanager
def open_bag(path: str | Path, cancelled: Cancelled | None = None) -> Iterator[Bag]:
    """Open a bag for reading.

    Args:
        path: folder of a rosbag2, or a bare file (.db3, .mcap).
        cancelled: asked now and then, then and while it is read, whether to give up.

    Raises:
        BagError: it does not exist, is no bag, is truncated or otherwise damaged, or empty.
        CancelledError: ``cancelled`` says so.
    """
    bag_path = Path(path)
    with ExitStack() as stack:
        with foreign_errors(bag_path):
            files = _data_files(bag_path)
            check_metadata(bag_path / METADATA)
            warnings = [warning for file in files for warning in check_file(file, cancelled)]
            sources = [bag_path]
            if bag_path.is_dir() and not (bag_path / METADATA).exists():
                warnings.append(f"{bag_path}: no {METADATA}; its files were read as they are")
                sources = files
            readers = [stack.enter_context(_opened(source)) for source in sources]
            if not sum(reader.message_count for reader in readers):
                raise BagError(bag_path, "the bag holds no messages")
        yield Bag(bag_path, files, readers, warnings, cancelled)


@contextmanager
def _opened(path: Path) -> Iterator[OpenBag]:
    """Open a bag and see that its topics are text, whatever the metadata hold."""
    bag = library().opened(path)
    try:
        for topic in bag.topics:
            for value, kind in zip(topic, (str, str, int), strict=True):
                if not isinstance(value, kind):
                    raise BagError(path, f"its metadata name a topic, type or count {value!r:.40}")
        yield bag
    finally:
        with foreign_errors(path):
            bag.close()


class Bag:
    """A bag that is open for reading; made by :func:`open_bag`.

    Attributes:
        path: where it is.
        files: its data files.
        warnings: what is suspicious about it.
    """

    def __init__(
        self,
        path: Path,
        files: Sequence[Path],
        readers: Sequence[OpenBag],
        warnings: list[str],
        cancelled: Cancelled | None = None,
    ) -> None:
        self._cancelled = cancelled
        self.path = path
        self.files = tuple(files)
        self.warnings = warnings
        self._readers = tuple(readers)

    @property
    def topics(self) -> dict[str, str]:
        """Topics that have messages, with their types."""
        return {
            topic.name: topic.message_type
            for reader in self._readers
            for topic in reader.topics
            if topic.message_count
        }

    def messages(self, topic: str, message_type: str) -> Iterator[tuple[int, bytes]]:
        """Yield time of recording in ns, and serialised message, of a topic.

        Args:
            topic: name of the topic.
            message_type: type that it must have, such as ``sensor_msgs/msg/JointState``.

        Raises:
            TopicError: the bag has no message on the topic, or messages of another type.
            BagError: the file is damaged.
        """
        for batch in self.batches(topic, message_type):
            yield from batch.messages()

    def batches(self, topic: str, message_type: str) -> Iterator[MessageBatch]:
        """Yield the messages of a topic, many at a time; see :meth:`messages`."""
        available = self.topics
        if topic not in available:
            raise TopicError(self.path, topic, sorted(available))
        if available[topic] != message_type:
            fitting = [name for name, kind in sorted(available.items()) if kind == message_type]
            raise TopicError(
                self.path,
                topic,
                sorted(available),
                f"topic {topic} holds {available[topic]}, not {message_type}"
                + (f"; {', '.join(fitting)} would fit" if fitting else ""),
            )
        return self._batches(topic)

    def _batches(self, topic: str) -> Iterator[MessageBatch]:
        count = expected = 0
        with foreign_errors(self.path):
            for reader in self._readers:
                counts = [x.message_count for x in reader.topics if x.name == topic]
                expected += sum(counts)
                if not counts:
                    continue
                try:
                    for batch in reader.batches(topic):
                        give_up_if(self._cancelled)
                        count += len(batch)
                        yield batch
                except DamagedMessageError as error:
                    number = count + error.number
                    raise BagError(self.path, f"message {number} on {topic} is damaged") from error
        if count == 0:
            raise BagError(
                self.path, f"{expected} messages on {topic} are announced, none is there"
            )
        if count != expected:
            self.warnings.append(
                f"{self.path}: {count} of {expected} announced messages on {topic} are there"
            )

    def digest(self) -> str:
        """Return the SHA-256 of the data files, one behind the other by name, in hexadecimal."""
        digest = hashlib.sha256()
        with foreign_errors(self.path):
            for file in sorted(self.files):
                with file.open("rb") as stream:
                    while block := stream.read(1 << 20):
                        give_up_if(self._cancelled)
                        digest.update(block)
        return digest.hexdigest()


def _instead_of(path: Path) -> str:
    """Return what to do with a file that is no bag of ROS 2."""
    ending = path.suffix.lower()
    if is_table(path):
        return "tables are read by identify, validate and the like; here, give a bag"
    if ending == ".bag":
        old, new = (shlex.quote(str(one)) for one in (path, path.with_suffix("")))
        return f"make one of it, by rosbags-convert --src {old} --dst {new}"
    if ending in _PACKED:
        return "unpack it first"
    if ending in _ARRAYS:
        return "write it as a table (.csv), or take ri.Recording.from_arrays (docs/logs.md)"
    return "give the folder of a rosbag2, a file .db3 or .mcap, or a table .csv, .tsv or .txt"


def _data_files(path: Path) -> list[Path]:
    if not path.exists():
        raise BagError(path, "does not exist")
    if path.is_file():
        if path.suffix not in _FILE_TYPES:
            raise BagError(path, f"not a bag of ROS 2: {_instead_of(path)}")
        return [path]
    if not path.is_dir():
        raise BagError(path, "neither a file nor a folder")
    files = [file for file in path.iterdir() if file.name.endswith(DATA_SUFFIXES)]
    if not files:
        raise BagError(path, "not a bag: the folder holds neither a .db3 nor a .mcap file")
    return sorted(files, key=_in_order_of_numbers)


def _in_order_of_numbers(file: Path) -> tuple[list[str | int], str]:
    """Return what sorts the files of a bag as they were recorded: ``x_2`` before ``x_10``."""
    pieces = re.split(r"(\d+)", file.name)
    return [int(piece) if piece.isdecimal() else piece for piece in pieces], file.name
