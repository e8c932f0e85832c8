"""Namespaces of nodes: resolved as launch does it, and refused where ROS has no such names."""

from __future__ import annotations

from rclpy.exceptions import InvalidNamespaceException
from rclpy.validate_namespace import validate_namespace

from robot_identification.errors import SettingError


def resolved(namespace: str, within: str = "", *, name: str = "namespace") -> str:
    """Return a namespace from the root, such as ``/left/arm``; the root is ``/``.

    Args:
        namespace: as it was given; one that begins with ``/`` is from the root, and an empty one
            is the namespace around it.
        within: the namespace around it; empty: the root.
        name: of the option or argument that gives it, for the error.

    Raises:
        SettingError: it is no namespace.
    """
    around = "" if namespace.startswith("/") else within.strip("/")
    path = "/" + "/".join(filter(None, (around, namespace.removeprefix("/").rstrip("/"))))
    try:
        validate_namespace(path)
    except InvalidNamespaceException as error:
        raise SettingError(
            name,
            namespace or within,
            "no namespace: words of letters, digits and _, none of which begins with a digit, with "
            "one / between them, such as left or /left/arm",
        ) from error
    return path
