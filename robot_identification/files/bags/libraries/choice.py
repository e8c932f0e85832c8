"""Choice of the library that reads and writes bags: what is installed."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec

from robot_identification.errors import MissingPackageError
from robot_identification.files.bags.libraries.interface import Library

_LIBRARIES = {"rosbags": "with_rosbags", "rosbag2_py": "with_rosbag2"}
"""Package -> module beside this one, the first that is installed counts.

rosbags comes first: it reads many messages at a time, and compressed bags.
"""


@cache
def library() -> Library:
    """Return the library of bags.

    Raises:
        MissingPackageError: none is installed, or the first one that is cannot be loaded.
    """
    otherwise = "or source a ROS 2 that has rosbag2_py"
    for package, module in _LIBRARIES.items():
        if find_spec(package) is None:
            continue
        try:
            return _as_library(import_module(f"{__package__}.{module}"))
        except ImportError as error:
            otherwise = f"or mend {package}, which cannot be loaded: {error}"
            break
    raise MissingPackageError("rosbags", "bags", "reading or writing a bag", otherwise)


def _as_library(module: object) -> Library:
    return module  # type: ignore[return-value]  # the tests hold both against the interface
