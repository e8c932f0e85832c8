"""Part files: folded recordings of a computation over many bags.

An archive of NumPy arrays without pickled objects; its members carry checksums.  A file that is not
whole, or was made for other bags, settings or robots, counts as absent: it can be made again.
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robot_identification.errors import ShapeError
from robot_identification.files.atomic import write_bytes_atomically
from robot_identification.identification.parts import Part
from robot_identification.identification.rows.bands import BandGrams
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.identification.source import Source
from robot_identification.robot.arrays import read_only

_KIND = "robot_identification/part/2"
_GRAMS = ("grams", "shares", "common", "mixing")


@dataclass(frozen=True)
class Skipped:
    """A bag that was left out.

    Attributes:
        bag: its path.
        reason: why.
    """

    bag: str
    reason: str


@dataclass(frozen=True)
class StoredPart:
    """Content of a file with a part of the rows.

    Attributes:
        part: the folded recordings; None where every bag was left out.
        skipped: the bags that were left out.
    """

    part: Part | None
    skipped: tuple[Skipped, ...]


def write_part(path: str | Path, key: str, stored: StoredPart) -> None:
    """Write folded recordings; the file appears whole or not at all.

    Args:
        path: the target.
        key: says what they were made from, and with which settings.
        stored: the recordings.

    Raises:
        OutputError: if it cannot be written.
    """
    about: dict[str, Any] = {
        "kind": _KIND,
        "key": key,
        "skipped": [vars(skipped) for skipped in stored.skipped],
    }
    arrays: dict[str, Any] = {}
    if stored.part is not None:
        part = stored.part
        about |= {
            "sources": [vars(source) for source in part.sources],
            "joints": [factor.joint for factor in part.factors[0]],
            "rows": [[factor.rows for factor in own] for own in part.factors],
        }
        for j, columns in enumerate(part.grams.columns):
            arrays[f"columns_{j}"] = columns
            arrays[f"triangles_{j}"] = np.stack([own[j].triangle for own in part.factors])
        arrays |= {name: getattr(part.grams, name) for name in _GRAMS}
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    write_bytes_atomically(path, buffer.getvalue())


def read_part(path: str | Path, key: str) -> StoredPart | None:
    """Read folded recordings.

    Args:
        path: the file.
        key: what they must have been made from.

    Returns:
        The recordings, None if there is no such file, it is damaged, or was made from others.
    """
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as archive:
            about = json.loads(archive["about"].tobytes())
            if about["kind"] != _KIND or about["key"] != key:
                return None
            skipped = tuple(Skipped(**entry) for entry in about["skipped"])
            part = _part_of(archive, about) if "sources" in about else None
    except (
        OSError,
        EOFError,
        RuntimeError,  # packed in another way, encrypted, of a later version: so says its archive
        ValueError,
        KeyError,
        TypeError,
        IndexError,
        ShapeError,
        zipfile.BadZipFile,
    ):
        return None
    return StoredPart(part, skipped)


def _part_of(archive: Any, about: dict[str, Any]) -> Part:
    joints = about["joints"]
    columns = tuple(archive[f"columns_{j}"].astype(np.intp) for j in range(len(joints)))
    triangles = [archive[f"triangles_{j}"] for j in range(len(joints))]
    factors = tuple(
        tuple(
            JointFactor(joint, columns[j], triangles[j][s], int(rows[j]))
            for j, joint in enumerate(joints)
        )
        for s, rows in enumerate(about["rows"])
    )
    grams = BandGrams(columns, *(read_only(archive[name]) for name in _GRAMS))
    sources = tuple(
        Source(**{**entry, "warnings": tuple(entry["warnings"])}) for entry in about["sources"]
    )
    return Part(sources, factors, grams)
