"""Checks of the data files of bags, before any reader sees them."""

from __future__ import annotations

import shlex
import sqlite3
import struct
from pathlib import Path

from robot_identification.errors import BagError
from robot_identification.files.cancelling import Cancelled
from robot_identification.files.mcap import records as mcap_records
from robot_identification.files.mcap.chunks import unpacked_size
from robot_identification.identification.result_warnings import NO_CHECKSUMS

_MOST_RATIO = 1000
_SQLITE_MAGIC = b"SQLite format 3\x00"


def check_file(file: Path, cancelled: Cancelled | None) -> list[str]:
    """Refuse a file that is not whole; return what is suspicious about it.

    Args:
        file: a data file of a bag.
        cancelled: asked now and then whether to give up.

    Raises:
        BagError: it is truncated, damaged, or no bag.
        CancelledError: ``cancelled`` says so.
    """
    if file.suffix == ".db3":
        _check_sqlite(file)
        return [f"{file}: {NO_CHECKSUMS}"]
    if file.suffix != ".mcap":
        _check_packed(file, cancelled)
        return [f"{file}: packed as a whole, its checksums are not looked at: damage may pass"]
    state = mcap_records.examine(file, cancelled)
    if state.problem:
        raise BagError(file, state.problem)
    if not state.unchecked:
        return []
    missing = f"{state.unchecked} of {state.chunks} chunks have no checksum"
    return [f"{file}: {missing}: damage cannot be noticed; record with chunk CRC"]


def _check_packed(file: Path, cancelled: Cancelled | None) -> None:
    """Refuse a packed file that unpacks to more than any recording."""
    most = max(_MOST_RATIO * file.stat().st_size, 1 << 20)
    with file.open("rb") as stream:
        if unpacked_size(stream, "zstd", most, cancelled) > most:
            raise BagError(file, "unpacks to more than a thousand times its size; not read")


def _check_sqlite(file: Path) -> None:
    """Compare the size of a database with what its header says, and see that all of it is there.

    A recorder that writes ahead puts messages into a file beside it, and from there into the
    database now and then, and when it ends.
    """
    size, ahead = file.stat().st_size, file.with_name(f"{file.name}-wal")
    if ahead.is_file() and ahead.stat().st_size:
        advice = f"sqlite3 {shlex.quote(file.name)} 'PRAGMA wal_checkpoint(TRUNCATE)'"
        raise BagError(
            file,
            f"messages are still in {ahead.name}: the recorder runs, or broke off; if it broke "
            f"off, `{advice}` puts them into the bag",
        )
    if size == 0:
        raise BagError(file, "the file is empty")
    with file.open("rb") as stream:
        header = stream.read(100)
    if header[:16] != _SQLITE_MAGIC or len(header) < 100:
        raise BagError(file, "not an SQLite file, so not a bag")
    (page,) = struct.unpack(">H", header[16:18])
    changes, pages = struct.unpack(">II", header[24:32])
    (valid_for,) = struct.unpack(">I", header[92:96])
    announced = pages * (65536 if page == 1 else page)
    if changes == valid_for and size < announced:
        raise BagError(
            file,
            f"truncated: {size} of {announced} bytes; copy it again, or save what is whole with "
            "`sqlite3 damaged.db3 .recover`",
        )
    _check_tables(file)


def _check_tables(file: Path) -> None:
    """Refuse a database without the tables of a bag, or with any whose content is computed.

    A view that is called ``messages`` may be without end, and a column may make gigabytes.
    """
    connection = sqlite3.connect(f"{file.resolve().as_uri()}?immutable=1", uri=True)
    try:
        entries = connection.execute("SELECT type, name, rootpage FROM sqlite_master").fetchall()
        computed = [name for _, name, page in entries if not page]
        tables = {name for kind, name, page in entries if kind == "table" and page}
        hidden = "SELECT name FROM pragma_table_xinfo(?) WHERE hidden != 0"
        computed += [name for name in tables if connection.execute(hidden, (name,)).fetchone()]
    finally:
        connection.close()
    if computed:
        raise BagError(file, f"not a bag: the content of {computed[0]} is computed")
    if not {"messages", "topics"} <= tables:
        raise BagError(file, "an SQLite file, but not a bag: it has no messages and topics")
