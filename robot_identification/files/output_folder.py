"""The folder that services may write to, for whoever may call a service can name any file.

Nothing is written outside of it, by ``..`` or through links.  A file that is there is replaced only
if it was written here and nobody has changed it since: a hidden file in the folder, one for each
owner, remembers the SHA-256 of all that was.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

from robot_identification.errors import OutputError
from robot_identification.files.atomic import check_target, write_files_atomically
from robot_identification.share import NAME

_LARGEST = 256 * 2**20
_BLOCK = 1 << 20


def default_folder(owner: str) -> Path:
    """Return the folder of an owner, below ``ROS_HOME``, by default ``~/.ros``.

    Args:
        owner: name of the node, with its namespace.
    """
    home = os.environ.get("ROS_HOME") or Path.home() / ".ros"
    return Path(home) / NAME / owner.strip("/")


class OutputFolder:
    """A folder, and what an owner has written to it.

    Args:
        folder: the folder; it is made when something is to be written.
        owner: name of the node, with its namespace.
    """

    def __init__(self, folder: str | Path, owner: str) -> None:
        self.folder = Path(folder).expanduser()
        self._record = f".{owner.strip('/').replace('/', '.')}.written.json"

    def target(self, name: str, *, overwrite: bool) -> Path:
        """Return the file that a request means, if it may be written.

        Args:
            name: the file, relative to the folder; with its whole path, if that leads into it.
            overwrite: whether it may replace what was not written here, or was changed since.

        Raises:
            OutputError: it may not: it lies elsewhere, is hidden, is no regular file, or a file
                that is not one's own is there.
        """
        target = self._inside(name)
        if (
            target.exists()
            and not overwrite
            and self._known().get(self._key(target)) != _hash(target)
        ):
            raise OutputError(
                name,
                f"{target} is there, and this node has not written it, or it was changed since; "
                "name another file, or set overwrite",
            )
        return target

    def _inside(self, name: str) -> Path:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            root = self.folder.resolve()
            target = (root / name).resolve()
            inside = target.relative_to(root).parts
        except ValueError as error:
            raise OutputError(
                name,
                f"not in {self.folder}, the folder that services may write to; name a file in it, "
                "or start the node with another output_directory",
            ) from error
        except (OSError, RuntimeError) as error:
            raise OutputError(name, f"cannot be written: {error}") from error
        if any(part.startswith(".") for part in inside):
            raise OutputError(name, "names that begin with a dot are not written by services")
        return check_target(target)

    def write(self, contents: Sequence[tuple[str, bytes]], *, overwrite: bool) -> list[str]:
        """Write files that belong together, all or none, and return where they are.

        Args:
            contents: each file, as for :meth:`target`, with its contents.
            overwrite: as for :meth:`target`.

        Raises:
            OutputError: one of them may not or cannot be written; what was there is untouched.
        """
        if not contents:
            return []
        targets = [(self.target(name, overwrite=overwrite), data) for name, data in contents]
        root = self.folder.resolve()
        known = {key: digest for key, digest in self._known().items() if (root / key).is_file()}
        known |= {self._key(path): hashlib.sha256(data).hexdigest() for path, data in targets}
        record = root / self._record
        if record.is_symlink():
            raise OutputError(record, "a link, where the node remembers what it has written")
        write_files_atomically([*targets, (record, json.dumps(known, indent=1).encode("utf-8"))])
        return [str(path) for path, _ in targets]

    def _key(self, target: Path) -> str:
        return target.relative_to(self.folder.resolve()).as_posix()

    def _known(self) -> dict[str, str]:
        """Return the SHA-256 of what was written; of nothing where that cannot be read."""
        try:
            path = self.folder / self._record
            if path.is_symlink() or path.stat().st_size > _LARGEST:
                return {}
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}


def _hash(path: Path) -> str:
    """Return the SHA-256 of a file; empty for one that cannot be read or is too large."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
                if file.tell() > _LARGEST:
                    return ""
    except OSError:
        return ""
    return digest.hexdigest()
