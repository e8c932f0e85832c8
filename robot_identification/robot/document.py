"""Read a YAML file into plain data, and remember on which line everything stood.

Only the part of YAML that a hand-written robot file needs is accepted: one document, mappings,
sequences, and plain scalars of the YAML 1.2 core schema (so ``on`` and ``no`` are text and
``1e-3`` is a number).  Anchors, aliases and tags are refused, numbers must be finite, and every
key may stand only once.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import yaml

from robot_identification.errors import RobotDescriptionError

MAXIMUM_BYTES = 1 << 20
MAXIMUM_DEPTH = 20
MAXIMUM_ENTRIES = 20_000

FieldPath = tuple[str | int, ...]

_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.?(inf|nan)", re.IGNORECASE)
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def dotted(path: FieldPath) -> str:
    """Return a path as people write it, such as ``joints[2].limits.lower``."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


@dataclass(frozen=True)
class Document:
    """The content of a file and where each part of it stands.

    Attributes:
        path: the file, as it is named in errors.
        data: mappings, sequences, text, numbers, truth values and None.
        lines: path of an entry -> its line, counted from 1.
        digest: SHA-256 of the file.
    """

    path: str
    data: Any
    lines: dict[FieldPath, int]
    digest: str

    def line(self, path: FieldPath) -> int | None:
        """Return the line of an entry, or of the nearest entry around it that exists."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)

    def error(self, problem: str, *path: str | int) -> RobotDescriptionError:
        """Return the error that says what is wrong with the entry at ``path``."""
        return RobotDescriptionError(
            problem, path=self.path, line=self.line(path), field=dotted(path)
        )


def read_bytes(path: Path, maximum: int = MAXIMUM_BYTES) -> tuple[bytes, str]:
    """Return the content of a description and its SHA-256.

    Raises:
        RobotDescriptionError: the file cannot be read, or is larger than ``maximum`` bytes.
    """
    try:
        if path.exists() and not path.is_file():
            raise RobotDescriptionError("not a regular file", path=path)
        with path.open("rb") as stream:
            raw = stream.read(maximum + 1)
    except OSError as error:
        raise RobotDescriptionError(f"cannot be read: {error.strerror}", path=path) from error
    if len(raw) > maximum:
        raise RobotDescriptionError(f"larger than {maximum} bytes", path=path)
    return raw, hashlib.sha256(raw).hexdigest()


def read_document(path: Path, maximum: int = MAXIMUM_ENTRIES) -> Document:
    """Read a YAML file of at most ``maximum`` entries.

    Raises:
        RobotDescriptionError: the file cannot be read, is not YAML, or uses more of YAML than
            is accepted here; with the line.
    """
    raw, digest = read_bytes(path)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise RobotDescriptionError("not UTF-8 text", path=path, line=line) from error
    return parse_document(text, str(path), digest, maximum)


def parse_document(
    text: str, path: str, digest: str = "", maximum: int = MAXIMUM_ENTRIES
) -> Document:
    """Parse YAML text; see :func:`read_document`.

    Args:
        text: the text.
        path: named in errors.
        digest: SHA-256 of the file.
        maximum: number of entries above which it is refused.

    Raises:
        RobotDescriptionError: it is no YAML document, or not one of plain data.
    """
    builder = _Builder(text, path, maximum)
    return Document(path, builder.document(), builder.lines, digest)


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


class _Builder:
    """Builds data from the parser's events, one document only."""

    def __init__(self, text: str, path: str, maximum: int) -> None:
        self.path = path
        self._left = maximum
        self.lines: dict[FieldPath, int] = {}
        self._events = self._checked(text)

    def _checked(self, text: str) -> Iterator[Any]:
        try:
            yield from yaml.parse(text, Loader=_LOADER)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            problem = ", ".join(str(part) for part in (error.context, error.problem) if part)
            raise RobotDescriptionError(
                f"not valid YAML: {problem}",
                path=self.path,
                line=None if mark is None else mark.line + 1,
            ) from error
        except yaml.YAMLError as error:
            problem = str(error).splitlines()[0]
            raise RobotDescriptionError(f"not valid YAML: {problem}", path=self.path) from error

    def document(self) -> Any:
        next(self._events)  # start of the stream
        if isinstance(next(self._events), yaml.StreamEndEvent):
            raise RobotDescriptionError("the file is empty", path=self.path)
        data = self._node(next(self._events), ())
        next(self._events)  # end of the document
        following = next(self._events)
        if not isinstance(following, yaml.StreamEndEvent):
            self._fail("a second document; one file describes one robot", following, ())
        return data

    def _node(self, event: Any, path: FieldPath) -> Any:
        self._left -= 1
        if self._left < 0:
            self._fail("too many entries", event, path)
        self.lines.setdefault(path, _line(event))
        if isinstance(event, yaml.AliasEvent):
            self._fail("aliases are not accepted; write the values out", event, path)
        if event.anchor is not None:
            self._fail("anchors are not accepted; write the values out", event, path)
        if event.tag not in (None, "!"):
            self._fail(f"the tag {event.tag} is not accepted; remove it", event, path)
        if len(path) > MAXIMUM_DEPTH:
            self._fail("nested too deeply", event, path)
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path)
        return self._scalar(event, path)

    def _mapping(self, path: FieldPath) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        event: Any = next(self._events)
        while not isinstance(event, yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                self._fail("a key must be plain text", event, path)
            key = event.value
            place = (*path, key)
            if key in mapping:
                first = self.lines[place]
                self._fail(f"the key stands here again; first on line {first}", event, place)
            self.lines[place] = _line(event)
            mapping[key] = self._node(next(self._events), place)
            event = next(self._events)
        return mapping

    def _sequence(self, path: FieldPath) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._node(event, (*path, len(items))))
        return items

    def _scalar(self, event: Any, path: FieldPath) -> Any:
        text: str = event.value
        if event.style:  # quoted, or a block
            return text
        if text.lower() in _WORDS:
            return _WORDS[text.lower()]
        number = float(text) if _FLOAT.fullmatch(text) else None
        if _NOT_FINITE.fullmatch(text) or (number is not None and not math.isfinite(number)):
            self._fail(f"{text:.40} is not a finite number", event, path)
        if number is not None and _INTEGER.fullmatch(text) and abs(number) < 2**53:
            return int(text)
        return text if number is None else number

    def _fail(self, problem: str, event: Any, path: FieldPath) -> NoReturn:
        raise RobotDescriptionError(problem, path=self.path, line=_line(event), field=dotted(path))
