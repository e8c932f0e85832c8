"""Columns of joint states out of serialised messages, by the names of the joints in each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_identification.errors import BagError, JointNameError, RecordingError
from robot_identification.files.bags.cdr.dynamic_states import (
    INTERFACES,
    DynamicLayout,
    dynamic_layout_of,
)
from robot_identification.files.bags.cdr.dynamic_states import MESSAGE_TYPE as DYNAMIC_STATE
from robot_identification.files.bags.cdr.dynamic_states import SIGNALS as DYNAMIC_SIGNALS
from robot_identification.files.bags.cdr.joint_states import (
    MESSAGE_TYPE,
    Layout,
    layout_of,
)
from robot_identification.files.bags.cdr.values import LayoutError
from robot_identification.files.bags.files import Bag
from robot_identification.files.mcap.message_batches import MessageBatch
from robot_identification.robot.arrays import Array
from robot_identification.signals.joint_columns import JointColumns

_BATCH = 65536
# Beyond this number of layouts in a batch, messages are read one by one.
_MOST_LAYOUTS = 32


_SIGNALS = ("position", "velocity", "effort")


class States(NamedTuple):
    """Columns of messages; None where a signal is empty in every message.

    Temperatures, in degrees Celsius, come of states with interfaces of every joint only.
    """

    stamps: npt.NDArray[np.int64]
    position: Array | None
    velocity: Array | None
    effort: Array | None
    temperature: Array | None = None

    @property
    def unstamped(self) -> bool:
        """Whether there are several states, and all of their stamps are 0."""
        return len(self.stamps) > 1 and not self.stamps.any()

    def at(self, places: npt.NDArray[np.bool_]) -> States:
        """Return some of the states."""
        if places.all():
            return self
        return States(*(None if values is None else values[places] for values in self))  # type: ignore[arg-type]  # stamps are never None


AnyLayout = Layout | DynamicLayout
"""Layout of states of either type."""


class StateCollector:
    """Turns the messages of a topic into columns, batch by batch.

    Args:
        bag: an open bag.
        topic: the topic.
        names: joints, in the order of the columns.
        kind: type of the messages; of states of a controller come the references, with
            accelerations in place of efforts.
        interfaces: signal -> name of its interface, in states with interfaces of every joint.
        partly: whether messages count that have some of the joints only, with NaN for the others.
        recorded: whether the times of recording count in place of the stamps.
    """

    def __init__(
        self,
        bag: Bag,
        topic: str,
        names: tuple[str, ...],
        kind: str = MESSAGE_TYPE,
        interfaces: Mapping[str, str] = INTERFACES,
        *,
        partly: bool = False,
        recorded: bool = False,
    ) -> None:
        self._partly, self._recorded = partly, recorded
        self._bag = bag
        self._topic = topic
        self._kind = kind
        self._interfaces = interfaces
        self._is_dynamic = kind == DYNAMIC_STATE
        self._signals = DYNAMIC_SIGNALS if self._is_dynamic else _SIGNALS
        self._names = names
        self._columns = JointColumns(names, f"{bag.path}: {topic}")
        self._skipped = 0
        self._seen: dict[str, None] = {}

    def collect(self) -> States:
        """Return all messages of the topic that have the joints."""
        return _joined(list(self.batches()))

    def batches(self) -> Iterator[States]:
        """Yield the messages of the topic that have the joints, some 65 000 at a time."""
        found = read = 0
        parts: list[States] = []
        for batch in self._bag.batches(self._topic, self._kind):
            parts.append(self._columns_of(batch))
            found += len(parts[-1].stamps)
            read += len(batch)
            if read >= _BATCH:
                yield _joined(parts)
                parts, read = [], 0
        if parts:
            yield _joined(parts)
        if not found:
            raise JointNameError(self._names, tuple(self._seen), self._where)
        if self._skipped:
            self._bag.warnings.append(
                f"{self._where}: {self._skipped} messages are of other joints and were ignored"
            )

    @property
    def _where(self) -> str:
        return f"{self._bag.path}: {self._topic}"

    def _columns_of(self, batch: MessageBatch) -> States:
        shape = (len(batch), len(self._names))
        stamps = np.zeros(len(batch), dtype=np.int64)
        used = np.zeros(len(batch), dtype=np.bool_)
        signals = {name: np.full(shape, np.nan) for name in self._signals}
        present = dict.fromkeys(signals, False)
        for rows, layout, table in self._groups(batch):
            places = self._places_in(layout)
            if places is None:
                self._skipped += len(rows)
                continue
            used[rows] = True
            stamps[rows] = batch.times[rows] if self._recorded else self._stamps(layout, table)
            for name, values in signals.items():
                if layout.has(name):
                    present[name] = True
                    values[rows] = self._numbers(layout, table, name)[:, places]
        rows_used = slice(None) if used.all() else used
        return States(
            stamps[rows_used],
            *(signals[name][rows_used] if present[name] else None for name in signals),
        )

    def _numbers(self, layout: AnyLayout, table: npt.NDArray[np.uint8], signal: str) -> Array:
        """Return (messages, joints) a signal; a column of NaN at the end where some may lack."""
        numbers = layout.numbers(table, signal)
        return (
            np.pad(numbers, ((0, 0), (0, 1)), constant_values=np.nan) if self._partly else numbers
        )

    def _groups(
        self, batch: MessageBatch
    ) -> Iterator[tuple[npt.NDArray[np.intp], AnyLayout, npt.NDArray[np.uint8]]]:
        """Yield places, layout and bytes of messages of one layout each."""
        layouts = 0
        lengths, firsts = np.unique(batch.lengths, return_index=True)
        for length in lengths[np.argsort(firsts)]:
            rows = np.flatnonzero(batch.lengths == length)
            table = batch.table(rows)
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

    def _stamps(self, layout: AnyLayout, table: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
        try:
            return layout.stamps(table)
        except LayoutError as error:
            raise self._damaged(error) from error

    def _damaged(self, error: LayoutError) -> BagError:
        return BagError(self._bag.path, f"a message on {self._topic} is damaged: {error}")

    def _layout(self, message: bytes) -> AnyLayout:
        try:
            if self._is_dynamic:
                dynamic = dynamic_layout_of(message, self._interfaces)
                dynamic.check_end(len(message))
                return dynamic
            layout = layout_of(message)
        except LayoutError as error:
            raise self._damaged(error) from error
        for i, name in enumerate(_SIGNALS):
            if layout.counts[i] not in (0, len(layout.names)):
                raise BagError(
                    self._bag.path,
                    f"a message on {self._topic} has {len(layout.names)} names and "
                    f"{layout.counts[i]} values of {name}; the driver must publish one per joint",
                )
        try:
            if self._kind == MESSAGE_TYPE:
                layout.check_end(len(message))
        except LayoutError as error:
            raise self._damaged(error) from error
        return layout

    def _places_in(self, layout: AnyLayout) -> npt.NDArray[np.intp] | None:
        """Return the places of the robot's joints in messages, None where they have none."""
        self._seen.update(dict.fromkeys(layout.names))
        if not set(self._names).intersection(layout.names):
            return None
        if self._partly:
            known = (*layout.names, *self._names)  # those that lack have the column at the end
            places = [min(known.index(name), len(layout.names)) for name in self._names]
            return np.array(places, dtype=np.intp)
        try:
            return self._columns.of(layout.names)
        except RecordingError as error:
            twice = next(name for name in self._names if layout.names.count(name) > 1)
            raise BagError(
                self._bag.path, f"a message on {self._topic} names joint {twice} twice"
            ) from error


def _joined(parts: Sequence[States]) -> States:
    """Return states behind each other; a signal that is empty in some parts only is NaN there."""
    if len(parts) == 1:
        return parts[0]
    lengths = [len(part.stamps) for part in parts]
    return States(
        np.concatenate([part.stamps for part in parts]),
        position=_joined_signal([part.position for part in parts], lengths),
        velocity=_joined_signal([part.velocity for part in parts], lengths),
        effort=_joined_signal([part.effort for part in parts], lengths),
        temperature=_joined_signal([part.temperature for part in parts], lengths),
    )


def _joined_signal(parts: Sequence[Array | None], lengths: Sequence[int]) -> Array | None:
    columns = next((part.shape[1] for part in parts if part is not None), None)
    if columns is None:
        return None
    return np.concatenate(
        [
            np.full((length, columns), np.nan) if part is None else part
            for part, length in zip(parts, lengths, strict=True)
        ]
    )


def kind_of(bag: Bag, topic: str) -> str:
    """Return the type of message that joint states of a topic are read as."""
    return DYNAMIC_STATE if bag.topics.get(topic) == DYNAMIC_STATE else MESSAGE_TYPE


def collected(
    bag: Bag,
    topic: str,
    names: tuple[str, ...],
    kind: str = MESSAGE_TYPE,
    interfaces: Mapping[str, str] = INTERFACES,
    *,
    partly: bool = False,
) -> tuple[States, bool]:
    """Return the joint states of a topic, and whether the times of recording are their stamps.

    They are where all stamps are 0.  Arguments are those of :class:`StateCollector`.

    Raises:
        BagError: the bag is damaged.
        JointNameError: a message lacks a joint, or, partly, all messages lack all.
    """
    collector = partial(StateCollector, bag, topic, names, kind, interfaces, partly=partly)
    states = collector().collect()
    if not states.unstamped:
        return states, False
    bag.warnings.append(told_without_stamps(bag, topic))
    return collector(recorded=True).collect(), True


def told_without_stamps(bag: Bag, topic: str) -> str:
    """Return the warning that states of a topic are read by the times of recording."""
    return (
        f"{bag.path}: {topic}: no state has a stamp; the times of recording count, which vary "
        "more: have the driver fill header.stamp"
    )
