"""Joint states out of bags, mapped to the joints of a robot by name in every message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from robot_identification.errors import MissingSignalError, TopicError
from robot_identification.files.bags.cdr.dynamic_states import INTERFACES
from robot_identification.files.bags.cdr.dynamic_states import MESSAGE_TYPE as DYNAMIC_STATE
from robot_identification.files.bags.cdr.joint_states import CONTROLLER_STATE
from robot_identification.files.bags.cdr.joint_states import MESSAGE_TYPE as JOINT_STATE
from robot_identification.files.bags.files import JOINT_TRAJECTORY, Bag, open_bag
from robot_identification.files.bags.joint_states.columns import StateCollector, collected, kind_of
from robot_identification.files.bags.joint_states.refusals import Refusals
from robot_identification.files.bags.joint_states.signals import (
    joints_without,
    measured_velocity,
    present_signal,
    required_signals,
    with_any_positions,
)
from robot_identification.files.cancelling import Cancelled
from robot_identification.robot.arrays import Array, by_value, check_finite
from robot_identification.signals.clock.stamps import in_order, newest_at
from robot_identification.signals.raw_samples import RawSamples

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
            states = with_any_positions(states)
        needed = ("position", "effort") if positions_needed else ("effort",)
        signals = required_signals(bag, topic, states, names, needed)
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
        position=present_signal(states.position),
        velocity=velocity,
        effort=present_signal(states.effort),
        reference=reference,
    )
    return BagJointStates(
        *(samples, str(path), digest, warnings, without, states.temperature, dynamic),
        refused=refusals.count,
    )


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
