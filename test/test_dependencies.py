"""Dependencies: what is imported is declared, what rosdep cannot install can be done without."""

import ast
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest

from robot_identification.errors import SolverMissingError

ROOT = Path(__file__).resolve().parents[1]
MANIFEST = ET.parse(ROOT / "package.xml").getroot()
PAGE = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
KINDS = {"buildtool_depend": "build", "depend": "build, run", "exec_depend": "run"}
KINDS |= {"test_depend": "test", "doc_depend": "documentation"}

IN_OTHER_PACKAGES = {  # module -> where PyPI and rosdep have it, where that is not its name
    "backports": ("backports.zstd", None),  # None: rosdep has no key
    "clarabel": ("clarabel", None),
    "coal": ("coal", "coal"),
    "compression": (None, None),  # of Python, from 3.14 on
    "control_msgs": (None, "control_msgs"),  # not on PyPI
    "diagnostic_updater": (None, "diagnostic_updater"),  # not on PyPI
    "distributed": ("distributed", None),
    "launch": (None, "launch"),  # not on PyPI
    "launch_ros": (None, "launch_ros"),
    "lz4": ("lz4", None),
    "markupsafe": ("markupsafe", "python3-jinja2"),  # which brings it
    "mujoco": ("mujoco", None),
    "pandas": (None, None),  # no requirement: who wants a data frame has it
    "pooch": ("pooch", None),
    "requests": ("requests", None),  # optional, beside pooch
    "rosbag2_py": (None, "rosbag2_py"),  # not on PyPI
    "rosbags": ("rosbags", None),
    "yaml": ("pyyaml", "python3-yaml"),
}


def packages_of(module, ros):
    """Return where PyPI and rosdep have a module."""
    if module in IN_OTHER_PACKAGES:
        return IN_OTHER_PACKAGES[module]
    return (f"ros-{module.replace('_', '-')}", module) if ros else (module, f"python3-{module}")


@cache
def imported():
    """Return the modules that the package and its launch files import."""
    return frozenset(name for path in sources() for name in imported_by(path))


def sources():
    return [
        path
        for folder in ("robot_identification", "launch")
        for path in (ROOT / folder).rglob("*.py")
    ]


def imported_by(path):
    """Yield the modules that a file imports."""
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
    keys = {entry.text for kind in ("depend", "exec_depend") for entry in MANIFEST.iter(kind)}
    build = ast.parse((ROOT / "setup.py").read_text())
    texts = {n.value for n in ast.walk(build) if isinstance(n, ast.Constant)} - {None}
    pip = {re.split(r"[\s\[<>=!~;(]", str(text))[0] for text in texts}
    for module in sorted(imported() - own):
        wheel, key = packages_of(
            module, ros=f"ros-{module.replace('_', '-')}" in pip or module in keys
        )
        assert wheel is None or wheel in pip, f"{module}: setup.py"
        assert key is None or key in keys, f"{module}: package.xml"


NOT_IMPORTED = {
    "ros2launch": "starts the launch files",
    "rosbag2_storage_default_plugins": "rosbag2_py reads and writes sqlite3 and MCAP by them",
    "rosidl_default_runtime": "the generated modules need it",
}


def test_whatever_runs_by_rosdep_is_imported():
    modules = imported()
    keys = {key: module for module, (_, key) in IN_OTHER_PACKAGES.items() if key}
    for entry in MANIFEST.iter("exec_depend"):
        module = keys.get(entry.text, entry.text.removeprefix("python3-"))
        assert (module in modules) is (entry.text not in NOT_IMPORTED), entry.text


def test_pip_is_needed_for_no_key():
    """A package with such a key cannot be released into a distribution of ROS."""
    keys = [entry.text for kind in KINDS for entry in MANIFEST.iter(kind)]
    assert [key for key in keys if key.endswith("-pip")] == []
    assert len(set(keys)) == len(keys)


def test_dependencies_are_justified():
    keys = [entry.text for kind in ("depend", "exec_depend") for entry in MANIFEST.iter(kind)]
    assert [key for key in keys if key not in PAGE] == []
    # An installation by colcon does not know what pip would require.
    lines = metadata.requires("robot_identification") or []
    required = [re.split(r"[\s\[<>=!~;(]", line)[0] for line in lines]
    assert [name for name in required if f"`{name}`" not in PAGE] == []


def test_the_page_says_which_package_of_ubuntu_every_key_is():
    rows = re.findall(r"^\| (\w[\w-]*) \| `([\w-]+)` \| ([a-z, ]+) \|$", PAGE, re.MULTILINE)
    assert rows == [
        (key, key if key.startswith("python3-") else f"ros-jazzy-{key.replace('_', '-')}", kind)
        for tag, kind in KINDS.items()
        for key in sorted(entry.text for entry in MANIFEST.iter(tag))
    ]


WITHOUT_KEY = sorted(name for name, (_, key) in IN_OTHER_PACKAGES.items() if key is None)
LOAD = """
import sys
from importlib import import_module
from pkgutil import walk_packages

sys.modules.update(dict.fromkeys(sys.argv[1:]))
import robot_identification

for module in walk_packages(robot_identification.__path__, "robot_identification."):
    try:
        import_module(module.name)
    except ModuleNotFoundError as error:
        print(module.name, error.name.partition(".")[0])
"""


@pytest.mark.slow
def test_without_what_rosdep_cannot_install_all_but_its_own_module_can_be_loaded():
    loaded = subprocess.run(
        [sys.executable, "-c", LOAD, *set(WITHOUT_KEY) - set(sys.stdlib_module_names)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert loaded.returncode == 0, loaded.stderr
    missing = {line.split()[1]: line.split()[0] for line in loaded.stdout.splitlines()}
    in_ros_only = {"control_msgs", "launch", "rosbag2_py", "launch_ros"}
    assert {*missing} - in_ros_only == {"rosbags"}
    assert missing["rosbags"] == "robot_identification.files.bags.libraries.with_rosbags"


def test_the_missing_solver_is_named_with_what_brings_it():
    assert "pip install clarabel" in str(SolverMissingError("clarabel"))


def test_a_released_version_can_be_asked_about():
    """example.org is nobody's: it stands in package.xml until there is a place and an address."""
    addresses = [url.text for url in MANIFEST.iter("url")]
    addresses += [person.get("email") for person in MANIFEST.iter("maintainer")]
    kinds = {url.get("type") for url in MANIFEST.iter("url")}
    assert kinds == {"website", "repository", "bugtracker"}
    (email,) = (person.get("email") for person in MANIFEST.iter("maintainer"))
    assert f"<{email}>" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    released = re.findall(
        r"^\d+\.\d+\.\d+ ", (ROOT / "CHANGELOG.rst").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert not released or not any("example.org" in address for address in addresses)
