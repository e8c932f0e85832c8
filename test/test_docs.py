"""Commands of the documentation are commands of this program, and what it names is there.

``make docs``, a part of ``make test``, builds the pages without a warning; test_pages.py and
api/test_python_page.py run them as they are printed.
"""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from robot_identification.cli.main import parser

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FOLDERS = [path.name for start in (ROOT, ROOT / "robot_identification") for path in start.iterdir()]
COMMAND = re.compile(  # an error of a command has its name and a colon
    r"^(?:\$ |    )(robot-identification (?!\S+: ).*)$", re.MULTILINE
)


def commands(page):
    """Return the commands of a page, with lines that a backslash joins."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    return [line.split(" #")[0].strip() for line in COMMAND.findall(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_of_a_page_are_understood(page):
    refused = []
    for command in commands(page):
        said = io.StringIO()
        try:
            with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
                parser().parse_args(shlex.split(re.split(r"[|>&;]", command)[0])[1:])
        except SystemExit as end:
            if end.code:
                refused.append(f"{command}\n    {said.getvalue().splitlines()[-1]}")
    assert not refused, "\n".join(refused)


def test_the_pages_show_commands():
    assert sum(len(commands(page)) for page in PAGES) >= 15


def test_every_page_is_in_the_index():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8").split()
    missing = [p.stem for p in PAGES[1:] if p.stem not in index and p.stem != "index"]
    assert not missing


def missing_of(paths):
    """Return the paths that are neither below the root of the repository nor in the package."""
    starts = ROOT, ROOT / "robot_identification"
    return [path for path in paths if not any((start / path).is_file() for start in starts)]


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_files_that_a_page_for_developers_names_are_there(page):
    named = re.findall(r"`((?:\w+/)+[a-z0-9_]+\.\w+)`", (ROOT / page).read_text(encoding="utf-8"))
    assert len(named) > 10
    assert not missing_of(named)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_modules_that_a_page_names_are_there(page):
    named = re.findall(r"(?<![\w/])((?:\w+/)+\w+\.py)\b", page.read_text(encoding="utf-8"))
    assert not missing_of(path for path in named if path.partition("/")[0] in FOLDERS)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "QUALITY_DECLARATION.md"])
def test_links_to_files_lead_somewhere(page):
    links = re.findall(r"\]\((?!http)([^)#]+)[^)]*\)", (ROOT / page).read_text(encoding="utf-8"))
    assert links
    assert not [link for link in links if not (ROOT / link).exists()]


def test_tests_that_the_page_of_faults_names_are_there():
    """A part of a name may be left out: ``test_when_..._end``."""
    text, module, missing = (ROOT / "docs/faults.md").read_text(encoding="utf-8"), "", []
    for path, names in re.findall(r"`((?:\w+/)*test_\w+\.py)?(?:::)?([\w.:]*)`", text):
        name = names.rpartition("::")[-1]
        if path:
            file = ROOT / path if "/" in path else ROOT / "test/faults" / path
            module = file.read_text(encoding="utf-8") if file.is_file() else ""
            missing += [] if module else [path]
        if name.startswith(("test_", "...")):
            wanted = re.escape(name).replace(r"\.\.\.", r"\w*")
            missing += [] if re.search(rf"def {wanted}\b", module) else [name]
    assert not missing
