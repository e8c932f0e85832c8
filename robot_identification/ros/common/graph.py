"""Names of the nodes at a topic, from the graph of ROS."""

from __future__ import annotations

from rclpy.node import Node
from rclpy.topic_endpoint_info import TopicEndpointInfo


def node_at(endpoint: TopicEndpointInfo) -> str:
    """Return the node of a publisher or a subscription, by name with namespace."""
    return f"{endpoint.node_namespace.rstrip('/')}/{endpoint.node_name}"


def publishers_of(node: Node, topic: str) -> tuple[str, ...]:
    """Return the nodes that publish a topic, by name with namespace.

    Args:
        node: that asks.
        topic: its full name.
    """
    known = node.get_publishers_info_by_topic(topic)
    return tuple(sorted({node_at(one) for one in known}))
