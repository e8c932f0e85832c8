"""Bags damaged at random, with and without checksums, and what a reader makes of them."""

import random
import struct
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
from rosbags.typesys import Stores, get_typestore

from fuzz_runs import HangError, two_seconds
from packed_bags import packed
from robot_identification.errors import RobotIdentificationError
from robot_identification.files.bags import writing as bag_writing
from robot_identification.files.bags.cdr import joint_states as joint_state_cdr
from robot_identification.files.bags.joint_states.reading import JOINT_STATES, read_joint_states
from robot_identification.files.bags.separate_efforts import ARRAY_TYPE, read_efforts
from robot_identification.files.mcap import records as mcap_records
from robot_identification.signals.efforts.separate import EffortSamples, EffortSource
from robot_identification.signals.raw_samples import RawSamples

TYPES = get_typestore(Stores.ROS2_JAZZY)
FORMATS = ("mcap", "mcap zstd", "mcap without checksum", "sqlite3")
CHECKED = ("mcap", "mcap zstd")
NAMES = ("hip", "knee", "ankle")
EFFORTS = EffortSource("/efforts", delay=0.001)
SUFFIX = dict.fromkeys(FORMATS, ".mcap") | {"sqlite3": ".db3"}
OUTCOMES = (
    *("refused", "identical", "different with a warning", "silently different"),
    *("hang", "crash"),
)


def write_bag(path, storage, messages):
    """Write a bag with joint states, and efforts on a topic of their own; return both."""
    rng = np.random.default_rng(0)
    stamps = 1_700_000_000_000_000_000 + 1_000_000 * np.arange(messages, dtype=np.int64)
    *signals, efforts = (rng.standard_normal((messages, len(NAMES))) for _ in range(4))
    states = joint_state_cdr.encode(stamps, NAMES, *signals)
    with bag_writing.write_bag(path, storage=storage) as bag:
        for number, stamp in enumerate(stamps.tolist()):
            state = states[number].tobytes()
            bag.write(JOINT_STATES, joint_state_cdr.MESSAGE_TYPE, stamp, state)
            label = "even" if number % 2 else ""  # so that not all are read in one piece
            bag.write(EFFORTS.topic, ARRAY_TYPE, stamp, array_message(label, efforts[number]))
    return RawSamples(stamps, *signals), EffortSamples(stamps, efforts)


def array_message(label, numbers):
    """Return a serialised Float64MultiArray."""
    kinds = TYPES.types
    dimension = kinds["std_msgs/msg/MultiArrayDimension"](label=label, size=1, stride=1)
    layout = kinds["std_msgs/msg/MultiArrayLayout"](dim=[dimension], data_offset=0)
    return bytes(TYPES.serialize_cdr(kinds[ARRAY_TYPE](layout, numbers), ARRAY_TYPE))


def made_bag(format_, messages=300):
    """Return the data file of a bag of a format, and what is in it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bag"
        written = write_bag(path, "sqlite3" if format_ == "sqlite3" else "mcap", messages)
        (file,) = path.glob(f"*{SUFFIX[format_]}")
        if format_ == "mcap without checksum":
            remove_checksums(file)
        if format_ == "mcap zstd":
            file.write_bytes(packed(file.read_bytes(), "zstd"))
            mcap_records.add_checksums(file)
        return file.read_bytes(), written


def remove_checksums(path):
    """Take the checksums of all chunks, and that of the data, away."""
    data = bytearray(path.read_bytes())
    with path.open("rb") as file:
        records = list(mcap_records.whole_records(file, len(data)))
    for kind, first, _ in records:
        if kind == mcap_records.CHUNK:
            data[first + 24 : first + 28] = bytes(4)
        elif kind == mcap_records.DATA_END:
            data[first : first + 4] = bytes(4)
        elif kind == mcap_records.FOOTER:
            data[first + 16 : first + 20] = bytes(4)
    path.write_bytes(data)


def damage(format_, bags, *, seed=0):
    """Read damaged bags; return how many came to what, and the longest time for one, in s."""
    rng, counts, slowest = random.Random(seed), Counter(dict.fromkeys(OUTCOMES, 0)), 0.0
    data, written = made_bag(format_)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"damaged{SUFFIX[format_]}"
        for _ in range(bags):
            path.write_bytes(damaged(rng, data))
            began = time.perf_counter()
            counts[outcome(path, written)] += 1
            slowest = max(slowest, time.perf_counter() - began)
    return counts, slowest


def damaged(rng, data):
    """Return a file in which a bit, up to twenty bytes, a piece or the end was changed."""
    data, kind = bytearray(data), rng.randrange(6)
    place = rng.randrange(len(data))
    if kind <= 1:
        data[place] ^= 1 << rng.randrange(8)
    elif kind == 2:
        for _ in range(rng.randint(1, 20)):
            data[rng.randrange(len(data))] = rng.randrange(256)
    elif kind == 3:
        data[place : place + 8] = struct.pack("<Q", rng.choice((0, 1, 2**31, 2**63, 2**64 - 1)))
    elif kind == 4:
        piece = rng.randrange(1, 4096)
        data[place : place + piece] = rng.choice((b"", bytes(piece), data[:piece]))
    else:
        del data[place:]
    return bytes(data)


def outcome(path, written):
    """Return which of ``OUTCOMES`` reading a damaged bag comes to."""
    try:
        with two_seconds():
            read = read_joint_states(path, NAMES)
            efforts, warnings = read_efforts(path, NAMES, EFFORTS)
    except RobotIdentificationError:
        return "refused"
    except HangError:
        return "hang"
    except Exception:  # noqa: BLE001 (that is what is sought)
        return "crash"
    samples, separate = written
    if same_samples(read.samples, samples) and same_samples(
        efforts, separate, ("stamps", "effort")
    ):
        return "identical"
    return "different with a warning" if read.warnings or warnings else "silently different"


def same_samples(found, wanted, names=("stamps", "position", "velocity", "effort")):
    """Tell whether two lists of samples are the same, number by number."""
    pairs = ((getattr(found, name), getattr(wanted, name)) for name in names)
    return all((a is None) == (b is None) and np.array_equal(a, b) for a, b in pairs)
