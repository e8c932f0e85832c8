"""Joint states out of bags, mapped to the joints of a robot by name in every message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from robot_identification.errors import (
    MeasuredVelocityError,
    MissingSignalError,
    TopicError,
)
from robot_identification.files.bags.cdr.dynamic_states import INTERFACES
from robot_identification.files.bags.cdr.dynamic_states import MESSAGE_TYPE as DYNAMIC_STATE
from robot_identification.files.bags.files import JOINT_TRAJECTORY, Bag, open_bag
from robot_identification.files.bags.joint_state_cdr import CONTROLLER_STATE
from robot_identification.files.bags.joint_state_cdr import MESSAGE_TYPE as JOINT_STATE
from robot_identification.files.bags.joint_state_columns import (
    StateCollector,
    States,
    collected,
    kind_of,
    told_without_stamps,
)
from robot_identification.files.bags.refusals import Refusals
from robot_identification.files.cancelling import Cancelled
from robot_identification.robot.arrays import by_value, check_finite
from robot_identification.robot.model import Array
from robot_identification.signals.clock import in_order, newest_at
from robot_identification.signals.recording import RawSamples

JOINT_STATES = "/joint_states"


@by_value
@dataclass(frozen=True)
class BagJointStates:
    """Joint states that a bag holds.

    Attributes:
        samples: the joint states, in the order of the bag.
        source: path of the bag.
        digest: SHA-256 of its data files.
        warnings: what is suspicious about the bag.
        without_velocity: joints that have no velocities, where others have some.
        temperatures: (samples, joints) in degrees Celsius, of tables and of states with interfaces
            of every joint that have them; NaN where a joint has none.
        has_interfaces: whether states had interfaces of every joint.
        refused: states that were left out, for a position or effort is NaN or infinite.
    """

    samples: RawSamples
    source: str
    digest: str
    warnings: tuple[str, ...] = ()
    without_velocity: tuple[str, ...] = ()
    temperatures: Array | None = None
    has_interfaces: bool = False
    refused: int = 0


def read_joint_states(
    path: str | Path,
    joint_names: Sequence[str],
    *,
    topic: str = JOINT_STATES,
    reference_topic: str | None = None,
    efforts_needed: bool = True,
    positions_needed: bool = True,
    interfaces: Mapping[str, str] = INTERFACES,
    cancelled: Cancelled | None = None,
) -> BagJointStates:
    """Read the joint states of a robot from a bag.

    Header stamps are the clock; where all of them are 0, the times of recording are.  Joints are
    found by their names in every message, whatever their order; other joints are ignored, and so
    are messages without any joint of the robot.  States with a position or effort that is NaN or
    infinite are left out, and told in ``warnings``; velocities some of which are NaN or infinite
    count as absent.

    Args:
        path: folder of a rosbag2 (SQLite or MCAP), or a bare .db3 or .mcap file.
        joint_names: joints of the robot, in the order wanted.
        topic: topic of the joint states (sensor_msgs/JointState, control_msgs/DynamicJointState).
        reference_topic: topic of the positions that the controller was asked for, also
            sensor_msgs/JointState, or control_msgs/JointTrajectoryControllerState.  A state gets
            the newest reference that is no newer than itself.  None, or no such messages on the
            topic, as where it carries trajectories: no reference.
        efforts_needed: whether efforts must be there; without, all of them are 0.
        positions_needed: whether positions must be there; without, positions that are not all
            finite are all NaN.
        interfaces: signal -> name of its interface in a DynamicJointState.
        cancelled: asked now and then whether to give up.

    Returns:
        The samples, still as measured (joint or motor side), with a digest of the bag.
        Velocities are None where a joint has none at all, or none in some of the states.

    Raises:
        BagError: the bag cannot be read: not there, not a bag, truncated, damaged or empty.
        TopicError: there are no joint states on the topic, or what is no reference on that of the
            reference.
        JointNameError: a message lacks a joint of the robot.
        MissingSignalError: positions or efforts are absent.
        SampleError: a position or effort is NaN or infinite in more than half of the states.
        CancelledError: ``cancelled`` says so.
    """
    names = tuple(joint_names)
    with open_bag(path, cancelled) as bag:
        dynamic = bag.topics.get(topic) == DYNAMIC_STATE
        states, recorded = collected(bag, topic, names, kind_of(bag, topic), interfaces)
        if not efforts_needed:
            states = states._replace(effort=np.zeros((len(states.stamps), len(names))))
        if not positions_needed:
            states = _with_any_positions(states)
        needed = ("position", "effort") if positions_needed else ("effort",)
        signals = _required(bag, topic, states, names, needed)
        refusals = Refusals(f"{bag.path}: {topic}", names)
        states = states.at(refusals.kept(signals))
        bag.warnings += refusals.told()
        reference = None
        if reference_topic is not None:
            reference = _reference(bag, reference_topic, names, states.stamps, recorded=recorded)
        without = joints_without(states.velocity, names)
        velocity, told = measured_velocity(states.velocity, names, f"{bag.path}: {topic}")
        bag.warnings += told
        digest = bag.digest()
        warnings = tuple(bag.warnings)
    samples = RawSamples(
        stamps=states.stamps,
        position=_present(states.position),
        velocity=velocity,
        effort=_present(states.effort),
        reference=reference,
    )
    return BagJointStates(
        *(samples, str(path), digest, warnings, without, states.temperature, dynamic),
        refused=refusals.count,
    )


def _required(
    bag: Bag, topic: str, states: States, names: Sequence[str], signals: Sequence[str]
) -> dict[str, Array]:
    """Return name -> (samples, joints) of signals that must be there.

    Args:
        bag: the bag.
        topic: of the states.
        states: some of them.
        names: of the joints.
        signals: names of the signals.

    Raises:
        MissingSignalError: no state has one of them, or a joint has no interface of it.
    """
    where, required = f"{bag.path}: {topic}", {}
    for signal in signals:
        values: Array | None = getattr(states, signal)
        if values is None:
            raise MissingSignalError(signal, where)
        if bag.topics.get(topic) == DYNAMIC_STATE and len(values):
            for joint in np.flatnonzero(np.isnan(values).all(axis=0))[:1]:
                raise MissingSignalError(signal, where, names[joint])
        required[signal] = values
    return required


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
            BagError: the bag is damaged.
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
            signals = _required(self._bag, self._topic, states, self._names, ("position", "effort"))
            kept = states.at(refusals.kept(signals))
            if len(kept.stamps):
                velocity = self._velocity(kept, read) if self._velocities else None
                yield RawSamples(
                    kept.stamps, _present(kept.position), velocity, _present(kept.effort)
                )
            read += len(states.stamps)
        self._bag.warnings += refusals.told()

    def _states(self) -> Iterator[States]:
        """Yield the states, by their stamps or by the times of recording."""
        kind = kind_of(self._bag, self._topic)
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


def measured_velocity(
    velocity: Array | None, names: Sequence[str], where: str
) -> tuple[Array | None, list[str]]:
    """Return velocities where every joint has them in every state, and what there is to be told.

    Args:
        velocity: (samples, joints); None where no state has any.
        names: of the joints.
        where: the source, for what is told of it.
    """
    if velocity is None or np.isnan(velocity).all(axis=0).any():
        return None, []
    finite = np.isfinite(velocity)
    if finite.all():
        return velocity, []
    states, joint = int((~finite.all(axis=1)).sum()), names[int(np.argmin(finite.all(axis=0)))]
    told = (
        f"{where}: {states} of {len(velocity)} states have a velocity that is not a number, of "
        f"joint {joint} for one; velocities count as not measured"
    )
    return None, [told]


def joints_without(velocity: Array | None, names: Sequence[str]) -> tuple[str, ...]:
    """Return the joints that have no velocities at all, where others have some."""
    if velocity is None:
        return ()
    missing = tuple(n for n, own in zip(names, velocity.T, strict=True) if np.isnan(own).all())
    return missing if len(missing) < len(names) else ()


def _reference(
    bag: Bag,
    topic: str,
    names: tuple[str, ...],
    stamps: npt.NDArray[np.int64],
    *,
    recorded: bool = False,
) -> Array | None:
    """Return (samples, joints) the newest reference at every stamp.

    None where it begins later, or has no stamps while the states have some, and where the topic is
    absent or carries trajectories.

    Raises:
        TopicError: the topic carries something else.
    """
    kind = bag.topics.get(topic)
    if kind in (None, JOINT_TRAJECTORY):
        return None
    if kind not in (JOINT_STATE, CONTROLLER_STATE):
        problem = (
            f"topic {topic} holds {kind}; a reference is {JOINT_STATE}, {CONTROLLER_STATE} or "
            f"{JOINT_TRAJECTORY}"
        )
        raise TopicError(bag.path, topic, sorted(bag.topics), problem)
    states = StateCollector(bag, topic, names, kind, recorded=recorded).collect()
    if states.position is None:
        raise MissingSignalError("position", f"{bag.path}: {topic}")
    if not recorded and states.unstamped:
        bag.warnings.append(
            f"{bag.path}: {topic}: reference ignored: a sample without a stamp holds at an unknown "
            "time"
        )
        return None
    check_finite("reference", states.position, names)
    order = in_order(states.stamps).places
    places = newest_at(states.stamps[order], stamps)
    if (places < 0).any():
        bag.warnings.append(
            f"{bag.path}: {topic} begins after the joint states; the reference was left out"
        )
        return None
    reference: Array = states.position[order][places]
    return reference
