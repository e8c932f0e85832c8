"""Who is connected with whom, as the graph of ROS has it."""

from __future__ import annotations

from rclpy.node import Node


def publishers_of(node: Node, topic: str) -> tuple[str, ...]:
    """Return the nodes that publish a topic, by name with namespace.

    Args:
        node: that asks.
        topic: its full name.
    """
    known = node.get_publishers_info_by_topic(topic)
    return tuple(sorted({f"{one.node_namespace.rstrip('/')}/{one.node_name}" for one in known}))
