"""Bags that files and folders on the command line name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from robot_identification.errors import BagError
from robot_identification.files.bags.files import DATA_SUFFIXES, open_bag
from robot_identification.files.bags.libraries.metadata import METADATA
from robot_identification.files.parts import Skipped


@dataclass(frozen=True)
class BagFile:
    """A bag, and what tells whether it has changed.

    Attributes:
        path: folder or file, absolute.
        size: of its data files, in bytes.
        modified: latest change of them, in ns.
    """

    path: str
    size: int
    modified: int


def find_bags(places: Sequence[str | Path]) -> tuple[BagFile, ...]:
    """Return the bags at some places, sorted by path, each once.

    Args:
        places: bags, or folders to search for bags at any depth.  A folder with a metadata.yaml
            is a bag; elsewhere every .db3 and .mcap file is one, packed as a whole or not.

    Raises:
        BagError: a place does not exist, holds no bag, or a folder cannot be searched.
    """
    found: dict[str, BagFile] = {}
    for place in places:
        own = [_described(path) for path in _below(Path(place).absolute())]
        if not own:
            raise BagError(place, "no bag: neither a rosbag2 folder nor a .db3 or .mcap file in it")
        found |= {bag.path: bag for bag in own}
    return tuple(found[path] for path in sorted(found))


def _below(place: Path) -> Iterable[Path]:
    try:
        if not place.exists():
            raise BagError(place, "does not exist")
        if place.is_file() or (place / METADATA).is_file():
            yield place
            return
        entries = [(entry, entry.is_dir()) for entry in sorted(place.iterdir())]
    except OSError as error:
        raise BagError(
            place,
            f"cannot be searched for bags: {error.strerror or error}; name the bags beside it",
        ) from error
    for entry, is_folder in entries:
        if is_folder:
            yield from _below(entry)
        elif entry.name.endswith(DATA_SUFFIXES):
            yield entry


def _described(path: Path) -> BagFile:
    """Return a bag; of one that cannot be looked at nothing, who reads it will say what is wrong.

    All of its data files count, packed ones too: a bag that has changed must not pass for the one
    that was folded before.
    """
    try:
        own = path.iterdir() if path.is_dir() else [path]
        states = [file.stat() for file in own if file.name.endswith(DATA_SUFFIXES)]
    except OSError:
        states = []
    return BagFile(
        str(path),
        sum(state.st_size for state in states),
        max((state.st_mtime_ns for state in states), default=0),
    )


def without_copies(bags: Sequence[BagFile]) -> tuple[tuple[BagFile, ...], tuple[Skipped, ...]]:
    """Leave out bags with the same data as one before; only those of equal size are read for it.

    Args:
        bags: in their order.

    Returns:
        The bags that stay, and the copies.
    """
    alike: dict[int, list[BagFile]] = defaultdict(list)
    for bag in bags:
        alike[bag.size].append(bag)
    copies: dict[str, Skipped] = {}
    for group in alike.values():
        if len(group) > 1:
            copies |= _copies(group)
    return tuple(bag for bag in bags if bag.path not in copies), tuple(copies.values())


def _copies(group: Sequence[BagFile]) -> dict[str, Skipped]:
    first: dict[str, str] = {}
    found = {}
    for bag in group:
        try:
            with open_bag(bag.path) as opened:
                digest = opened.digest()
        except BagError:
            continue  # whoever reads it will say what is wrong with it
        if digest in first:
            reason = f"{bag.path}: the same data as {first[digest]}"
            found[bag.path] = Skipped(bag.path, reason)
        else:
            first[digest] = bag.path
    return found
