"""Bags through rosbags, a package of PyPI that needs no ROS."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rosbags.rosbag2 import Reader, StoragePlugin
from rosbags.rosbag2 import Writer as RosbagsWriter
from rosbags.typesys import Stores, get_typestore

from robot_identification.files.bags.libraries.interface import OpenBag, Storage, Topic, Writer
from robot_identification.files.mcap.message_batches import MessageBatch, message_batches

_PLUGINS = {"sqlite3": StoragePlugin.SQLITE3, "mcap": StoragePlugin.MCAP}
_METADATA_VERSION = 9


def opened(path: Path) -> OpenBag:
    """Open a bag; see :class:`.interface.Library`."""
    return _Bag(path)


class _Bag:
    """An open reader of rosbags."""

    def __init__(self, path: Path) -> None:
        self._reader = reader = Reader(path)
        reader.open()
        self.message_count = reader.message_count
        self.topics = tuple(Topic(x.topic, x.msgtype, x.msgcount) for x in reader.connections)

    def batches(self, topic: str) -> Iterator[MessageBatch]:
        connections = [x for x in self._reader.connections if x.topic == topic]
        return message_batches(self._reader, connections)

    def close(self) -> None:
        self._reader.close()


def writer(path: Path, storage: Storage) -> Writer:
    """Begin a bag; see :class:`.interface.Library`."""
    return _Writer(path, storage)


class _Writer:
    """An open writer of rosbags."""

    def __init__(self, path: Path, storage: Storage) -> None:
        self._types = get_typestore(Stores.ROS2_JAZZY)
        self._connections: dict[str, Any] = {}
        self._writer = RosbagsWriter(
            path, version=_METADATA_VERSION, storage_plugin=_PLUGINS[storage]
        )
        self._writer.open()

    def write(self, topic: str, message_type: str, time: int, message: bytes) -> None:
        connection = self._connections.get(topic)
        if connection is None:
            connection = self._writer.add_connection(topic, message_type, typestore=self._types)
            self._connections[topic] = connection
        self._writer.write(connection, time, message)

    def close(self) -> None:
        self._writer.close()

    def abort(self) -> None:
        self._writer.abort()
