"""Bags of joint states that nobody measured."""

import numpy as np

from robot_identification.files.bags.cdr.joint_states import MESSAGE_TYPE, encode
from robot_identification.files.bags.writing import write_bag

NAMES = ("hip", "knee", "ankle")
START = 1_700_000_000_000_000_000


def numbers(messages, joints=3, seed=0):
    return np.random.default_rng(seed).standard_normal((messages, joints))


def message(stamp, names, position, velocity=None, effort=None) -> bytes:
    """Return one serialised JointState."""
    arrays = [None if x is None else np.atleast_2d(x) for x in (position, velocity, effort)]
    return encode(np.array([stamp]), tuple(names), *arrays)[0].tobytes()


def write_messages(path, messages, *, storage="sqlite3", topic="/joint_states", kind=MESSAGE_TYPE):
    """Write serialised messages, recorded a millisecond apart."""
    with write_bag(path, storage=storage) as bag:
        for number, raw in enumerate(messages):
            bag.write(topic, kind, START + number * 1_000_000, raw)
    return path
