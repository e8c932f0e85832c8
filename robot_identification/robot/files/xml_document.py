"""Read an XML file into elements that know their line.

Document type declarations are refused, so that no entity can be defined, let alone expanded.
Files of xacro are expanded first.
"""

from __future__ import annotations

import hashlib
import importlib.util
import math
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.parsers import expat

from robot_identification.errors import RobotDescriptionError
from robot_identification.robot.files.document import read_bytes

MAXIMUM_BYTES = 1 << 24
MAXIMUM_DEPTH = 100
MAXIMUM_ELEMENTS = 50_000
XACRO = ".xacro"
URDF_ENDINGS = (".urdf", ".xml", XACRO)
"""Ends of the names of files that describe a robot in XML."""
_XACRO_TIME = 60.0  # s; descriptions of large cells take a few


@dataclass(frozen=True)
class Element:
    """An element of an XML file.

    Attributes:
        path: the file.
        tag: name of the element.
        attributes: name -> text.
        line: line of its start tag, counted from 1.
        start: place of its start tag among the bytes of the file.
        content_end: place of its end tag; of an empty-element tag, the place behind it.
        children: the elements inside.
        remarks: what was passed over in the whole document, for people; it grows as it is read.
    """

    path: str
    tag: str
    attributes: dict[str, str]
    line: int
    start: int
    content_end: int
    children: list[Element] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list, repr=False, compare=False)

    @property
    def label(self) -> str:
        """Return what the element is called in errors, such as ``joint[elbow]``."""
        name = self.attributes.get("name")
        return self.tag if name is None else f"{self.tag}[{name}]"

    def all(self, tag: str) -> list[Element]:
        """Return the children of that tag."""
        return [child for child in self.children if child.tag == tag]

    def one(self, tag: str) -> Element | None:
        """Return the child of that tag, None where there is none.

        Raises:
            RobotDescriptionError: there are several.
        """
        found = self.all(tag)
        if len(found) > 1:
            raise found[1].error(f"a second <{tag}>", self.label)
        return found[0] if found else None

    def first(self, tag: str) -> Element | None:
        """Return the first child of that tag; that there are more is remarked."""
        found = self.all(tag)
        if len(found) > 1:
            self.remark(f"a second <{tag}> on line {found[1].line} is passed over")
        return found[0] if found else None

    def remark(self, told: str, owner: str = "") -> None:
        """Remark what is odd about the element and does no harm."""
        remark = str(self.error(told, owner))
        if remark not in self.remarks:
            self.remarks.append(remark)

    def text(self, name: str) -> str:
        """Return an attribute.

        Raises:
            RobotDescriptionError: it is missing or empty.
        """
        value = self.attributes.get(name, "").strip()
        if not value:
            raise self.error(f"the attribute {name} is missing")
        return value

    def numbers(self, name: str, count: int) -> tuple[float, ...]:
        """Return an attribute that holds ``count`` finite numbers.

        Raises:
            RobotDescriptionError: it is missing, or does not hold that.
        """
        parts = self.text(name).split()
        try:
            values = tuple(float(part) for part in parts[: count + 1])
        except ValueError:
            values = ()
        if len(values) != count or not all(map(math.isfinite, values)):
            wanted = "a finite number" if count == 1 else f"{count} finite numbers"
            raise self.error(f'"{self.attributes[name]:.60}" is not {wanted}', "", name)
        return values

    def number(self, name: str) -> float:
        """Return an attribute that holds one finite number; see :meth:`numbers`."""
        return self.numbers(name, 1)[0]

    def error(self, problem: str, owner: str = "", attribute: str = "") -> RobotDescriptionError:
        """Return an error at this element.

        Args:
            problem: what is wrong.
            owner: label of the element around it, where that helps to find it.
            attribute: the attribute that is wrong.
        """
        parts = [part for part in (owner, self.label, attribute) if part]
        return RobotDescriptionError(problem, path=self.path, line=self.line, field=".".join(parts))


def read_xml(path: Path) -> tuple[Element, str]:
    """Return the root element of an XML file and the file's SHA-256.

    Raises:
        RobotDescriptionError: the file cannot be read or is not well-formed; with the line.
    """
    raw, digest = read_description(path)
    return parse_xml(raw, str(path)), digest


def read_description(path: Path) -> tuple[bytes, str]:
    """Return the XML that a file describes a robot by, and its SHA-256.

    A file whose name ends with ``.xacro`` is expanded by xacro, in a process of its own, and what
    comes out counts, whatever files it includes.  Xacro evaluates expressions: expand only files
    that you trust.

    Raises:
        RobotDescriptionError: the file cannot be read or expanded, or xacro is not installed.
    """
    raw, digest = read_bytes(path, MAXIMUM_BYTES)
    if path.suffix.lower() != XACRO:
        return raw, digest
    if importlib.util.find_spec("xacro") is None:
        raise RobotDescriptionError(
            "has to be expanded by xacro, which is not installed; install it (pip install xacro, "
            "or the package xacro of ROS), or expand the file where it is: "
            f"xacro {path.name} > {path.name.removesuffix(XACRO).removesuffix('.urdf')}.urdf",
            path=path,
        )
    command = [sys.executable, "-c", "import xacro; xacro.main()", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_XACRO_TIME, check=False)
    except subprocess.TimeoutExpired as error:
        problem = f"xacro has not expanded it in {_XACRO_TIME:g} s"
        raise RobotDescriptionError(problem, path=path) from error
    if done.returncode != 0:
        told = " ".join(done.stderr.decode(errors="replace").split())
        raise RobotDescriptionError(f"xacro cannot expand it: {told:.300}", path=path)
    if len(done.stdout) > MAXIMUM_BYTES:
        raise RobotDescriptionError(f"expanded, larger than {MAXIMUM_BYTES} bytes", path=path)
    return done.stdout, hashlib.sha256(done.stdout).hexdigest()


def parse_xml(data: bytes, name: str, *, encoding: str | None = None) -> Element:
    """Return the root element of an XML document.

    Args:
        data: the document.
        name: what it is called in errors.
        encoding: of the data; by default the one that the document declares.

    Raises:
        RobotDescriptionError: the document is not well-formed; with the line.
    """
    parser = expat.ParserCreate(encoding)
    open_: list[Element] = []
    closed: list[Element] = []
    left = MAXIMUM_ELEMENTS
    remarks: list[str] = []

    def fail(problem: str) -> RobotDescriptionError:
        return RobotDescriptionError(problem, path=name, line=parser.CurrentLineNumber)

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise fail(f"more than {MAXIMUM_ELEMENTS} elements")
        place = parser.CurrentByteIndex
        line = parser.CurrentLineNumber
        open_.append(Element(name, tag, attributes, line, place, place, remarks=remarks))
        if len(open_) > MAXIMUM_DEPTH:
            raise fail("nested too deeply")

    def end(_: str) -> None:
        element = replace(open_.pop(), content_end=parser.CurrentByteIndex)
        (open_[-1].children if open_ else closed).append(element)

    def doctype(*_: object) -> None:
        raise fail("document type declarations are not accepted; remove <!DOCTYPE>")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        problem = f"not well-formed XML: {expat.ErrorString(error.code)}"
        raise RobotDescriptionError(problem, path=name, line=error.lineno) from error
    return closed[0]


def utf8(text: str, name: str) -> bytes:
    """Return the text of an XML document in UTF-8.

    Args:
        text: the document.
        name: what it is called in errors.

    Raises:
        RobotDescriptionError: it holds half a character.
    """
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise RobotDescriptionError("holds half a character", path=name, line=line) from error
