"""Lists of bags for one identification: what is fitted, what it counts, what is held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from robot_identification.errors import RobotDescriptionError, SettingError
from robot_identification.robot.files.document import Document, read_document

_KEYS = ("bag", "weight", "held_out")


@dataclass(frozen=True)
class ListedBag:
    """A bag and its part in an identification.

    Attributes:
        path: folder or file, as it was named.
        weight: what it counts.
        held_out: whether it is predicted, not fitted.
    """

    path: str
    weight: float = 1.0
    held_out: bool = False


def read_bag_list(path: str | Path) -> tuple[ListedBag, ...]:
    """Read a YAML list of ``{bag: PATH, weight: W, held_out: true}``; only ``bag`` is needed.

    Relative paths are relative to the folder of the list.

    Raises:
        RobotDescriptionError: the file cannot be read, or an entry is wrong; with its line.
    """
    document = read_document(Path(path))
    if not isinstance(document.data, list) or not document.data:
        raise RobotDescriptionError(
            "not a list of bags; write one '- bag: PATH' per line", path=path, line=1
        )
    return tuple(_entry(document, number) for number in range(len(document.data)))


def _entry(document: Document, number: int) -> ListedBag:
    entry: Any = document.data[number]
    if not isinstance(entry, dict) or not isinstance(entry.get("bag"), str):
        raise document.error("needs a bag: '- bag: PATH'", number)
    for key in entry:
        if key not in _KEYS:
            raise document.error(f"unknown; there are {', '.join(_KEYS)}", number, key)
    weight, held_out = entry.get("weight", 1.0), entry.get("held_out", False)
    if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not weight > 0:
        raise document.error("must be a positive number", number, "weight")
    if not isinstance(held_out, bool):
        raise document.error("must be true or false", number, "held_out")
    bag = Path(document.path).parent / entry["bag"]
    return ListedBag(str(bag), float(weight), held_out)


def with_parts(
    bags: Sequence[ListedBag], weights: Sequence[str], held_out: Sequence[str], kind: str = "bag"
) -> tuple[ListedBag, ...]:
    """Return bags with weights and held-out bags that are named beside them.

    Args:
        bags: the bags.
        weights: texts ``BAG=W``; each names one of the bags.
        held_out: bags to predict, not fit; those that are not among the bags are added.
        kind: what they are, for errors: bags, or results to merge.

    Raises:
        SettingError: a weight is not positive or names no bag, or a bag stands twice.
    """
    found = list(bags)
    for path in held_out:
        place = _place(found, path)
        if place is None:
            found.append(ListedBag(path, held_out=True))
        else:
            found[place] = replace(found[place], held_out=True)
    for text in weights:
        path, _, number = text.rpartition("=")
        place = _place(found, path) if path else None
        if place is None:
            problem = f"write {kind.upper()}=W, with a {kind} of this identification"
            raise SettingError(f"weight of a {kind}", text, problem)
        found[place] = replace(found[place], weight=_weight(text, number))
    for number_, bag in enumerate(found):
        if kind == "bag" and _place(found, bag.path) != number_:  # results tell by recordings
            raise SettingError(kind, bag.path, "stands twice; a weight makes it count more")
    return tuple(found)


def _place(bags: Sequence[ListedBag], path: str) -> int | None:
    wanted = Path(path).resolve()
    return next((i for i, bag in enumerate(bags) if Path(bag.path).resolve() == wanted), None)


def _weight(text: str, number: str) -> float:
    try:
        weight = float(number)
    except ValueError:
        weight = 0.0
    if not 0.0 < weight < float("inf"):
        raise SettingError("weight of a bag", text, "a weight is a positive number")
    return weight
