"""Joint states out of bags, mapped to the joints of a robot by name in every message."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_identification.errors import (
    BagError,
    JointNameError,
    MissingSignalError,
    SampleError,
)
from robot_identification.robot.model import Array
from robot_identification.signals.recording import RawSamples
from robot_identification.storage.bag_files import Bag, open_bag
from robot_identification.storage.joint_state_cdr import (
    MESSAGE_TYPE,
    Layout,
    LayoutError,
    layout_of,
)

JOINT_STATES = "/joint_states"
_BATCH = 65536
# Beyond this number of layouts in a batch, messages are read one by one.
_MOST_LAYOUTS = 32


@dataclass(frozen=True)
class BagJointStates:
    """Joint states that a bag holds.

    Attributes:
        samples: the joint states, in the order of the bag.
        source: path of the bag.
        digest: SHA-256 of its data files.
        warnings: what is suspicious about the bag.
    """

    samples: RawSamples
    source: str
    digest: str
    warnings: tuple[str, ...] = ()


def read_joint_states(
    path: str | Path,
    joint_names: Sequence[str],
    *,
    topic: str = JOINT_STATES,
    reference_topic: str | None = None,
    efforts_needed: bool = True,
    positions_needed: bool = True,
) -> BagJointStates:
    """Read the joint states of a robot from a bag.

    Header stamps are the clock.  Joints are found by their names in every message, whatever their
    order; other joints are ignored, and so are messages without any joint of the robot.

    Args:
        path: folder of a rosbag2 (SQLite or MCAP), or a bare .db3 or .mcap file.
        joint_names: joints of the robot, in the order wanted.
        topic: topic of the joint states (sensor_msgs/JointState).
        reference_topic: topic of the positions that the controller was asked for, also
            sensor_msgs/JointState.  A state gets the newest reference that is no newer than
            itself.  None, or a topic that the bag does not have: no reference.
        efforts_needed: whether efforts must be there; without, all of them are 0.
        positions_needed: whether every position must be there; without, positions that are not
            all finite are all NaN.

    Returns:
        The samples, still as measured (joint or motor side), with a digest of the bag.
        Velocities are None where a joint has none at all.

    Raises:
        BagError: the bag cannot be read: not there, not a bag, truncated, damaged or empty.
        TopicError: there are no joint states on the topic.
        JointNameError: a message lacks a joint of the robot.
        MissingSignalError: positions or efforts are absent.
        SampleError: a position or effort is NaN or infinite.
    """
    names = tuple(joint_names)
    with open_bag(path) as bag:
        states = StateCollector(bag, topic, names).collect()
        if not efforts_needed:
            states = states._replace(effort=np.zeros((len(states.stamps), len(names))))
        if not positions_needed:
            states = _with_any_positions(states)
        for signal, values in (("position", states.position), ("effort", states.effort)):
            if values is None:
                raise MissingSignalError(signal, f"{bag.path}: {topic}")
            if positions_needed or signal != "position":
                check_finite(signal, values, names)
        reference = None
        if reference_topic is not None and reference_topic in bag.topics:
            reference = _reference(bag, reference_topic, names, states.stamps)
        digest = bag.digest()
        warnings = tuple(bag.warnings)
    samples = RawSamples(
        stamps=states.stamps,
        position=_present(states.position),
        velocity=_measured(states.velocity),
        effort=_present(states.effort),
        reference=reference,
    )
    return BagJointStates(samples, str(path), digest, warnings)


class JointStateStream:
    """Joint states of an open bag, some at a time; made by :func:`stream_joint_states`.

    Attributes:
        source: path of the bag.
    """

    def __init__(self, bag: Bag, topic: str, joint_names: Sequence[str]) -> None:
        self.source = str(bag.path)
        self._bag = bag
        self._topic = topic
        self._names = tuple(joint_names)

    def batches(self) -> Iterator[RawSamples]:
        """Yield positions and efforts in the order of the bag, some 65 000 samples at a time.

        Raises:
            BagError: the bag is damaged.
            TopicError: there are no joint states on the topic.
            JointNameError: a message lacks a joint of the robot.
            MissingSignalError: positions or efforts are absent.
            SampleError: a position or effort is NaN or infinite.
        """
        read = 0
        for states in StateCollector(self._bag, self._topic, self._names).batches():
            if not len(states.stamps):
                continue
            for signal, values in (("position", states.position), ("effort", states.effort)):
                if values is None:
                    raise MissingSignalError(signal, f"{self.source}: {self._topic}")
                check_finite(signal, values, self._names, read)
            read += len(states.stamps)
            yield RawSamples(
                states.stamps, _present(states.position), None, _present(states.effort)
            )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is suspicious about the bag, as far as it has been read."""
        return tuple(self._bag.warnings)

    def digest(self) -> str:
        """Return the SHA-256 of its data files."""
        return self._bag.digest()


@contextmanager
def stream_joint_states(
    path: str | Path, joint_names: Sequence[str], *, topic: str = JOINT_STATES
) -> Iterator[JointStateStream]:
    """Open a bag to read joint states that need not fit into memory.

    Args:
        path: folder of a rosbag2 (SQLite or MCAP), or a bare .db3 or .mcap file.
        joint_names: joints of the robot, in the order wanted.
        topic: topic of the joint states (sensor_msgs/JointState).

    Raises:
        BagError: the bag cannot be read: not there, not a bag, truncated, damaged or empty.
    """
    with open_bag(path) as bag:
        yield JointStateStream(bag, topic, joint_names)


class States(NamedTuple):
    """Columns of messages; None where a signal is empty in every message."""

    stamps: npt.NDArray[np.int64]
    position: Array | None
    velocity: Array | None
    effort: Array | None


def _present(values: Array | None) -> Array:
    if values is None:
        raise TypeError("a signal that was checked is absent")
    return values


def _with_any_positions(states: States) -> States:
    """Return states whose positions are there: NaN, all of them, if any is missing."""
    if states.effort is None or (
        states.position is not None and np.isfinite(states.position).all()
    ):
        return states
    return states._replace(position=np.full(states.effort.shape, np.nan))


def _measured(velocity: Array | None) -> Array | None:
    """Return velocities, None where a joint has none at all."""
    if velocity is None or np.isnan(velocity).all(axis=0).any():
        return None
    return velocity


def check_finite(signal: str, values: Array, names: Sequence[str], first: int = 0) -> None:
    """Refuse values that are not finite.

    Args:
        signal: what they are.
        values: (samples, joints).
        names: names of the joints.
        first: number of the first sample.

    Raises:
        SampleError: a value is NaN or infinite.
    """
    bad = ~np.isfinite(values)
    if bad.any():
        index, joint = np.argwhere(bad)[0]
        raise SampleError(signal, names[joint], first + int(index), float(values[index, joint]))


def _reference(
    bag: Bag, topic: str, names: tuple[str, ...], stamps: npt.NDArray[np.int64]
) -> Array | None:
    """Return (samples, joints) the newest reference at every stamp, None where it begins later."""
    states = StateCollector(bag, topic, names).collect()
    if states.position is None:
        raise MissingSignalError("position", f"{bag.path}: {topic}")
    check_finite("reference", states.position, names)
    order = np.argsort(states.stamps, kind="stable")
    places = np.searchsorted(states.stamps[order], stamps, side="right") - 1
    if (places < 0).any():
        bag.warnings.append(
            f"{bag.path}: {topic} begins after the joint states; the reference was left out"
        )
        return None
    reference: Array = states.position[order][places]
    return reference


class StateCollector:
    """Turns the messages of a topic into columns, batch by batch.

    Args:
        bag: an open bag.
        topic: the topic.
        names: joints, in the order of the columns.
    """

    def __init__(self, bag: Bag, topic: str, names: tuple[str, ...]) -> None:
        self._bag = bag
        self._topic = topic
        self._names = names
        self._places: dict[tuple[str, ...], npt.NDArray[np.intp] | None] = {}
        self._skipped = 0
        self._seen: dict[str, None] = {}

    def collect(self) -> States:
        """Return all messages of the topic that have the joints."""
        batches = list(self.batches())
        stamps = np.concatenate([batch.stamps for batch in batches])
        lengths = [len(batch.stamps) for batch in batches]
        return States(
            stamps,
            position=_joined([batch.position for batch in batches], lengths),
            velocity=_joined([batch.velocity for batch in batches], lengths),
            effort=_joined([batch.effort for batch in batches], lengths),
        )

    def batches(self) -> Iterator[States]:
        """Yield the messages of the topic that have the joints, some at a time."""
        messages = self._bag.messages(self._topic, MESSAGE_TYPE)
        found = 0
        while batch := [message for _, message in islice(messages, _BATCH)]:
            states = self._batch(batch)
            found += len(states.stamps)
            yield states
        if not found:
            raise JointNameError(self._names, tuple(self._seen), self._where)
        if self._skipped:
            self._bag.warnings.append(
                f"{self._where}: {self._skipped} messages are of other joints and were ignored"
            )

    @property
    def _where(self) -> str:
        return f"{self._bag.path}: {self._topic}"

    def _batch(self, messages: list[bytes]) -> States:
        shape = (len(messages), len(self._names))
        stamps = np.zeros(len(messages), dtype=np.int64)
        used = np.zeros(len(messages), dtype=np.bool_)
        signals = {name: np.full(shape, np.nan) for name in ("position", "velocity", "effort")}
        present = dict.fromkeys(signals, False)
        for rows, layout, table in self._groups(messages):
            places = self._columns(layout)
            if places is None:
                self._skipped += len(rows)
                continue
            used[rows] = True
            stamps[rows] = self._stamps(layout, table)
            for i, (name, values) in enumerate(signals.items()):
                if layout.counts[i]:
                    present[name] = True
                    values[rows] = layout.numbers(table, name)[:, places]
        return States(
            stamps[used],
            *(signals[name][used] if present[name] else None for name in signals),
        )

    def _groups(
        self, messages: list[bytes]
    ) -> Iterator[tuple[npt.NDArray[np.intp], Layout, npt.NDArray[np.uint8]]]:
        """Yield places, layout and joined bytes of messages of one layout each."""
        lengths: dict[int, list[int]] = defaultdict(list)
        for place, message in enumerate(messages):
            lengths[len(message)].append(place)
        layouts = 0
        for length, members in lengths.items():
            rows = np.array(members, dtype=np.intp)
            joined = b"".join(
                messages if len(rows) == len(messages) else [messages[i] for i in rows]
            )
            table = np.frombuffer(joined, dtype=np.uint8).reshape(len(rows), length)
            while len(rows):
                layouts += 1
                layout = self._layout(table[0].tobytes())
                if layouts > _MOST_LAYOUTS:
                    yield rows[:1], layout, table[:1]
                    rows, table = rows[1:], table[1:]
                    continue
                same = layout.matches(table)
                if same.all():
                    yield rows, layout, table
                    break
                yield rows[same], layout, table[same]
                rows, table = rows[~same], table[~same]

    def _stamps(self, layout: Layout, table: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
        try:
            return layout.stamps(table)
        except LayoutError as error:
            raise self._damaged(error) from error

    def _damaged(self, error: LayoutError) -> BagError:
        return BagError(self._bag.path, f"a message on {self._topic} is damaged: {error}")

    def _layout(self, message: bytes) -> Layout:
        try:
            layout = layout_of(message)
        except LayoutError as error:
            raise self._damaged(error) from error
        for i, name in enumerate(("position", "velocity", "effort")):
            if layout.counts[i] not in (0, len(layout.names)):
                raise BagError(
                    self._bag.path,
                    f"a message on {self._topic} has {len(layout.names)} names and "
                    f"{layout.counts[i]} values of {name}; the driver must publish one per joint",
                )
        try:
            layout.check_end(len(message))
        except LayoutError as error:
            raise self._damaged(error) from error
        return layout

    def _columns(self, layout: Layout) -> npt.NDArray[np.intp] | None:
        """Return the places of the robot's joints in messages, None where they have none."""
        if layout.names not in self._places:
            self._places[layout.names] = self._found(layout.names)
        return self._places[layout.names]

    def _found(self, names: tuple[str, ...]) -> npt.NDArray[np.intp] | None:
        self._seen.update(dict.fromkeys(names))
        missing = [name for name in self._names if name not in names]
        if len(missing) == len(self._names):
            return None
        if missing:
            raise JointNameError(missing, names, self._where)
        twice = [name for name in self._names if names.count(name) > 1]
        if twice:
            raise BagError(
                self._bag.path, f"a message on {self._topic} names joint {twice[0]} twice"
            )
        return np.array([names.index(name) for name in self._names], dtype=np.intp)


def _joined(parts: list[Array | None], lengths: list[int]) -> Array | None:
    """Join parts of a signal; where it is empty in some of them only, these become NaN."""
    columns = next((part.shape[1] for part in parts if part is not None), None)
    if columns is None:
        return None
    return np.concatenate(
        [
            np.full((length, columns), np.nan) if part is None else part
            for part, length in zip(parts, lengths, strict=True)
        ]
    )
