"""Joint states of a bag into arrays, beside rosbags' own deserialisation.

A bag of joint states with position, velocity and effort is written, in chunks with checksums as
rosbag2 makes them, and read to arrays; checks and the digest of the file are part of it.  The peer
is the loop of the documentation of rosbags, message by message, without any check.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_typestore

from goals import robots
from goals.measuring import Candidate, Options, Row, Verdict, interleaved, ratio
from goals.robots import Arm
from robot_identification.files.bags.joint_states.reading import JOINT_STATES, read_joint_states
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.signals.raw_samples import RawSamples

TITLE = "bags into arrays"
_MESSAGES, _PEER_MESSAGES = 300_000, 10_000


def measure(options: Options) -> Row:
    """Measure the row."""
    row = Row(TITLE)
    for storage in ("mcap", "sqlite3"):
        for arm in (robots.six_joints(), robots.seven_joints()):
            _measure(arm, storage, options, row)
    return row


def _measure(arm: Arm, storage: str, options: Options, row: Row) -> None:
    messages = 30_000 if options.quick else _MESSAGES
    names = arm.robot.joint_names
    with tempfile.TemporaryDirectory() as folder:
        large, small = Path(folder) / "large", Path(folder) / "small"
        for path, count in ((large, messages), (small, _PEER_MESSAGES)):
            _write(path, storage, names, count)
        size = sum(file.stat().st_size for file in large.iterdir())
        candidates = [
            Candidate("ours", lambda: read_joint_states(large, names), messages),
            Candidate("rosbags, deserialised", lambda: _peer(small), _PEER_MESSAGES),
        ]
        times = interleaved(candidates, min(options.rounds, 5))
    case = f"{arm.name}, {storage}"
    row.add_times(case, times, "us per message", 1e6)
    rate = 1.0 / times["ours"].median
    flow = size / messages * rate / 1e9
    bound = f"{flow:.2f} GB/s of file, {100 * flow / options.peaks.copy_gbytes:.0f} % of a copy"
    row.verdicts.append(
        Verdict(case, "joint states a second into arrays", 300_000.0, rate, bound=bound)
    )
    longer = ratio(times["rosbags, deserialised"], times["ours"])
    row.add_spread(case, "times rosbags, deserialised", [longer], "")


def _write(path: Path, storage: str, names: tuple[str, ...], count: int) -> None:
    stamps = np.arange(count, dtype=np.int64) * 1_000_000
    position, velocity, effort = np.random.default_rng(0).normal(size=(3, count, len(names)))
    samples = RawSamples(stamps, position, velocity, effort)
    write_joint_states(path, names, samples, storage=storage)


def _peer(path: Path) -> list[object]:
    store = get_typestore(Stores.ROS2_JAZZY)
    with Reader(path) as reader:
        connections = [c for c in reader.connections if c.topic == JOINT_STATES]
        return [
            store.deserialize_cdr(raw, connection.msgtype)
            for connection, _, raw in reader.messages(connections=connections)
        ]
