"""Files that appear whole or not at all.

A file is written beside its target, flushed to the disk, and then takes the target's place in one
step.  Whatever goes wrong before leaves what was there untouched.

Targets must be regular files or not exist: devices, folders, pipes and sockets are refused.  A
symbolic link is followed: the file that it points to is replaced, the link stays.
"""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from robot_identification.errors import OutputError


def check_target(path: str | Path) -> Path:
    """Return the file that writing to a path would replace, if it can be written.

    Args:
        path: the target.

    Raises:
        OutputError: the target is not a regular file, or its folder does not exist or cannot be
            written to.
    """
    try:
        target = Path(path).resolve()
        folder = target.parent
        if not folder.is_dir():
            raise OutputError(path, f"folder {folder} does not exist; make it first")
        if target.exists() and not target.is_file():
            raise OutputError(path, f"{kind_of(target)}, not a regular file; name another target")
    except (OSError, RuntimeError, ValueError) as error:
        raise OutputError(path, f"cannot be written: {error}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(path, f"folder {folder} cannot be written to")
    return target


def kind_of(path: Path) -> str:
    """Return in words what is at a path."""
    mode = path.stat().st_mode
    for test, name in (
        (stat.S_ISREG, "a file"),
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
    ):
        if test(mode):
            return name
    return "something special"


def write_text_atomically(path: str | Path, text: str) -> None:
    """Write a text file in UTF-8; it appears whole or not at all.

    Args:
        path: the target; an existing regular file is replaced and keeps its permissions.
        text: its contents.

    Raises:
        OutputError: if it cannot be written; what was there before is untouched.
    """
    write_bytes_atomically(path, text.encode("utf-8"))


def write_bytes_atomically(path: str | Path, data: bytes) -> None:
    """Write a file; it appears whole or not at all.

    Args:
        path: the target; an existing regular file is replaced and keeps its permissions.
        data: its contents.

    Raises:
        OutputError: if it cannot be written; what was there before is untouched.
    """
    target = check_target(path)
    temporary = temporary_beside(target)
    try:
        _write_and_flush(temporary, data)
        if target.exists():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
        flush_file(target.parent)
    except OSError as error:
        raise OutputError(path, f"cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def temporary_beside(target: Path) -> Path:
    """Return a name in the target's folder that nothing has yet."""
    return target.parent / f".{secrets.token_hex(8)}.tmp"


def _write_and_flush(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def flush_file(path: Path) -> None:
    """Flush a file, or the names in a folder, to the disk, where the file system can do that."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
