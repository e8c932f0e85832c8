"""Benchmarks, examples and programs written as text need names that exist.

Nothing runs most of them for a long time: a name that has changed would be noticed by whoever needs
the figure.
"""

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = (ROOT, ROOT / "test", ROOT / "benchmarks")
"""Where imported modules of this repository lie."""
GENERATED = ("robot_identification.msg", "robot_identification.srv", "robot_identification.action")
PROGRAMS = [
    path
    for folder in ("benchmarks", "examples", "launch")
    for path in sorted((ROOT / folder).rglob("*.py"))
]


def trees(path):
    """Return a program, and those that are written in it as text."""
    whole = ast.parse(path.read_text())
    found = [whole]
    for node in ast.walk(whole):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                found.append(ast.parse(node.value))
            except (SyntaxError, ValueError):
                continue
    return found


def place_of(module):
    """Return the file of a module of this repository; None of others."""
    way = Path(*module.split("."))
    for folder in FOLDERS:
        for place in (folder / way.with_suffix(".py"), folder / way / "__init__.py"):
            if place.is_file():
                return place
    return None


def statements(body):
    """Yield the statements that run when a module is imported."""
    for one in body:
        yield one
        if isinstance(one, ast.If | ast.Try | ast.With | ast.ExceptHandler):
            for part in ("body", "handlers", "orelse", "finalbody"):
                yield from statements(getattr(one, part, []))


@cache
def defined(path):
    """Return the names that a module defines; None where it finds names as they are asked for."""
    names = set()
    for one in statements(ast.parse(path.read_text()).body):
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(one.name)
        elif isinstance(one, ast.Import | ast.ImportFrom):
            names.update(alias.asname or alias.name.split(".")[0] for alias in one.names)
        else:
            names.update(
                node.id
                for node in ast.walk(one)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            )
    return None if "__getattr__" in names else frozenset(names)


def is_there(module, name):
    """Tell whether a module of this repository has a name or a module in it; others have."""
    place = place_of(module)
    if place is None:
        return module.split(".")[0] != "robot_identification" or module.startswith(GENERATED)
    names = defined(place)
    return not name or names is None or name in names or place_of(f"{module}.{name}") is not None


def missing(path):
    """Yield the names that a program imports and that are not there."""
    for tree in trees(path):
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                wanted = [(alias.name, "") for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                wanted = [(node.module, alias.name) for alias in node.names]
            else:
                continue
            yield from (f"{m}: {n}" for m, n in wanted if not is_there(m, n))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_program_imports_is_there(path):
    assert not list(missing(path))


def test_a_name_that_has_changed_is_found(tmp_path):
    program = tmp_path / "benchmark.py"
    program.write_text(
        "from robot_identification.ros.supervision.supervisor import MotionSupervisor, Motion\n"
        "from robot_identification.ros import qos, common\n"
        "from simulated_cell import Cell, Room\n"
        "import robot_identification as ri, robot_identification.nodes.cell\n"
        "from robot_identification.msg import SampleBlock\n"
        "from numpy import anything\n"
        'NODE = """\n'
        "from robot_identification.ros.common import qos, qas\n"
        'run()"""\n'
    )
    assert list(missing(program)) == [
        "robot_identification.ros.supervision.supervisor: Motion",
        "robot_identification.ros: qos",
        "simulated_cell: Room",
        "robot_identification.nodes.cell: ",
        "robot_identification.ros.common: qas",
    ]
