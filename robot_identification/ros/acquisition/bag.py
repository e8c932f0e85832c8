"""Bags of what recordings receive, each written by a thread of its own."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rclpy.serialization import serialize_message

from robot_identification.errors import OutputError
from robot_identification.files.bags.parts import BagMessage, PartedBag

_LARGEST_PART = 32_000_000
_MOST_WAITING = 256_000_000
_PATIENCE = 0.2
_FINISH = 10.0


def bag_folder(directory: str) -> Path | None:
    """Return the folder of the bags, which is made with those above it; None where none is wanted.

    Args:
        directory: parameter ``bag_directory``; ``~`` is the home of the user.

    Raises:
        OutputError: it cannot be made, or nothing can be written to it.
    """
    if not directory:
        return None
    try:
        folder = Path(directory).expanduser()
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:
        raise OutputError(directory, f"no folder for bags can be made: {error}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(directory, "no bag can be written there: permission denied")
    return folder


class BagRecording:
    """Takes messages without ever waiting for the disk.

    Where the disk is full, or too slow to keep up, the bag ends with the last part that was
    written, and ``problem`` says why; what is recorded otherwise goes on.

    Attributes:
        problem: why the bag has ended before its time; empty if it has not.
        messages: number of messages on the disk.

    Args:
        path: folder of the bag, which is made.
        period: time after which a part is written, in s; it is what a kill can lose.

    Raises:
        OutputError: the folder cannot be made, or something is there.
    """

    def __init__(self, path: Path, period: float) -> None:
        self._bag = PartedBag(path)
        self._period = period
        self._queue: queue.SimpleQueue[BagMessage | None] = queue.SimpleQueue()
        self._waiting = 0
        self._lock = threading.Lock()
        self.problem = ""
        self.messages = 0
        self._thread = threading.Thread(target=self._run, name="bag", daemon=True)
        self._thread.start()

    @property
    def path(self) -> Path:
        """Folder of the bag."""
        return self._bag.path

    def add(self, message: BagMessage) -> None:
        """Take in a message; where the bag has ended it is dropped."""
        if self.problem:
            return
        with self._lock:
            self._waiting += len(message.message)
            too_many = self._waiting > _MOST_WAITING
        if too_many:
            self._fail(f"{self.path}: the disk does not keep up; the bag ends here")
            return
        self._queue.put(message)

    def close(self) -> None:
        """End the bag, without waiting until it is written."""
        self._queue.put(None)

    def join(self, timeout: float) -> bool:
        """Wait until all is written, no longer than a time in s; tell whether it is."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _fail(self, problem: str) -> None:
        self.problem = self.problem or problem

    def _run(self) -> None:
        ended = False
        while not ended:
            part, ended = self._collect()
            if not self.problem:
                self._write(part)
        try:
            self._bag.close()
        except OutputError as error:
            self._fail(str(error))

    def _write(self, part: list[BagMessage]) -> None:
        try:
            self._bag.write(part)
        except OutputError as error:
            self._fail(str(error))
        else:
            self.messages += len(part)

    def _collect(self) -> tuple[list[BagMessage], bool]:
        """Return the messages of the next part, and whether they are the last ones."""
        part: list[BagMessage] = []
        size, until = 0, time.monotonic() + self._period
        while size < _LARGEST_PART and time.monotonic() < until:
            try:
                message = self._queue.get(timeout=_PATIENCE)
            except queue.Empty:
                continue
            if message is None:
                return part, True
            with self._lock:
                self._waiting -= len(message.message)
            size += len(message.message)
            part.append(message)
        return part, False


class RecordingBags:
    """The bag of the recording under way, and those that are still being written.

    Args:
        period: as of :class:`BagRecording`.

    Attributes:
        current: bag of the recording under way; None: it has none.
    """

    def __init__(self, period: float) -> None:
        self._period = period
        self.current: BagRecording | None = None
        self._ended: list[BagRecording] = []

    def made(
        self, directory: str, recording: str, latched: Iterable[tuple[str, str, Any, int]]
    ) -> BagRecording | None:
        """Make the bag of a recording that is to begin; None where none is wanted.

        Args:
            directory: parameter ``bag_directory``.
            recording: name of the recording.
            latched: topic, type, message and time in ns of what it begins with.

        Raises:
            OutputError: it cannot be made.
        """
        folder = bag_folder(directory)
        if folder is None:
            return None
        bag = BagRecording(folder / recording, self._period)
        for topic, kind, message, received in latched:
            bag.add(BagMessage(topic, kind, received, serialize_message(message)))
        return bag

    def keep(self, topic: str, kind: str, message: Any, received: int) -> None:
        """Put a message into the bag of the recording under way, where there is one.

        Args:
            topic: where it came from.
            kind: its type.
            message: the message.
            received: when it came, in ns.
        """
        if self.current is not None:
            self.current.add(BagMessage(topic, kind, received, serialize_message(message)))

    def end(self) -> None:
        """End the bag of the recording under way, without waiting until it is written."""
        if self.current is not None:
            self.current.close()
            self._ended.append(self.current)
            self.current = None

    def problems(self) -> list[str]:
        """Return why bags have ended before their time; those that are written are forgotten."""
        bags = [*self._ended, *([self.current] if self.current else [])]
        found = [bag.problem for bag in bags if bag.problem]
        self._ended = [bag for bag in self._ended if not bag.join(0.0)]
        return found

    def finish(self) -> list[str]:
        """Wait until ended bags are written, some seconds each; return what went wrong."""
        wrong = []
        for bag in self._ended:
            if not bag.join(_FINISH):
                wrong.append(f"bag {bag.path}: the disk does not keep up; cut short")
            elif bag.problem:
                wrong.append(f"bag: {bag.problem}")
        return wrong
