"""Commands and outputs that a page shows, run in order in one folder and compared.

A block of a page is indented by four spaces or stands between fences.  A comment in front of it
says what cannot be read from it:

    <!-- not run: REASON -->                what needs live nodes, a network or a robot
    <!-- not compared: REASON -->           what is printed depends on time, machine or the writer
    <!-- data NAME: FILE as LINK, ... -->   run where that data set is here; FILE of it as LINK

An output belongs to the commands before it in its section, and is compared if they ran.  It may be
any part of what they print: lines that follow each other, `...` for lines that are left out, and
for the rest of a line at its end.
"""

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from robot_identification.cli.main import PROGRAM, main
from robot_identification.files.datasets.table import DATASETS
from shared_data import measured_data

PROGRAMS = (PROGRAM, "make", "ros2", "python", "pip", "source", "colcon")
"""First words of commands."""

_BLOCK = re.compile(
    r"(?:^<!-- (?P<marker>.*?) -->\n+)?"
    r"(?:^```(?P<language>[^\n]*)\n(?P<fenced>.*?)^```$"
    r"|(?P<indented>(?:^ {4}[^\n]*\n(?:\n+(?= {4}))?)+))",
    re.MULTILINE | re.DOTALL,
)
_HEADING = re.compile(r"^#+ ", re.MULTILINE)
_DATA = re.compile(r"data (?P<name>\w+): (?P<links>.+)")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?%?")
_RUN_TIME = re.compile(r"[\d.]+ s$")


@dataclass(frozen=True)
class Block:
    """A block of a page, with the marker before it, and the number of its section."""

    page: Path
    line: int
    section: int
    marker: str
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page.name}:{self.line}"

    @property
    def is_commands(self) -> bool:
        return self.language in ("", "bash") and self.text.split(maxsplit=1)[0] in PROGRAMS

    @property
    def commands(self) -> list[list[str]]:
        lines = self.text.replace("\\\n", " ").splitlines()
        return [shlex.split(line, comments=True) for line in lines if line.strip()]


@dataclass(frozen=True)
class Run:
    """What became of a page: every block is run, compared, or left out for a reason."""

    ran: tuple[str, ...]
    compared: tuple[str, ...]
    without_data: tuple[str, ...]


def blocks(page: Path) -> Iterator[Block]:
    """Return the blocks of a page, in their order; commands and what they print are two blocks."""
    text = page.read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        kind = "fenced" if found["fenced"] is not None else "indented"
        marker, line = found["marker"] or "", text.count("\n", 0, found.start(kind)) + 1
        section = len(_HEADING.findall(text, 0, found.start()))
        for part in _parts(found[kind], kind == "indented"):
            yield Block(page, line, section, marker, found["language"] or "", part)
            line += part.count("\n")


def _parts(text: str, indented: bool) -> Iterator[str]:
    """Return what stands between empty lines, outputs joined, empty lines included."""
    if indented:
        text = re.sub("^ {4}", "", text, flags=re.MULTILINE)
    kept = ""
    for paragraph in re.findall(r"(?:[^\n]+\n)+\n*", text):
        commands = paragraph.split(maxsplit=1)[0] in PROGRAMS
        if kept and (commands or kept.split(maxsplit=1)[0] in PROGRAMS):
            yield kept
            kept = ""
        kept += paragraph
    if kept:
        yield kept


def run_page(page: Path, folder: Path) -> Run:
    """Run the commands of a page in a folder, which is the current one, and compare what it shows.

    Raises:
        AssertionError: a command fails, prints something else than the page shows, or is neither
            run nor marked.
    """
    ran, compared, without_data, different = [], [], [], []
    printed, section = None, 0  # by the last block of commands, if it ran
    for block in blocks(page):
        if block.section != section:
            printed, section = None, block.section
        reason = block.marker.startswith("not ")
        if block.is_commands:
            printed = None
            if block.marker.startswith("not run: "):
                continue
            if not _linked(block, folder):
                without_data.append(block.place)
                continue
            printed = "".join(_printed(block, command) for command in block.commands)
            ran.append(block.place)
        elif printed is not None and block.language in ("", "text") and not reason:
            if not shows(block.text, printed):
                different.append(f"{block.place} shows\n{block.text}\nbut printed is\n{printed}")
            compared.append(block.place)
    assert not different, "\n".join(different)
    return Run(tuple(ran), tuple(compared), tuple(without_data))


def _linked(block: Block, folder: Path) -> bool:
    """Put the data that a block asks for into the folder; tell whether they are here."""
    asked = _DATA.fullmatch(block.marker)
    if asked is None:
        assert not block.marker or block.marker.startswith("not compared: "), block.place
        return True
    assert asked["name"] in DATASETS, block.place
    data = measured_data(asked["name"])
    if not data.is_dir():
        return False
    for link in asked["links"].split(", "):
        file, name = link.split(" as ")
        if not (folder / name).exists():
            (folder / name).symlink_to(data / file)
    return True


def _printed(block: Block, command: list[str]) -> str:
    """Run a command; return what it prints."""
    assert command[0] == PROGRAM, f"{block.place}: {command[0]} is not run by tests: mark the block"
    printed, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(errors):
        code = main(command[1:])
    assert code == 0, f"{block.place}: {shlex.join(command)} ends with {code}\n{errors.getvalue()}"
    return printed.getvalue()


def shows(shown: str, printed: str) -> bool:
    """Tell whether a page shows a part of what was printed."""
    wanted = [line.split() for line in _without_times(shown)]
    there = [line.split() for line in _without_times(printed)]
    return any(_matches(wanted, there[start:]) for start in range(len(there)))


def _without_times(text: str) -> list[str]:
    """Return the lines that are not empty, without the seconds that a command took."""
    lines = (_RUN_TIME.sub("TIME s", line.strip()) for line in text.splitlines())
    return [line for line in lines if line]


def _matches(wanted: list[list[str]], there: list[list[str]]) -> bool:
    """Tell whether lines are the first of others, `...` standing for any number of them."""
    if not wanted:
        return True
    if wanted[0] == ["..."]:
        return any(_matches(wanted[1:], there[skipped:]) for skipped in range(len(there) + 1))
    return bool(there) and _same_line(wanted[0], there[0]) and _matches(wanted[1:], there[1:])


def _same_line(wanted: list[str], there: list[str]) -> bool:
    if len(wanted) > 1 and wanted[-1] == "...":
        wanted = wanted[:-1]
        there = there[: len(wanted)]
    return len(wanted) == len(there) and all(map(_same_word, wanted, there))


def _same_word(wanted: str, there: str) -> bool:
    """Tell whether words are equal; numbers may be rounded, and their last digit off by one.

    Another processor sums in another order, and a digit at the edge of rounding is another then.
    """
    if wanted == there:
        return True
    if not (_NUMBER.fullmatch(wanted) and _NUMBER.fullmatch(there)):
        return False
    shown, printed = _last_digit(wanted), _last_digit(there)
    if shown == printed == 1.0:  # things that are counted
        return False
    allowed = min(shown, printed) + (0.5 * shown if shown > printed else 0.0)
    difference = abs(float(wanted.rstrip("%")) - float(there.rstrip("%")))
    return difference <= allowed * (1.0 + 1e-6)


def _last_digit(number: str) -> float:
    """Return what one more in the last digit of a number is worth."""
    mantissa, _, exponent = number.rstrip("%").partition("e")
    return float(10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2])))
