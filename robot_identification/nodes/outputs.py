"""Output folder of a node: files that its services may write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rclpy.node import Node

from robot_identification.nodes.parameters import ParameterSpec, Type
from robot_identification.storage.output_folder import OutputFolder, default_folder

OUTPUT_DIRECTORY = ParameterSpec(
    "output_directory",
    Type.STRING,
    "folder that services may write to; empty: robot_identification/NODE in ROS_HOME, or ~/.ros",
    default="",
)


def output_folder(node: Node, values: Mapping[str, Any]) -> OutputFolder:
    """Return the folder that the services of a node may write to.

    Args:
        node: the node.
        values: its parameters.
    """
    owner = node.get_fully_qualified_name()
    return OutputFolder(values[OUTPUT_DIRECTORY.name] or default_folder(owner), owner)
