"""Nodes of ROS in this process, with a command line."""

from contextlib import contextmanager

import rclpy
from rclpy.node import Node


@contextmanager
def node(*arguments, namespace=""):
    """Give a node with a command line."""
    context = rclpy.Context()
    rclpy.init(args=["node", "--ros-args", *arguments], context=context)
    made = Node("arm", context=context, namespace=namespace)
    try:
        yield made
    finally:
        made.destroy_node()
        rclpy.shutdown(context=context)
