"""Nodes of ROS in this process, with a command line."""

from contextlib import contextmanager

from rclpy.node import Node

from shared_participant import SHARED


@contextmanager
def node(*arguments, name="arm", **given):
    """Give a node with a command line, and with what else nodes are made with.

    Its participant is that of all nodes and clients in this process, and stays.
    """
    command_line = ["--ros-args", *arguments]
    made = Node(name, context=SHARED.enter(), cli_args=command_line, **given)
    try:
        yield made
    finally:
        made.destroy_node()
