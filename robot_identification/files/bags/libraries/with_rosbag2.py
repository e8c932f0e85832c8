"""Bags through rosbag2_py, which comes with an installed ROS 2 (Jazzy).

Its reader hands over messages one by one.  It has no way to close a file: that happens when the
reader is let go of.  Chunks of MCAP files that are packed are unpacked by it; bags that rosbag2
has packed itself, whole files or single messages, are left to rosbags, because rosbag2 unpacks
files into the folder of the bag, which is not ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any

from rosbag2_py import (
    ConverterOptions,
    SequentialReader,
    SequentialWriter,
    StorageFilter,
    StorageOptions,
    TopicMetadata,
)

from robot_identification.errors import BagError
from robot_identification.files.bags.libraries.interface import OpenBag, Storage, Topic, Writer
from robot_identification.files.bags.libraries.metadata import METADATA, bag_information
from robot_identification.files.mcap.message_batches import MessageBatch, in_batches

_CDR = "cdr"
_STORAGES = {".db3": "sqlite3", ".mcap": "mcap"}


def opened(path: Path) -> OpenBag:
    """Open a bag; see :class:`.interface.Library`.

    Raises:
        BagError: rosbag2 has packed it, or its metadata name files elsewhere.
    """
    return _Bag(path, _storage_of_folder(path) if path.is_dir() else _STORAGES[path.suffix])


class _Bag:
    """What rosbag2 says of a bag; every pass over its messages has a reader of its own."""

    def __init__(self, path: Path, storage: str) -> None:
        self._path, self._storage = path, storage
        metadata = self._reader().get_metadata()
        self.message_count = metadata.message_count
        topics = [(x.topic_metadata, x.message_count) for x in metadata.topics_with_message_count]
        for topic, _ in topics:
            if topic.serialization_format != _CDR:
                raise BagError(
                    path,
                    f"topic {topic.name} is serialised as {topic.serialization_format}, not in CDR",
                )
        self.topics = tuple(Topic(topic.name, topic.type, count) for topic, count in topics)

    def batches(self, topic: str) -> Iterator[MessageBatch]:
        reader = self._reader()
        reader.set_filter(StorageFilter(topics=[topic]))
        return in_batches(_messages(reader))

    def close(self) -> None:
        """Do nothing: no reader outlives its pass."""

    def _reader(self) -> Any:
        reader = SequentialReader()
        options = StorageOptions(uri=str(self._path), storage_id=self._storage)
        reader.open(options, ConverterOptions("", ""))  # messages as they are
        return reader


def _messages(reader: Any) -> Iterator[tuple[str, int, bytes]]:
    while reader.has_next():
        topic, message, time = reader.read_next()
        yield topic, time, message


def _storage_of_folder(path: Path) -> str:
    """Return the storage that the metadata of a bag name, whose files lie in its folder."""
    about = bag_information(path / METADATA)
    mode = str(about.get("compression_mode") or "none").lower()
    if mode != "none":
        raise BagError(
            path,
            f"packed by rosbag2 ({mode} by {mode}), which is read with rosbags only: "
            "pip install rosbags, or unpack it by `ros2 bag convert`",
        )
    for name in about.get("relative_file_paths") or ():
        place = PurePath(str(name))
        # Before version 4 of the metadata, files were named from the folder above.
        if place.parts not in ((place.name,), (path.resolve().name, place.name)):
            raise BagError(path, f"its metadata name the file {str(name)!r:.80} of another folder")
    storage = str(about.get("storage_identifier"))
    if storage not in _STORAGES.values():
        raise BagError(path, f"storage {storage!r:.40} is neither sqlite3 nor mcap")
    return storage


def writer(path: Path, storage: Storage) -> Writer:
    """Begin a bag; see :class:`.interface.Library`."""
    return _Writer(path, storage)


class _Writer:
    """An open writer of rosbag2."""

    def __init__(self, path: Path, storage: Storage) -> None:
        self._topics: set[str] = set()
        self._writer: Any = SequentialWriter()
        options = StorageOptions(uri=str(path), storage_id=storage)
        self._writer.open(options, ConverterOptions(_CDR, _CDR))

    def write(self, topic: str, message_type: str, time: int, message: bytes) -> None:
        if topic not in self._topics:
            metadata = TopicMetadata(
                id=len(self._topics), name=topic, type=message_type, serialization_format=_CDR
            )
            self._writer.create_topic(metadata)
            self._topics.add(topic)
        self._writer.write(topic, message, time)

    def close(self) -> None:
        self._writer.close()

    def abort(self) -> None:
        with suppress(RuntimeError):  # it writes metadata, which are of no use any more
            self._writer.close()
