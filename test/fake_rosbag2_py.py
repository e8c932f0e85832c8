"""Module with the interface of rosbag2_py of Jazzy, as far as bags are read and written by it.

Names, arguments, types and what is refused are those of rosbag2_py 0.26 (its ``_storage.cpp``,
``_reader.cpp``, ``_writer.cpp`` and the ``SequentialReader`` and ``SequentialWriter`` of
rosbag2_cpp behind them).  Files are read and written by rosbags.
"""

from pathlib import Path
from types import SimpleNamespace

from rosbags.rosbag2 import Reader, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

_PLUGINS = {"sqlite3": StoragePlugin.SQLITE3, "mcap": StoragePlugin.MCAP}


def _typed(**values):
    """Refuse what pybind would: a value of another type than the one named."""
    for name, (value, kind) in values.items():
        if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
            raise TypeError(f"incompatible function arguments: {name} = {value!r}")


class ConverterOptions:
    def __init__(self, input_serialization_format="", output_serialization_format=""):
        self.input_serialization_format = input_serialization_format
        self.output_serialization_format = output_serialization_format


class StorageOptions:
    def __init__(
        self,
        uri,
        storage_id="",
        max_bagfile_size=0,
        max_bagfile_duration=0,
        max_cache_size=0,
        storage_preset_profile="",
        storage_config_uri="",
        snapshot_mode=False,
        start_time_ns=-1,
        end_time_ns=-1,
        custom_data=None,
    ):
        _typed(uri=(uri, str), storage_id=(storage_id, str))
        self.uri, self.storage_id = uri, storage_id


class StorageFilter:
    def __init__(
        self,
        topics=(),
        services_events=(),
        regex="",
        exclude_topics=(),
        exclude_service_events=(),
        regex_to_exclude="",
    ):
        _typed(topics=(topics, list | tuple))
        self.topics = list(topics)


class TopicMetadata:
    def __init__(
        self,
        id,  # noqa: A002
        name,
        type,  # noqa: A002
        serialization_format,
        offered_qos_profiles=(),
        type_description_hash="",
    ):
        _typed(id=(id, int), name=(name, str), type=(type, str))
        self.id, self.name, self.type = id, name, type
        self.serialization_format = serialization_format


class SequentialReader:
    opened = 0
    """Readers that were opened."""

    def __init__(self):
        self._reader = None

    def open(self, storage_options, converter_options, /):
        if converter_options.output_serialization_format not in ("", "cdr"):
            raise RuntimeError("no converter")
        path = Path(storage_options.uri)
        if not path.is_dir() and storage_options.storage_id not in _PLUGINS:
            raise RuntimeError("No storage could be initialized from the inputs.")
        try:
            self._reader = Reader(path)
            self._reader.open()
        except Exception as error:
            raise RuntimeError(str(error)) from error
        self._left = None
        SequentialReader.opened += 1

    def __del__(self):
        if self._reader is not None:
            self._reader.close()

    def _opened(self):
        if self._reader is None:
            raise RuntimeError("Bag is not open. Call open() before reading.")
        return self._reader

    def get_metadata(self):
        reader = self._opened()
        topics = [
            SimpleNamespace(
                topic_metadata=TopicMetadata(i, x.topic, x.msgtype, x.ext.serialization_format),
                message_count=x.msgcount,
            )
            for i, x in enumerate(reader.connections)
        ]
        return SimpleNamespace(message_count=reader.message_count, topics_with_message_count=topics)

    def set_filter(self, storage_filter, /):
        wanted = storage_filter.topics
        connections = [x for x in self._opened().connections if x.topic in wanted or not wanted]
        self._left = list(self._reader.messages(connections))[::-1]

    def has_next(self):
        if self._left is None:
            self.set_filter(StorageFilter())
        return bool(self._left)

    def read_next(self):
        if not self.has_next():
            raise RuntimeError("Bag is at end. No next message.")
        connection, time, message = self._left.pop()
        return connection.topic, bytes(message), time


class SequentialWriter:
    def __init__(self):
        self._writer = None

    def open(self, storage_options, converter_options, /):
        formats = vars(converter_options).values()
        if Path(storage_options.uri).is_dir():
            raise RuntimeError("Bag directory already exists, can't overwrite existing bag")
        if set(formats) - {"", "cdr"}:
            raise RuntimeError("no converter")
        plugin = _PLUGINS[storage_options.storage_id]
        self._types = get_typestore(Stores.ROS2_JAZZY)
        self._connections = {}
        self._writer = Writer(Path(storage_options.uri), version=9, storage_plugin=plugin)
        self._writer.open()

    def create_topic(self, topic_with_type, /):
        if self._writer is None:
            raise RuntimeError("Bag is not open. Call open() before writing.")
        if topic_with_type.name not in self._connections:
            self._connections[topic_with_type.name] = self._writer.add_connection(
                topic_with_type.name, topic_with_type.type, typestore=self._types
            )

    def write(self, topic_name, message, time_stamp, send_timestamp=None, /):
        _typed(topic=(topic_name, str), message=(message, bytes | str), time=(time_stamp, int))
        if topic_name not in self._connections:
            raise RuntimeError("Failed to write. Call create_topic() before first write.")
        self._writer.write(self._connections[topic_name], time_stamp, message)

    def close(self):
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    __del__ = close
