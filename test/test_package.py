"""The package as such: versions, interfaces, executables."""

import ast
import re
import sys
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


IN_OTHER_PACKAGES = {  # module -> where PyPI and rosdep have it, where that is not its name
    "backports": ("backports.zstd", None),  # None: rosdep has no key
    "clarabel": ("clarabel", None),
    "coal": ("coal", "coal"),
    "compression": (None, None),  # of Python, from 3.14 on
    "control_msgs": (None, "control_msgs"),  # not on PyPI
    "distributed": ("distributed", None),
    "launch": (None, "launch"),  # not on PyPI
    "launch_ros": (None, "launch_ros"),
    "mujoco": ("mujoco", None),
    "pandas": (None, None),  # no requirement: who wants a data frame has it
    "pooch": ("pooch", None),
    "requests": ("requests", None),  # optional, beside pooch
    "rosbags": ("rosbags", "python3-rosbags-pip"),
    "yaml": ("pyyaml", "python3-yaml"),
}


def packages_of(module, ros):
    """Return where PyPI and rosdep have a module."""
    if module in IN_OTHER_PACKAGES:
        return IN_OTHER_PACKAGES[module]
    return (f"ros-{module.replace('_', '-')}", module) if ros else (module, f"python3-{module}")


def imported():
    """Return the modules of others that the package and its launch files import."""
    for folder in ("robot_identification", "launch"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Import):
                    yield from (alias.name.partition(".")[0] for alias in node.names)
                elif isinstance(node, ast.ImportFrom):
                    yield node.module.partition(".")[0]
                elif isinstance(node, ast.Call) and ast.unparse(node.func) == "import_module":
                    found = re.match(r"import_module\(f?'(\w+)", ast.unparse(node))
                    yield from found.groups() if found else ()


def test_whatever_is_imported_is_declared():
    own = {*sys.stdlib_module_names, "robot_identification"}
    manifest = ET.parse(ROOT / "package.xml").getroot()
    keys = {entry.text for kind in ("depend", "exec_depend") for entry in manifest.iter(kind)}
    build = ast.parse((ROOT / "setup.py").read_text())
    texts = {n.value for n in ast.walk(build) if isinstance(n, ast.Constant)} - {None}
    pip = {re.split(r"[\s\[<>=!~;(]", str(text))[0] for text in texts}
    for module in sorted(set(imported()) - own):
        wheel, key = packages_of(
            module, ros=f"ros-{module.replace('_', '-')}" in pip or module in keys
        )
        assert wheel is None or wheel in pip, f"{module}: setup.py"
        assert key is None or key in keys, f"{module}: package.xml"


def test_dependencies_are_justified():
    text = (ROOT / "docs" / "dependencies.md").read_text()
    manifest = ET.parse(ROOT / "package.xml").getroot()
    keys = [entry.text for kind in ("depend", "exec_depend") for entry in manifest.iter(kind)]
    assert [key for key in keys if key not in text] == []
    # An installation by colcon does not know what pip would require.
    lines = metadata.requires("robot_identification") or []
    required = [re.split(r"[\s\[<>=!~;(]", line)[0] for line in lines]
    assert [name for name in required if f"`{name}`" not in text] == []
