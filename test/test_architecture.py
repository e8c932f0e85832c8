"""What import-linter cannot see: modules that are generated or come from a ROS installation.

The direction of the arrows between the folders is a contract in pyproject.toml.
"""

import ast
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "robot_identification"
MAY_USE_ROS = {"cli", "ros"}
MAY_PLOT = {"api", "cli", "ros", "report"}
CORE = [
    path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.relative_to(PACKAGE).parts[0] not in MAY_USE_ROS
]


@cache
def nodes(path):
    """Return the imports of a module, and all attributes in it, wherever they stand."""
    wanted = ast.Import | ast.ImportFrom | ast.Attribute
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, wanted)]


def imported(path):
    """Return the dotted names that a module imports, wherever the statement stands."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: a relative import hides where the arrow points"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_ros(name):
    head, *rest = name.split(".")
    if head == "robot_identification":
        return rest[:1] in (["msg"], ["srv"], ["action"])
    return head.startswith(("rcl", "rosidl")) or head.endswith(("_msgs", "_srvs", "_interfaces"))


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_core_knows_neither_ros_nor_plots(path):
    names = set(imported(path))
    assert not {name for name in names if is_ros(name)}
    if path.relative_to(PACKAGE).parts[0] not in MAY_PLOT:
        assert not {name for name in names if name.split(".")[0] == "matplotlib"}


READS_YAML = {"load", "safe_load", "full_load", "parse", "compose", "scan", "SafeLoader"}


def test_one_module_reads_yaml():
    readers = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        for node in nodes(path)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and (node.value.id, node.attr) in {("yaml", name) for name in READS_YAML}
    }
    assert readers == {"robot/files/document.py"}


def imported_at_once(path):
    """Yield the modules of the package that a module needs while it is loaded."""
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.col_offset == 0:
            for name in (f"{node.module}.{alias.name}" for alias in node.names):
                yield name if name in MODULES else node.module


MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}


def test_no_module_needs_itself_to_be_loaded():
    needs = {
        module: {name for name in imported_at_once(path) if name in MODULES and name != module}
        for module, path in MODULES.items()
    }
    assert len(list(TopologicalSorter(needs).static_order())) == len(MODULES)
