"""Quality of service of every topic of this package, in one place, and its overrides by parameters.

The parameters are those that ROS names, such as ``qos_overrides./joint_states.subscription.depth``,
with the topic as it is after namespace and remapping.  They are for topics at whose other end is
software that is not of this package: drivers, controllers, monitors.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any

from rclpy.duration import Duration
from rclpy.exceptions import InvalidParameterTypeException, InvalidTopicNameException
from rclpy.expand_topic_name import expand_topic_name
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    QoSPolicyKind,
    QoSProfile,
    ReliabilityPolicy,
)
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.subscription import Subscription
from rclpy.validate_full_topic_name import validate_full_topic_name

from robot_identification.errors import SettingError
from robot_identification.robot.files.schema import suggestion
from robot_identification.ros.common.parameters.files import QOS_OVERRIDES, given_to_all


def _profile(
    reliability: ReliabilityPolicy,
    depth: int,
    durability: DurabilityPolicy = DurabilityPolicy.VOLATILE,
) -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=reliability,
        durability=durability,
    )


STATES_OUT = _profile(ReliabilityPolicy.RELIABLE, 2000)
"""Joint states as the simulated robot sends them: 2 s at 1 kHz are kept for slow readers."""

STATES_IN = _profile(ReliabilityPolicy.BEST_AVAILABLE, 2000)
"""Joint states as received: reliable where the driver offers it, deep enough for stalls."""

STATES_WATCHED = _profile(ReliabilityPolicy.BEST_EFFORT, 500)
"""Joint states that are watched: fits every driver; half a second at 1 kHz, taken in at a go."""

BLOCKS = _profile(ReliabilityPolicy.RELIABLE, 200, DurabilityPolicy.TRANSIENT_LOCAL)
"""Numbered blocks of samples: kept, so that nobody misses the first while they find each other."""

ANNOUNCED = _profile(ReliabilityPolicy.RELIABLE, 20, DurabilityPolicy.TRANSIENT_LOCAL)
"""Names of the recordings that begin: who starts late still learns the last ones."""

COMMANDS = _profile(ReliabilityPolicy.RELIABLE, 10)
"""Trajectories and other commands."""

EFFORTS = _profile(ReliabilityPolicy.RELIABLE, 1000)
"""Feed-forward efforts, sent some way ahead of the time from which they hold."""

SERVICES = _profile(ReliabilityPolicy.RELIABLE, 1000)
"""Requests and responses: a flood of them is answered to the last, none is pushed out."""

STATUS = _profile(ReliabilityPolicy.RELIABLE, 10)
"""Status, progress and diagnostics."""

STATUS_LATCHED = _profile(ReliabilityPolicy.RELIABLE, 10, DurabilityPolicy.TRANSIENT_LOCAL)
"""Status of a node: a node that starts late receives the last one; no change in between is lost."""

LATCHED = _profile(ReliabilityPolicy.RELIABLE, 1, DurabilityPolicy.TRANSIENT_LOCAL)
"""Results: a node that starts late still receives the last one."""

DESCRIPTIONS = _profile(ReliabilityPolicy.RELIABLE, 10, DurabilityPolicy.TRANSIENT_LOCAL)
"""Descriptions of a robot as received: those of several publishers, each of which latches one."""

STATEMENTS = _profile(ReliabilityPolicy.RELIABLE, 50, DurabilityPolicy.TRANSIENT_LOCAL)
"""What every node says of its robot, latched, as received by who compares them."""

ARRIVED_WITHIN = Duration(seconds=4)
"""Time that a node that ends waits until its last message has arrived.

A heartbeat of Fast DDS as it comes (3 s), with which lost messages are asked for, and less than the
5 s that launch gives.
"""

_POLICIES = (
    QoSPolicyKind.HISTORY,
    QoSPolicyKind.DEPTH,
    QoSPolicyKind.RELIABILITY,
    QoSPolicyKind.DURABILITY,
)


def require_topic_name(node: Node, setting: str, topic: str, *, of: str = "a topic") -> None:
    """Refuse what cannot be the name of a topic, as a file or a parameter may say it.

    Args:
        node: that publishes or subscribes.
        setting: what says the name.
        topic: the name, absolute or in the namespace of the node.
        of: what it is to name, for people; names of actions follow the same rules.

    Raises:
        SettingError: there can be no topic of this name.
    """
    try:
        validate_full_topic_name(expand_topic_name(topic, node.get_name(), node.get_namespace()))
    except (InvalidTopicNameException, ValueError) as error:
        told = " ".join(str(error).split())
        raise SettingError(setting, topic, f"is no name of {of}: {told}") from error


def create_publisher(node: Node, kind: Any, topic: str, profile: QoSProfile) -> Publisher:
    """Create a publisher.

    Args:
        node: that publishes.
        kind: type of the messages.
        topic: their topic.
        profile: what holds where no parameter says otherwise.

    Raises:
        SettingError: a parameter has a value that its policy does not have.
    """
    with _wrong_values(node, topic, "publisher"):
        return node.create_publisher(
            kind, topic, copy(profile), qos_overriding_options=QoSOverridingOptions(_POLICIES)
        )


def create_subscription(
    node: Node,
    kind: Any,
    topic: str,
    callback: Callable[[Any], None],
    profile: QoSProfile,
    **options: Any,
) -> Subscription:
    """Create a subscription.

    Args:
        node: that subscribes.
        kind: type of the messages.
        topic: their topic.
        callback: given every message.
        profile: what holds where no parameter says otherwise.
        options: of ``Node.create_subscription``.

    Raises:
        SettingError: a parameter has a value that its policy does not have.
    """
    with _wrong_values(node, topic, "subscription"):
        return node.create_subscription(
            kind,
            topic,
            callback,
            copy(profile),  # ROS writes into it what the parameters say
            qos_overriding_options=QoSOverridingOptions(_POLICIES),
            **options,
        )


def is_overridden(node: Node, topic: str, entity: str, policy: QoSPolicyKind) -> bool:
    """Tell whether a user has given a policy.

    Args:
        node: whose parameters are asked.
        topic: the topic.
        entity: ``publisher`` or ``subscription``.
        policy: of the quality of service.
    """
    return _name(node, topic, entity, policy) in _given(node)


def refuse_unused_overrides(node: Node) -> None:
    """Refuse overrides that no publisher or subscription of a node has taken up.

    What a file gives to all nodes need not be for this one.

    Args:
        node: all of whose publishers and subscriptions have been created.

    Raises:
        SettingError: there is one.
    """
    given = _given(node)
    unused = [name for name in given if not node.has_parameter(name)]
    to_all = given_to_all(sys.argv) if unused else frozenset()
    known = node.get_parameters_by_prefix(QOS_OVERRIDES.rstrip("."))
    for name in unused:
        if name not in to_all:
            hint = suggestion(name, [QOS_OVERRIDES + one for one in known])
            problem = f"nothing of the node {node.get_name()} takes this up{hint}"
            raise SettingError(name, given[name], problem)


def _given(node: Node) -> dict[str, Any]:
    # rclpy has no other way to see what was given and not declared.
    given = node._parameter_overrides  # noqa: SLF001
    return {name: one.value for name, one in given.items() if name.startswith(QOS_OVERRIDES)}


def _name(node: Node, topic: str, entity: str, policy: QoSPolicyKind) -> str:
    return f"{QOS_OVERRIDES}{node.resolve_topic_name(topic)}.{entity}.{policy.name.lower()}"


@contextmanager
def _wrong_values(node: Node, topic: str, entity: str) -> Iterator[None]:
    """Turn the errors of ROS about values of policies into one that says which are possible."""
    try:
        yield
    except (RuntimeError, InvalidParameterTypeException) as error:
        given = _given(node)
        names = [_name(node, topic, entity, policy) for policy in _POLICIES]
        wrong = [name for name in names if name in given]
        if not wrong:
            raise
        raise SettingError(
            ", ".join(wrong),
            ", ".join(str(given[name]) for name in wrong),
            f"{error}; history is keep_last or keep_all, depth a number, reliability reliable, "
            "best_effort or best_available, durability volatile, transient_local or best_available",
        ) from error
