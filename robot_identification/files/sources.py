"""The recordings behind a result: where they are now, and whether they are still the same."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from robot_identification.errors import BagError, InputError
from robot_identification.files.bags.files import open_bag
from robot_identification.files.bags.joint_states.reading import JOINT_STATES
from robot_identification.files.bags.recordings import read_recordings
from robot_identification.files.tables.columns import Columns
from robot_identification.files.tables.reading import is_table
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.source import Source
from robot_identification.robot.model import RobotModel
from robot_identification.signals.efforts.separate import EffortSource
from robot_identification.signals.recording import Recording


@dataclass(frozen=True)
class FoundSource:
    """A recording of a result, read again.

    Attributes:
        source: what the result says of it.
        recording: what its bag holds; None where it was not read or is not the same.
        state: in words, for people.
    """

    source: Source
    recording: Recording | None
    state: str


@dataclass(frozen=True)
class Reading:
    """Options of the bags, as of ``identify``.

    Attributes:
        topic: topic of the joint states.
        begin: where each bag begins, as a fraction.
        end: where it ends.
        efforts: where efforts are that do not come with the joint states; None: as the result says.
        delay_estimated: whether the efforts are moved by their estimated delay, not by that of the
            result.
        columns: which columns of tables hold what.
        folder: where to look for bags whose names are relative, besides the current one.
        largest: number of bags to read at most.
    """

    topic: str = JOINT_STATES
    begin: float = 0.0
    end: float = 1.0
    efforts: EffortSource | None = None
    delay_estimated: bool = False
    columns: Columns | None = None
    folder: Path = field(default_factory=Path)
    largest: int = 3


def find_sources(
    result: IdentificationResult, robot: RobotModel, reading: Reading
) -> tuple[FoundSource, ...]:
    """Look for the recordings of a result where it says that they are.

    A bag that is gone, or has other content, is not read; the state says so.

    Args:
        result: the result.
        robot: the robot that it belongs to.
        reading: how.
    """
    found: list[FoundSource] = []
    for source in result.sources:
        read = sum(one.recording is not None for one in found)
        if read >= reading.largest:
            found.append(FoundSource(source, None, "not drawn: enough others are"))
        else:
            found.append(_found(source, robot, reading))
    return tuple(found)


def _found(source: Source, robot: RobotModel, reading: Reading) -> FoundSource:
    places = [Path(source.name), reading.folder / source.name]
    there = [place for place in places if source.name and place.exists()]
    if not there:
        missing = "no file of that name" if source.digest else "recorded live; no file"
        return FoundSource(source, None, f"not drawn: {missing}")
    if there[0].samefile(there[-1]):
        del there[1:]
    # Bags of one name may be here and beside the result; the one with its content counts.
    tried = (_at(place, source, robot, reading) for place in there)
    first = next(tried)
    if first.recording is not None:
        return first
    return next((one for one in tried if one.recording is not None), first)


def _at(place: Path, source: Source, robot: RobotModel, reading: Reading) -> FoundSource:
    """Return a recording as it is at a place, where that holds the same."""
    try:
        recording = _read(place, robot, _as_identified(reading, source))
    except InputError as error:
        return FoundSource(source, None, f"not drawn: {error}")
    if source.digest and recording.digest != source.digest:
        return FoundSource(
            source,
            None,
            f"not drawn: its content has changed since (SHA-256 is now {recording.digest})",
        )
    return FoundSource(source, recording, _state(source, recording))


def given_sources(
    result: IdentificationResult, robot: RobotModel, bags: Sequence[str | Path], reading: Reading
) -> tuple[FoundSource, ...]:
    """Read bags that somebody says the result was made from.

    Args:
        result: the result.
        robot: the robot that it belongs to.
        bags: where they are now; a bag is known by its hash, not by its name.
        reading: how.

    Returns:
        One for each source of the result.

    Raises:
        BagError: a bag cannot be read, or is none of those of the result.
        InputError: its samples are of no use.
    """
    found: dict[int, Recording] = {}
    for bag in bags:
        digest = _digest(Path(bag))
        place = _place(result.sources, digest, set(found))
        if place is None:
            raise BagError(
                bag,
                f"its SHA-256 {digest} is that of none of the recordings of the result; "
                "name the bags that it was made from",
            )
        found[place] = _read(Path(bag), robot, _as_identified(reading, result.sources[place]))
    return tuple(
        FoundSource(source, found[i], _state(source, found[i]))
        if i in found
        else FoundSource(source, None, "not drawn: not asked for")
        for i, source in enumerate(result.sources)
    )


def _place(sources: Sequence[Source], digest: str, taken: set[int]) -> int | None:
    """Return which source a bag is: the one of its hash, else one that was recorded live."""
    for wanted in (digest, ""):
        for i, source in enumerate(sources):
            if i not in taken and source.digest == wanted:
                return i
    return None


def _digest(path: Path) -> str:
    """Return the SHA-256 of a bag or table, as recordings have it."""
    if not is_table(path):
        with open_bag(path) as bag:
            return bag.digest()
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise BagError(path, f"cannot be read: {error.strerror}") from error


def _as_identified(reading: Reading, source: Source) -> Reading:
    """Return how a recording is read: efforts as the result says, where no option does."""
    if reading.efforts is not None or reading.delay_estimated:
        return reading
    if not source.effort_topic:
        return replace(reading, delay_estimated=source.effort_delay != 0.0)
    return replace(reading, efforts=EffortSource(source.effort_topic, source.effort_delay))


def _read(path: Path, robot: RobotModel, reading: Reading) -> Recording:
    (recording,) = read_recordings(
        [path],
        robot,
        topic=reading.topic,
        efforts=reading.efforts,
        delay_estimated=reading.delay_estimated,
        begin=reading.begin,
        end=reading.end,
        columns=reading.columns,
        # They may be those of another of the recordings.
        columns_needed=False,
    )
    return recording


def _state(source: Source, recording: Recording) -> str:
    same = (
        "drawn"
        if source.digest
        else "drawn, although recorded live: nothing tells that it is the same"
    )
    if recording.samples == source.samples:
        return same
    return (
        f"{same}; of its samples {recording.samples} are drawn and {source.samples} were used "
        "(--begin, --end and --topic say which; what was held out is drawn too)"
    )
