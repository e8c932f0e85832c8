"""Output folder of a node: files that its services may write."""

from __future__ import annotations

from rclpy.node import Node

from robot_identification.files.output_folder import OutputFolder, default_folder


def output_folder(node: Node, directory: str) -> OutputFolder:
    """Return the folder that the services of a node may write to.

    Args:
        node: the node.
        directory: its parameter ``output_directory``; empty: one of its own.
    """
    owner = node.get_fully_qualified_name()
    return OutputFolder(directory or default_folder(owner), owner)
