"""Bags that are copies of others, which would count twice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from robot_identification.errors import BagError
from robot_identification.files.bags.files import open_bag
from robot_identification.files.parts import Skipped
from robot_identification.parallel.bags import BagFile


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
