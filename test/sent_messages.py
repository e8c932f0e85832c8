"""Messages as others receive them, and values that must be the same on both sides."""

import dataclasses

import numpy as np
from rclpy.serialization import deserialize_message, serialize_message


def through_dds(message):
    """Return a message as it comes out at the other side."""
    return deserialize_message(serialize_message(message), type(message))


def compare(one, other):
    """Compare values, and all that is in them, to the last bit."""
    if dataclasses.is_dataclass(one):
        for field in dataclasses.fields(one):
            compare(getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other)
    elif isinstance(one, tuple):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            compare(a, b)
    else:
        assert one == other
