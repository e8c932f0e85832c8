"""Fault files: kinds and times of the faults that are injected into joint states."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robot_identification.errors import SettingError
from robot_identification.robot.files.document import Document, read_document
from robot_identification.ros.simulation.faults import SIGNALS, Fault, Kind

_NUMBERS: Mapping[str, tuple[str, float, float]] = {
    "from": ("begin", 0.0, math.inf),
    "until": ("end", 0.0, math.inf),
    "probability": ("probability", 0.0, 1.0),
    "by": ("by", -math.inf, math.inf),
}
_TEXTS = ("joint", "signal", "to")


def read_faults(path: str | Path) -> tuple[Fault, ...]:
    """Return the faults in a YAML file, in the order in which they act.

    Args:
        path: the file; ``docs/faults.md`` describes it.

    Raises:
        SettingError: an entry has a value that it cannot have.
        RobotDescriptionError: the file cannot be read or is no YAML.
    """
    document = read_document(Path(path))
    content = document.data
    if not isinstance(content, dict) or set(content) - {"seed", "faults"}:
        raise document.error("needs the keys faults and, if wanted, seed, and no others")
    entries = content.get("faults")
    if not isinstance(entries, list):
        raise document.error("must be a list", "faults")
    seed = content.get("seed", 0)
    return tuple(_fault(entry, seed, place, document) for place, entry in enumerate(entries))


def _fault(entry: Any, seed: Any, place: int, document: Document) -> Fault:
    """Return one fault."""
    if not isinstance(entry, dict):
        raise document.error("must be a mapping", "faults", place)
    unknown = set(entry) - {"kind", "seed", *_NUMBERS, *_TEXTS}
    if unknown:
        raise document.error(f"unknown key {min(unknown)}", "faults", place)
    kinds = {kind.value: kind for kind in Kind}
    kind = entry.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise SettingError("kind", kind, f"choose one of {', '.join(kinds)}")
    fields: dict[str, Any] = {"seed": _whole(entry.get("seed", seed))}
    for key, (name, least, most) in _NUMBERS.items():
        if key in entry:
            fields[name] = _number(key, entry[key], least, most)
    for key in _TEXTS:
        if key in entry:
            fields[key] = str(entry[key])
    fault = Fault(kinds[kind], **fields)
    if fault.signal not in SIGNALS:
        raise SettingError("signal", fault.signal, f"choose one of {', '.join(SIGNALS)}")
    if fault.begin >= fault.end:
        raise SettingError("until", fault.end, f"must come after from, which is {fault.begin:g}")
    return fault


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise SettingError("seed", value, "must be a whole number")
    return value


def _number(key: str, value: Any, least: float, most: float) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise SettingError(key, value, "must be a number")
    if not least <= value <= most:
        raise SettingError(key, value, f"must lie between {least:g} and {most:g}")
    return float(value)
