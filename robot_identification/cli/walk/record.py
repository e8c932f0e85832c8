"""Record of a live run, a file from which a later run goes on."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from robot_identification.errors import InputError, OutputError, ResultFileError
from robot_identification.files.atomic import (
    check_target,
    made_folder,
    write_bytes_atomically,
    write_text_atomically,
)
from robot_identification.presentation import plain

FILE = "run.json"
PLAN = "plan.yaml"
VALIDATION_PLAN = "validation_plan.yaml"
RESULT = "result.yaml"
PARAMETERS = "parameters.yaml"
URDF = "identified.urdf"
FILES = (FILE, PLAN, VALIDATION_PLAN, RESULT, PARAMETERS, URDF)
"""Names of the files of a run in its folder."""

_FOLLOWING = {
    "run": ("identify", "validate", "calibrate"),
    "identify": ("validate", "calibrate"),
}
"""By step, those whose entries are about what it has brought before."""
_ASIDE = "earlier"
_REHEARSED = "rehearsed"
_LARGEST = 16 * 1024**2


class NoResultError(InputError):
    """A run has no result to go on with."""


class RunRecord:
    """The document of a run, step by step; in ``DIR/run.json`` where there is a folder.

    Args:
        folder: where files go; None: nowhere.
        document: what is known already; None: nothing, the files of another run that are in the
            folder are moved aside before the first one of this run is written.

    Attributes:
        document: plain data by step.
        aside: where the files of another run are now; None: there were none.
    """

    def __init__(self, folder: Path | None, document: dict[str, Any] | None = None) -> None:
        self._folder = folder
        self._token = f"run-{secrets.token_hex(4)}"
        self._own_folder = folder is None or document is not None
        self.document: dict[str, Any] = document or {}
        self.aside: Path | None = None

    @classmethod
    def begin(cls, folder: Path | None, *, resumed: bool) -> RunRecord:
        """Return the record of a run, and make its folder.

        Args:
            folder: where files go; None: nowhere.
            resumed: whether to go on with what stands in the folder.

        Raises:
            OutputError: the folder cannot be made or written to.
            ResultFileError: what stands there is damaged.
        """
        if folder is None:
            return cls(None)
        path = check_target(made_folder(folder) / FILE)
        if not resumed:
            return cls(folder)
        return cls(folder, _read(path) if path.exists() else {})

    def path(self, name: str) -> str:
        """Return the path of a file of the run; empty where there is no folder."""
        return "" if self._folder is None else str(self._folder / name)

    def asked(self, name: str) -> str:
        """Return the name by which a node writes a file of the run; empty without a folder.

        Nodes write to folders of their own only, from where :meth:`take` gets the file.
        """
        return "" if self._folder is None else f"{self._token}-{name}"

    def take(self, name: str, written: Sequence[str]) -> str:
        """Move a file that a node has written into the folder; return where it is then.

        Args:
            name: name of the file.
            written: the files that the node says it has written.

        Raises:
            OutputError: it is not there, or cannot be brought into the folder.
        """
        if self._folder is None:
            return ""
        source = next((Path(p) for p in written if Path(p).name == self.asked(name)), None)
        if source is None:
            raise OutputError(self._folder / name, "the node has not written it")
        try:
            data = source.read_bytes()
        except OSError as error:
            raise OutputError(
                source,
                f"cannot be read here ({error.strerror}); the node has written it on its machine: "
                "take it from there",
            ) from error
        self._move_aside()
        write_bytes_atomically(self._folder / name, data)
        with suppress(OSError):
            source.unlink()
        return self.path(name)

    def result(self) -> str:
        """Return the path of the result of this run.

        Empty where nothing is known of a run: the last result of the node is meant then.

        Raises:
            NoResultError: this run has none, or it is no longer there.
        """
        if self._folder is None:
            return ""
        path, made = self._folder / RESULT, bool(self.text("identify", "file"))
        if made and path.is_file():
            return str(path)
        if made:
            raise NoResultError(f"{path} is no longer there: take the step identify again")
        if path.exists():
            raise NoResultError(
                f"{path} is not a result of this run: take the step identify, or name another "
                "folder"
            )
        if self.document:
            raise NoResultError("this run has no result: take the step identify")
        return ""

    def check(self, steps: Sequence[str]) -> None:
        """Refuse steps that need a result where there would be none, before anything is done.

        Args:
            steps: to be taken.

        Raises:
            NoResultError: there would be none.
        """
        if "identify" in steps or not {"validate", "calibrate"} & {*steps}:
            return
        self.result()
        if self._folder is not None and {"plan", "run"} & {*steps}:
            raise NoResultError("nothing would make a result of this run: add the step identify")

    def _move_aside(self) -> None:
        """Move what another run has left in the folder into one of its own.

        Raises:
            OutputError: it cannot be moved.
        """
        if self._folder is None or self._own_folder:
            return
        left = [self._folder / name for name in FILES if (self._folder / name).exists()]
        if left:
            self.aside = _unused(self._folder)
            try:
                self.aside.mkdir()
                for path in left:
                    path.rename(self.aside / path.name)
            except OSError as error:
                raise OutputError(self.aside, f"cannot be filled: {error.strerror}") from error
        self._own_folder = True

    def keep(self, step: str, entries: dict[str, Any]) -> None:
        """Keep what a step has brought; entries of steps that went on from what was there go.

        Raises:
            OutputError: the file cannot be written.
        """
        self._move_aside()
        for following in _FOLLOWING.get(step, ()):
            self.document.pop(following, None)
        self.document[step] = entries
        if self._folder is not None:
            text = json.dumps(plain(self.document), indent=2, allow_nan=False)
            write_text_atomically(self._folder / FILE, f"{text}\n")

    def note_rehearsed(self, plan: str, speed: float) -> None:
        """Note that the robot has followed a plan to its end.

        Args:
            plan: hash of the plan.
            speed: share of the planned speed.

        Raises:
            OutputError: the file cannot be written.
        """
        self.keep(_REHEARSED, {**self._rehearsals, plan: speed})

    def rehearsed(self, plan: str) -> bool:
        """Tell whether the robot has followed the plan with a hash to its end, at any speed."""
        return plan in self._rehearsals

    @property
    def _rehearsals(self) -> dict[str, Any]:
        entries = self.document.get(_REHEARSED)
        return entries if isinstance(entries, dict) else {}

    @property
    def plan_asked(self) -> dict[str, Any]:
        """What the plan of this run was asked for; empty where it made none."""
        entries = self.document.get("plan")
        asked = entries.get("asked") if isinstance(entries, dict) else None
        return asked if isinstance(asked, dict) else {}

    def text(self, step: str, name: str) -> str:
        """Return a text that a step has kept; empty where there is none."""
        entries = self.document.get(step)
        value = entries.get(name) if isinstance(entries, dict) else None
        return value if isinstance(value, str) else ""


def _unused(folder: Path) -> Path:
    """Return the first folder for an earlier run that is not there."""
    return next(path for n in count(1) if not os.path.lexists(path := folder / f"{_ASIDE}_{n}"))


def _read(path: Path) -> dict[str, Any]:
    advice = "begin anew without --from and --steps, or name another folder"
    try:
        if path.stat().st_size > _LARGEST:
            raise ResultFileError(path, f"larger than a record can be; {advice}")
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ResultFileError(path, f"cannot be read: {error}; {advice}") from error
    if not isinstance(document, dict):
        raise ResultFileError(path, f"not a record of a run; {advice}")
    return document
