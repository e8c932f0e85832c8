"""Bags that appear whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from robot_identification.errors import OutputError, RobotIdentificationError, ShapeError
from robot_identification.files.atomic import flush_file, kind_of, temporary_beside
from robot_identification.files.bags import trajectories as bag_trajectories
from robot_identification.files.bags.cdr.joint_states import MESSAGE_TYPE, encode
from robot_identification.files.bags.libraries.choice import library
from robot_identification.files.bags.libraries.interface import Storage, Writer
from robot_identification.files.bags.libraries.metadata import METADATA
from robot_identification.files.bags.trajectories import SentTrajectory, encoded
from robot_identification.files.mcap import records as mcap_records
from robot_identification.signals.raw_samples import RawSamples


class BagWriter:
    """Takes serialised messages; made by :func:`write_bag`."""

    def __init__(self, path: str | Path, writer: Writer) -> None:
        self._path = path
        self._writer = writer

    def write(self, topic: str, message_type: str, time: int, message: bytes) -> None:
        """Write a message.

        Args:
            topic: name of the topic.
            message_type: type of all its messages, such as ``sensor_msgs/msg/JointState``.
            time: time of recording in ns.
            message: in CDR, with the four bytes that say so.

        Raises:
            OutputError: if it cannot be written.
        """
        with output_errors(self._path):
            self._writer.write(topic, message_type, time, message)


@contextmanager
def write_bag(
    path: str | Path, *, storage: Storage = "mcap", overwrite: bool = False
) -> Iterator[BagWriter]:
    """Write a bag; its folder appears when the block ends without an error.

    Chunks of MCAP files carry checksums.

    Args:
        path: folder to make.
        storage: ``mcap`` or ``sqlite3``.
        overwrite: replace a bag that is already there; nothing but a bag is ever replaced.

    Raises:
        OutputError: if it cannot be written, or something is there; that stays untouched.
    """
    target = check_bag_target(path, overwrite=overwrite)
    temporary = temporary_beside(target)
    made = temporary / target.name
    try:
        with output_errors(path):
            temporary.mkdir()
            writer = library().writer(made, storage)
        try:
            yield BagWriter(path, writer)
        except BaseException:
            writer.abort()
            raise
        with output_errors(path):
            writer.close()
            for file in made.glob("*.mcap"):
                mcap_records.add_checksums(file)
            for file in made.iterdir():
                flush_file(file)
            _put_in_place(made, target, temporary / f"{target.name}.replaced")
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _put_in_place(made: Path, target: Path, replaced: Path) -> None:
    """Give a folder its final name; what has it moves away, and back if that fails."""
    if target.exists():
        target.rename(replaced)
    try:
        made.rename(target)
    except OSError:
        if replaced.exists():
            replaced.rename(target)
        raise
    flush_file(target.parent)


def check_bag_target(path: str | Path, *, overwrite: bool = False) -> Path:
    """Return the folder that writing a bag to a path would make, if it can be made.

    Raises:
        OutputError: something is there that must not be replaced, or the folder above is absent.
    """
    with output_errors(path):
        target = Path(path).absolute()
        if not target.parent.is_dir():
            raise OutputError(path, f"folder {target.parent} does not exist; make it first")
        if target.is_symlink() or (target.exists() and not target.is_dir()):
            what = "a link" if target.is_symlink() else kind_of(target)
            raise OutputError(path, f"{what} is there, which no bag replaces; name another target")
        if target.is_dir() and not overwrite:
            raise OutputError(path, "is already there; name another target, or remove it first")
        if target.is_dir() and not (target / METADATA).is_file():
            raise OutputError(path, "a folder that is not a bag is there; name another target")
    return target


@contextmanager
def output_errors(path: str | Path) -> Iterator[None]:
    """Turn whatever another library raises about an output into our own error.

    Raises:
        OutputError: in its place; errors of this package pass as they are.
    """
    try:
        yield
    except RobotIdentificationError:
        raise
    except Exception as error:
        raise OutputError(path, f"cannot be written: {error}") from error


def write_joint_states(
    path: str | Path,
    joint_names: Sequence[str],
    samples: RawSamples,
    *,
    topic: str = "/joint_states",
    reference_topic: str = "/joint_reference",
    trajectory: SentTrajectory | None = None,
    trajectory_topic: str = "/joint_trajectory",
    storage: Storage = "mcap",
    overwrite: bool = False,
) -> None:
    """Write joint states into a new bag, and the reference beside them if there is one.

    Args:
        path: folder to make.
        joint_names: names of the joints, one per column.
        samples: what to write; the header stamps are also the times of recording.
        topic: topic of the joint states (sensor_msgs/JointState).
        reference_topic: topic of the commanded positions (sensor_msgs/JointState).
        trajectory: what the controller was sent, recorded before the first sample; None: nothing.
        trajectory_topic: its topic (trajectory_msgs/JointTrajectory).
        storage: ``mcap`` or ``sqlite3``.
        overwrite: replace a bag that is already there.

    Raises:
        ShapeError: an array does not have a row per stamp and a column per joint.
        OutputError: if the bag cannot be written.
    """
    names = tuple(joint_names)
    expected = (len(samples.stamps), len(names))
    for name in ("position", "velocity", "effort", "reference"):
        values = getattr(samples, name)
        if values is not None and values.shape != expected:
            raise ShapeError(name, values.shape, str(expected))
    states = encode(samples.stamps, names, samples.position, samples.velocity, samples.effort)
    tables = [(topic, states)]
    if samples.reference is not None:
        tables.append((reference_topic, encode(samples.stamps, names, samples.reference)))
    with write_bag(path, storage=storage, overwrite=overwrite) as bag:
        if trajectory is not None:
            first = min([trajectory.start_stamp, *samples.stamps[:1].tolist()])
            bag.write(trajectory_topic, bag_trajectories.MESSAGE_TYPE, first, encoded(trajectory))
        for number, stamp in enumerate(samples.stamps.tolist()):
            for name, table in tables:
                bag.write(name, MESSAGE_TYPE, stamp, table[number].tobytes())
