"""Arrays inside values that nobody may write to."""

import dataclasses
from collections.abc import Mapping

import numpy as np


def writable(value, name="", seen=None):
    """Return the names of the arrays inside a value that can be written to."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return []
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return [name] if value.flags.writeable else []
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        inside = [(f".{f.name}", getattr(value, f.name)) for f in dataclasses.fields(value)]
    elif isinstance(value, Mapping):
        inside = [(f"[{key}]", one) for key, one in value.items()]
    elif isinstance(value, tuple | list):
        inside = [(f"[{i}]", one) for i, one in enumerate(value)]
    else:
        inside = []
    return [found for key, one in inside for found in writable(one, name + key, seen)]
