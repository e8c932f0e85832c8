"""Bags that grow while they can be read: part by part, each a whole file.

A part is an MCAP file of its own, with checksums, flushed to the disk and moved to its place when
it is complete.  Whatever happens to the writer, the parts that are there are whole, and a folder of
them is a bag that can be read.  Its metadata come last, so that they never tell less than is there;
where the writer was killed, `ros2 bag reindex` makes them.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from robot_identification.files.atomic import flush_file, write_bytes_atomically
from robot_identification.files.bags.cdr.dynamic_states import MESSAGE_TYPE as DYNAMIC_STATE
from robot_identification.files.bags.cdr.dynamic_states import dynamic_layout_of
from robot_identification.files.bags.cdr.joint_states import MESSAGE_TYPE, layout_of
from robot_identification.files.bags.cdr.values import LayoutError
from robot_identification.files.bags.libraries.metadata import METADATA, read_metadata
from robot_identification.files.bags.writing import check_bag_target, output_errors, write_bag

_INFORMATION = "rosbag2_bagfile_information"


class BagMessage(NamedTuple):
    """A message of a bag.

    ``time`` is that of recording, in ns; ``message`` is in CDR, with the four bytes that say so.
    """

    topic: str
    message_type: str
    time: int
    message: bytes


class PartedBag:
    """A bag that is written part by part; its folder is made at once.

    Args:
        path: folder to make.

    Raises:
        OutputError: if it cannot be made, or something is there.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = check_bag_target(path)
        self._parts: list[dict[str, Any]] = []
        with output_errors(path):
            self.path.mkdir()
            flush_file(self.path.parent)

    def write(self, messages: Sequence[BagMessage]) -> None:
        """Write messages as the next part.

        Args:
            messages: in order of arrival; none is no part.

        Raises:
            OutputError: if they cannot be written; the parts before are untouched.
        """
        if not messages:
            return
        name = f"{self.path.name}_{len(self._parts):05d}"
        made = self.path / name
        try:
            with write_bag(made) as bag:
                for message in messages:
                    bag.write(*_trimmed(message))
            with output_errors(self.path):
                metadata = read_metadata(made / METADATA)
                file = f"{name}.mcap"
                (made / file).rename(self.path / file)
                flush_file(self.path)
                self._parts.append(metadata[_INFORMATION])
        finally:
            shutil.rmtree(made, ignore_errors=True)

    def close(self) -> None:
        """Write the metadata, if there is any part.

        Raises:
            OutputError: if they cannot be written; the bag can be read without them.
        """
        if self._parts:
            text = yaml.safe_dump({_INFORMATION: _joined(self._parts)}, sort_keys=False)
            with output_errors(self.path):
                write_bytes_atomically(self.path / METADATA, text.encode("utf-8"))


_ENDS: Mapping[str, Callable[[bytes], int]] = {
    MESSAGE_TYPE: lambda message: layout_of(message).end,
    DYNAMIC_STATE: lambda message: dynamic_layout_of(message).end,
}
"""Place behind the last byte of messages, by their type."""


def _trimmed(message: BagMessage) -> BagMessage:
    """Return a message without what its middleware has left behind the end of a joint state."""
    end_of = _ENDS.get(message.message_type)
    if end_of is None:
        return message
    try:
        return message._replace(message=message.message[: end_of(message.message)])
    except LayoutError:
        return message


def _joined(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the metadata of several parts as those of one bag."""
    files = [file for part in parts for file in part["files"]]
    begins = [file["starting_time"]["nanoseconds_since_epoch"] for file in files]
    ends = [b + f["duration"]["nanoseconds"] for b, f in zip(begins, files, strict=True)]
    topics: dict[str, dict[str, Any]] = {}
    for part in parts:
        for topic in part["topics_with_message_count"]:
            name = topic["topic_metadata"]["name"]
            known = topics.setdefault(name, {**topic, "message_count": 0})
            known["message_count"] += topic["message_count"]
    return {
        **parts[0],
        "relative_file_paths": [path for part in parts for path in part["relative_file_paths"]],
        "starting_time": {"nanoseconds_since_epoch": min(begins)},
        "duration": {"nanoseconds": max(ends) - min(begins)},
        "message_count": sum(part["message_count"] for part in parts),
        "topics_with_message_count": list(topics.values()),
        "files": files,
    }
