"""Changes of an XML document that leave every other byte of it alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

from robot_identification.robot.files.urdf.xml_document import Element

# A start tag of a document that a parser has accepted.
_START_TAG = re.compile(rb"""<(?:[^>"']|"[^"]*"|'[^']*')*>""")
_ATTRIBUTE = re.compile(rb"""\s([^\s=]+)\s*=\s*("[^"]*"|'[^']*')""")
_INDENT = re.compile(rb"[ \t]*\Z")


class Edit(NamedTuple):
    """Bytes ``start`` to ``end`` of a document become ``text``."""

    start: int
    end: int
    text: bytes


def applied(data: bytes, edits: Iterable[Edit]) -> bytes:
    """Return a document after edits that do not overlap, in any order."""
    parts, done = [], 0
    for edit in sorted(edits):
        parts += [data[done : edit.start], edit.text]
        done = edit.end
    return b"".join([*parts, data[done:]])


class Surgery:
    """Makes edits of a document in UTF-8.

    Args:
        data: the document.
        root: its root element, read from the same bytes.
    """

    def __init__(self, data: bytes, root: Element) -> None:
        self._data = data
        self._newline = b"\r\n" if b"\r\n" in data else b"\n"
        indents = [self._indent(child.start) for child in root.children[:1]]
        self._unit = next((indent for indent in indents if indent), b"  ")

    def set_attributes(self, element: Element, values: Mapping[str, str]) -> list[Edit]:
        """Return the edits that give an element attributes; others of it stay as they are."""
        tag = self._start_tag(element)
        places = {
            match[1].decode(): (match.start(2), match.end(2))
            for match in _ATTRIBUTE.finditer(self._data, element.start, tag.end())
        }
        edits = []
        for name, text in values.items():
            quoted = f'"{escape(text, {chr(34): "&quot;"})}"'.encode()
            if name in places:
                edits.append(Edit(*places[name], quoted))
            else:
                end = self._end_of_attributes(element, tag.end())
                edits.append(Edit(end, end, b" " + name.encode() + b"=" + quoted))
        return edits

    def remove(self, element: Element) -> Edit:
        """Return the edit that takes an element away, with its line where nothing else is on it."""
        start, end = element.start, self._end(element)
        indent = self._indent(start)
        if indent is not None:
            rest = re.compile(rb"[ \t]*(\r\n|\n|\Z)").match(self._data, end)
            if rest is not None:
                start, end = start - len(indent), rest.end()
        return Edit(start, end, b"")

    def insert_first(self, element: Element, lines: Sequence[tuple[int, str]]) -> Edit:
        """Return the edit that puts something before the children of an element.

        Args:
            element: where to put it.
            lines: (depth, text) of each line, depth counted from 0.
        """
        own = self._indent(element.start)
        inner = None if own is None else own + self._unit
        if element.children:
            inner = self._indent(element.children[0].start)
        text = self._text(inner, lines)
        end = self._start_tag(element).end()
        if not self._is_empty(element):
            return Edit(end, end, text)
        start = self._end_of_attributes(element, end)
        closing = b"" if own is None else self._newline + own
        return Edit(start, end, b">" + text + closing + b"</" + element.tag.encode() + b">")

    def insert_after(self, sibling: Element, line: str) -> Edit:
        """Return the edit that puts a line behind an element, at the same depth."""
        end = self._end(sibling)
        return Edit(end, end, self._text(self._indent(sibling.start), [(0, line)]))

    def _text(self, indent: bytes | None, lines: Sequence[tuple[int, str]]) -> bytes:
        if indent is None:
            return b"".join(text.encode() for _, text in lines)
        return b"".join(
            self._newline + indent + depth * self._unit + text.encode() for depth, text in lines
        )

    def _indent(self, place: int) -> bytes | None:
        """Return the blanks before a place where nothing else is before it on its line."""
        begin = self._data.rfind(b"\n", 0, place) + 1
        before = self._data[begin:place]
        return before if begin and _INDENT.match(before) else None

    def _start_tag(self, element: Element) -> re.Match[bytes]:
        match = _START_TAG.match(self._data, element.start)
        if match is None:
            raise element.error("the start tag is not where the parser says")
        return match

    def _is_empty(self, element: Element) -> bool:
        """Tell whether an element is one empty-element tag."""
        return self._start_tag(element)[0].endswith(b"/>")

    def _end_of_attributes(self, element: Element, end: int) -> int:
        """Return the place behind the last attribute of a start tag that ends at ``end``."""
        closing = 2 if self._is_empty(element) else 1
        return element.start + len(self._data[element.start : end - closing].rstrip())

    def _end(self, element: Element) -> int:
        """Return the place behind an element."""
        if self._is_empty(element):
            return self._start_tag(element).end()
        return self._data.index(b">", element.content_end) + 1
