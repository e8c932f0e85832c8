"""The reader of YAML files: plain data, and on which line everything stood.

Only the part of YAML that a robot file needs is accepted: one document, mappings, sequences, and
plain scalars of the YAML 1.2 core schema (so ``on`` and ``no`` are text and ``1e-3`` is a number).
Aliases and tags are refused, every key may stand only once, and entries and levels are counted: an
alias lets a few bytes stand for gigabytes, thousands of levels end the process, every entry takes
some 500 bytes of memory, and of a key that stands twice one value is lost.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import yaml

from robot_identification.errors import RobotDescriptionError

DIGEST = "sha256"


def content_digest(data: Mapping[str, Any]) -> str:
    """Return the SHA-256 of plain data without its entry ``sha256``, hexadecimal.

    Mappings count without their order.  Numbers count with every digit, and 1 differs from 1.0.

    Args:
        data: mappings with text keys, lists, text, numbers, truth values and None.

    Raises:
        TypeError: the data hold anything else.
    """
    content = {name: value for name, value in data.items() if name != DIGEST}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


MAXIMUM_BYTES = 1 << 20
MAXIMUM_ENTRIES = 20_000


class Accepted(NamedTuple):
    """Limits of a document.

    Attributes:
        entries: most entries, all together.
        levels: most levels of mappings and sequences.
        by_people: people write it: numbers must be finite, anchors are refused, and the line of
            every entry is kept, which takes more memory than the data.  Else plain scalars are
            those of YAML 1.1, as programs write them: ``08`` and ``1e5`` are text.
    """

    entries: int = MAXIMUM_ENTRIES
    levels: int = 20
    by_people: bool = True


HAND_WRITTEN, WRITTEN = Accepted(), Accepted(by_people=False)

FieldPath = tuple[str | int, ...]

_MOST_DIGITS = 20
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.?(inf|nan)", re.IGNORECASE)
_WRITTEN_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_WRITTEN_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+\.[0-9]*)([eE][-+][0-9]+)?")
_WRITTEN_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
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
        lines: path of an entry -> its line, counted from 1; empty where programs write it.
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


def read_document(
    path: Path, accepted: Accepted = HAND_WRITTEN, maximum: int = MAXIMUM_BYTES
) -> Document:
    """Read a YAML file of at most ``maximum`` bytes.

    Raises:
        RobotDescriptionError: the file cannot be read, is not YAML, or uses more of YAML than
            is accepted here; with the line.
    """
    raw, digest = read_bytes(path, maximum)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise RobotDescriptionError("not UTF-8 text", path=path, line=line) from error
    return parse_document(text, str(path), digest, accepted)


def parse_document(
    text: str, path: str, digest: str = "", accepted: Accepted = HAND_WRITTEN
) -> Document:
    """Parse YAML text; see :func:`read_document`.

    Args:
        text: the text.
        path: named in errors.
        digest: SHA-256 of the file.
        accepted: what it may consist of.

    Raises:
        RobotDescriptionError: it is no YAML document, or not one of plain data.
    """
    builder = _Builder(text, path, accepted)
    return Document(path, builder.document(), builder.lines, digest)


def _written(text: str) -> Any:
    """Return what a plain scalar that a program has written means."""
    if _WRITTEN_INTEGER.fullmatch(text):
        return int(text) if len(text) <= _MOST_DIGITS else float(text)
    if _WRITTEN_FLOAT.fullmatch(text):
        return float(text)
    return float(text.replace(".", "")) if _WRITTEN_NOT_FINITE.fullmatch(text) else text


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


class _Builder:
    """Builds data from the parser's events, one document only."""

    def __init__(self, text: str, path: str, accepted: Accepted) -> None:
        self.path = path
        self._accepted = accepted
        self._left = accepted.entries
        self.lines: dict[FieldPath, int] = {}
        self._events = self._checked(text)

    def _checked(self, text: str) -> Iterator[Any]:
        try:
            yield from yaml.parse(text, Loader=_LOADER)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            problem = ", ".join(str(part) for part in (error.context, error.problem) if part)
            # From PyYAML 6.0.4 on its parser may refuse deep nesting before our own limit is asked.
            too_deep = "nesting depth" in problem
            raise RobotDescriptionError(
                "nested too deeply" if too_deep else f"not valid YAML: {problem}",
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
            most = self._accepted.entries
            self._fail(f"too many entries; more than {most} entries are not read", event, path)
        self._note(path, event)
        if isinstance(event, yaml.AliasEvent):
            self._fail("aliases are not accepted; write the values out", event, path)
        if event.anchor is not None and self._accepted.by_people:
            self._fail("anchors are not accepted; write the values out", event, path)
        if event.tag not in (None, "!"):
            # Without its tag an angle of 90 degrees would be one of 90 rad.
            remedy = "write the value in rad" if event.tag == "!degrees" else "remove it"
            self._fail(f"the tag {event.tag} is not accepted; {remedy}", event, path)
        if len(path) > self._accepted.levels:
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
                first = f"; first on line {self.lines[place]}" if place in self.lines else ""
                self._fail(f"the key stands here again{first}", event, place)
            self._note(place, event)
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
        if not self._accepted.by_people:
            return _written(text)
        number = float(text) if _FLOAT.fullmatch(text) else None
        if _NOT_FINITE.fullmatch(text) or (number is not None and not math.isfinite(number)):
            self._fail(f"{text:.40} is not a finite number", event, path)
        if number is not None and _INTEGER.fullmatch(text) and abs(number) < 2**53:
            return int(text)
        return text if number is None else number

    def _note(self, path: FieldPath, event: Any) -> None:
        if self._accepted.by_people:
            self.lines.setdefault(path, _line(event))

    def _fail(self, problem: str, event: Any, path: FieldPath) -> NoReturn:
        raise RobotDescriptionError(problem, path=self.path, line=_line(event), field=dotted(path))
