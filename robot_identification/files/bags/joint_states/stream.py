"""Joint states of a bag that need not fit into memory, some at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from robot_identification.errors import BagError, MeasuredVelocityError
from robot_identification.files.bags.cdr.dynamic_states import INTERFACES
from robot_identification.files.bags.cdr.joint_states import MESSAGE_TYPE as JOINT_STATE
from robot_identification.files.bags.files import Bag, open_bag
from robot_identification.files.bags.joint_states.columns import (
    StateCollector,
    States,
    kind_of,
    told_without_stamps,
)
from robot_identification.files.bags.joint_states.reading import JOINT_STATES
from robot_identification.files.bags.joint_states.refusals import Refusals
from robot_identification.files.bags.joint_states.signals import (
    joints_without,
    present_signal,
    required_signals,
)
from robot_identification.robot.arrays import Array, check_finite
from robot_identification.signals.raw_samples import RawSamples


class JointStateStream:
    """Joint states of an open bag, some at a time; made by :func:`stream_joint_states`.

    Attributes:
        source: path of the bag.
    """

    def __init__(
        self,
        bag: Bag,
        topic: str,
        joint_names: Sequence[str],
        *,
        velocities: bool = False,
        interfaces: Mapping[str, str] = INTERFACES,
    ) -> None:
        self.source = str(bag.path)
        self._velocities = velocities
        self._bag = bag
        self._topic = topic
        self._names = tuple(joint_names)
        self._interfaces = interfaces

    def batches(self) -> Iterator[RawSamples]:
        """Yield positions and efforts in the order of the bag, some 65 000 samples at a time.

        Where all stamps of the first of them are 0, the times of recording count.

        Raises:
            BagError: the bag is damaged, or interfaces are named and its states have none.
            TopicError: there are no joint states on the topic.
            JointNameError: a message lacks a joint of the robot.
            MissingSignalError: positions or efforts are absent.
            MeasuredVelocityError: velocities are wanted, and a joint has none.
            SampleError: a velocity is NaN or infinite, or more than half of the states have a
                position or effort that is.
        """
        read = 0
        refusals = Refusals(f"{self.source}: {self._topic}", self._names)
        for states in self._states():
            if not len(states.stamps):
                continue
            signals = required_signals(
                self._bag, self._topic, states, self._names, ("position", "effort")
            )
            kept = states.at(refusals.kept(signals))
            if len(kept.stamps):
                velocity = self._velocity(kept, read) if self._velocities else None
                yield RawSamples(
                    kept.stamps,
                    present_signal(kept.position),
                    velocity,
                    present_signal(kept.effort),
                )
            read += len(states.stamps)
        self._bag.warnings += refusals.told()

    def _states(self) -> Iterator[States]:
        """Yield the states, by their stamps or by the times of recording."""
        kind = kind_of(self._bag, self._topic)
        named = [name for signal, name in self._interfaces.items() if name != INTERFACES[signal]]
        if named and self._bag.topics.get(self._topic) == JOINT_STATE:
            problem = (
                f"{self._topic} has JointState, without interfaces such as {named[0]}; name the "
                "topic of a DynamicJointState, or no interfaces"
            )
            raise BagError(self.source, problem)
        collector = partial(
            StateCollector, self._bag, self._topic, self._names, kind, self._interfaces
        )
        undecided = True
        for states in collector().batches():
            if undecided and states.unstamped:
                self._bag.warnings.append(told_without_stamps(self._bag, self._topic))
                yield from collector(recorded=True).batches()
                return
            undecided = undecided and not len(states.stamps)
            yield states

    def _velocity(self, states: States, read: int) -> Array:
        missing = joints_without(states.velocity, self._names)
        if states.velocity is None or missing or np.isnan(states.velocity).all():
            raise MeasuredVelocityError(self.source, missing[0] if missing else "")
        check_finite("velocity", states.velocity, self._names, read)
        return states.velocity

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the bag, as far as it has been read."""
        return tuple(self._bag.warnings)

    def digest(self) -> str:
        """Return the SHA-256 of its data files."""
        return self._bag.digest()


@contextmanager
def stream_joint_states(
    path: str | Path,
    joint_names: Sequence[str],
    *,
    topic: str = JOINT_STATES,
    velocities: bool = False,
    interfaces: Mapping[str, str] = INTERFACES,
) -> Iterator[JointStateStream]:
    """Open a bag to read joint states that need not fit into memory.

    Args:
        path: folder of a rosbag2 (SQLite or MCAP), or a bare .db3 or .mcap file.
        joint_names: joints of the robot, in the order wanted.
        topic: topic of the joint states (sensor_msgs/JointState, control_msgs/DynamicJointState).
        velocities: whether velocities are wanted too.
        interfaces: signal -> name of its interface in a DynamicJointState.

    Raises:
        BagError: the bag cannot be read: not there, not a bag, truncated, damaged or empty.
    """
    with open_bag(path) as bag:
        yield JointStateStream(
            bag, topic, joint_names, velocities=velocities, interfaces=interfaces
        )
