"""The package as such: versions, interfaces, executables."""

import re
import xml.etree.ElementTree as ET
from importlib import import_module, metadata
from pathlib import Path

import pytest

import robot_identification

ROOT = Path(__file__).resolve().parents[1]
MESSAGES = sorted(ROOT.glob("msg/*.msg"))
SERVICES = sorted(ROOT.glob("srv/*.srv"))
ACTIONS = sorted(ROOT.glob("action/*.action"))
HALVES = {
    "msg": lambda interface: (interface,),
    "srv": lambda interface: (interface.Request, interface.Response),
    "action": lambda interface: (interface.Goal, interface.Result, interface.Feedback),
}
CONSTANT = re.compile(r"^(\w+) ([A-Z][A-Z0-9_]*)=(-?\d+)", re.MULTILINE)


def names(paths):
    return [path.stem for path in paths]


def test_version_is_the_same_everywhere():
    declared = ET.parse(ROOT / "package.xml").findtext("version")
    assert robot_identification.__version__ == declared
    assert metadata.version("robot_identification") == declared


@pytest.mark.filterwarnings("ignore:nodes.Node.traverse:DeprecationWarning")
def test_release_tools_read_the_changelog():
    """As catkin_prepare_release does, a version takes the place of what is forthcoming."""
    package_version = pytest.importorskip("catkin_pkg.package_version")
    changelog = pytest.importorskip("catkin_pkg.changelog")
    version = "99.0.0"
    text = (ROOT / "CHANGELOG.rst").read_text(encoding="utf-8")
    label = package_version.get_forthcoming_label(text)
    assert label == "Forthcoming"
    read = changelog.Changelog("robot_identification")
    released = package_version.rename_section(text, label, f"{version} (2099-01-01)")
    changelog.populate_changelog_from_rst(read, released)
    entries = [entry for items in read.get_content_of_version(version) for entry in items]
    assert len(entries) == len(re.findall("^- ", text, re.MULTILINE))


@pytest.mark.parametrize("path", MESSAGES + SERVICES + ACTIONS, ids=lambda path: path.name)
def test_every_field_is_commented(path):
    lines = path.read_text().splitlines()
    assert lines[0].startswith("# "), "an interface begins with what it is for"
    bare = [line for line in lines if line.strip() not in ("", "---") and "#" not in line]
    assert not bare


def error_codes(path):
    response = path.read_text().split("\n---\n")[1]
    return CONSTANT.findall(response)


@pytest.mark.parametrize("path", SERVICES + ACTIONS, ids=lambda path: path.name)
def test_services_and_actions_share_response_and_error_codes(path):
    codes = error_codes(path)
    assert codes == error_codes(SERVICES[0])
    assert codes[0] == ("uint16", "OK", "0")
    assert len({number for _, _, number in codes}) == len(codes)
    kind = path.parent.name
    response = HALVES[kind](getattr(import_module(f"robot_identification.{kind}"), path.stem))[1]
    fields = list(response.get_fields_and_field_types().items())
    head = [("success", "boolean"), ("error_code", "uint16"), ("message", "string")]
    assert fields[:3] == head


@pytest.mark.parametrize("name", sorted({*names(ACTIONS)} & {*names(SERVICES)}))
def test_an_action_takes_and_gives_what_the_service_of_its_name_does(name):
    path, service = ROOT / "action" / f"{name}.action", ROOT / "srv" / f"{name}.srv"
    own, other = path.read_text().split("\n---\n"), service.read_text().split("\n---\n")
    assert [declared_fields(half) for half in own[:2]] == [declared_fields(half) for half in other]


@pytest.mark.parametrize(
    ("module", "paths"), [("msg", MESSAGES), ("srv", SERVICES), ("action", ACTIONS)], ids=HALVES
)
def test_interfaces_are_built(module, paths):
    generated = import_module(f"robot_identification.{module}")
    stale = "rebuild: make venv"
    assert set(names(paths)) <= set(dir(generated)), stale
    for path in paths:
        interface = getattr(generated, path.stem)
        built = {
            field
            for half in HALVES[module](interface)
            for field in half.get_fields_and_field_types()
        }
        assert built == declared_fields(path.read_text()), stale


def declared_fields(text):
    """Return the names of the fields, from lines such as ``float64[] position  # rad``."""
    lines = (line.partition("#")[0].split() for line in text.splitlines())
    return {words[1] for words in lines if len(words) > 1 and "=" not in "".join(words)}
