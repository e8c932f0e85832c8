"""Files that appear whole or not at all.

A file is written beside its target, flushed to the disk, and then takes the target's place in one
step.  Whatever goes wrong before leaves what was there untouched.  Several files that belong
together appear together: none takes its place before all are on the disk.

Targets must be regular files or not exist: devices, folders, pipes and sockets are refused.  A
symbolic link is followed: the file that it points to is replaced, the link stays.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
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


def check_targets(paths: Iterable[str | Path]) -> tuple[Path, ...]:
    """Return the files that writing to several paths would replace; see :func:`check_target`.

    Raises:
        OutputError: as there, or two of them are the same file.
    """
    targets: list[Path] = []
    for path in paths:
        target = check_target(path)
        if target in targets:
            raise OutputError(path, "is named for two outputs")
        targets.append(target)
    return tuple(targets)


def made_folder(path: str | Path) -> Path:
    """Return a folder for outputs, which is made with those above it where it is missing.

    Raises:
        OutputError: it cannot be made.
    """
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(path, f"cannot be made: {error.strerror or error}") from error
    return folder


def refuse_inputs(path: str | Path, inputs: Iterable[str | Path]) -> None:
    """Refuse to write over a file that was read.

    Raises:
        OutputError: the target is one of the inputs, by whatever name.
    """
    target = Path(path)
    for source in map(Path, inputs):
        same = target.resolve() == source.resolve()
        if same or (target.exists() and source.exists() and target.samefile(source)):
            raise OutputError(path, f"is what was read ({source}); name another target")


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
    write_files_atomically([(path, data)])


def write_files_atomically(contents: Sequence[tuple[str | Path, bytes]]) -> None:
    """Write files that belong together; all of them appear, each of them whole, or none.

    Args:
        contents: each target with its contents; existing regular files are replaced and keep
            their permissions.

    Raises:
        OutputError: if one cannot be written, or stands twice; what was there before is untouched.
    """
    targets = check_targets(path for path, _ in contents)
    with ExitStack() as removed:
        made = []
        for target, (path, data) in zip(targets, contents, strict=True):
            with _output_errors(path):
                made.append(_written_beside(target, data, removed))
        with ExitStack() as restored:
            for target, temporary, (path, _) in zip(targets, made, contents, strict=True):
                with _output_errors(path):
                    if len(targets) > 1:
                        _keep(target, removed, restored)
                    temporary.replace(target)
            restored.pop_all()
        for folder in {target.parent for target in targets}:
            flush_file(folder)


@contextmanager
def _output_errors(path: str | Path) -> Iterator[None]:
    """Turn what the system says about a target into our own error."""
    try:
        yield
    except OSError as error:
        raise OutputError(path, f"cannot be written: {error.strerror or error}") from error


def _written_beside(target: Path, data: bytes, removed: ExitStack) -> Path:
    """Return a new file beside a target, on the disk; what is left of it goes with the stack."""
    temporary = temporary_beside(target)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    removed.callback(_remove, temporary)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    if target.exists():
        temporary.chmod(stat.S_IMODE(target.stat().st_mode))
    return temporary


def _keep(target: Path, removed: ExitStack, restored: ExitStack) -> None:
    """Have what is at a target now come back when the second stack is closed."""
    if not target.exists():
        restored.callback(_remove, target)
        return
    kept = temporary_beside(target)
    try:
        os.link(target, kept)
    except OSError:  # a file system without hard links
        shutil.copy2(target, kept)
    removed.callback(_remove, kept)
    restored.callback(kept.replace, target)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def temporary_beside(target: Path) -> Path:
    """Return a name in the target's folder that nothing has yet."""
    return target.parent / f".{secrets.token_hex(8)}.tmp"


def flush_file(path: Path) -> None:
    """Flush a file, or the names in a folder, to the disk, where the file system can do that."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
