"""Mutants of a module: copies with one small change each, made by the operators of cosmic-ray."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

from mutation.runs import in_their_lines

# Others, such as a shift in place of a product, end in a TypeError wherever numbers are floats.
_ARITHMETIC = {"Add", "Sub", "Mul", "Div"}
_LOGICAL = {"BitAnd", "BitOr", "BitXor"}
_BINARY = re.compile(r"ReplaceBinaryOperator_(\w+)_(\w+)$")
# The same for None, for members of enumerations and for short strings; ruff tells it of numbers.
_SAME = re.compile(r"ReplaceComparisonOperator_(Is_Eq|Eq_Is|IsNot_NotEq|NotEq_IsNot)$")


@dataclass(frozen=True)
class Mutant:
    """A module with one change.

    Attributes:
        line: of the change, from 1.
        lines: first and last line of the statement; None where it runs when the module is loaded.
        old: the line as it was, without blanks around it.
        new: the line as it is.
        source: the whole module.
    """

    line: int
    lines: tuple[int, int] | None
    old: str
    new: str
    source: str


@dataclass(frozen=True)
class Place:
    """Where an operator of cosmic-ray can change something.

    Attributes:
        line: from 1.
        operator: its name.
        occurrence: number of the place among those of the operator.
    """

    line: int
    operator: str
    occurrence: int


def places_of(path: Path) -> list[Place]:
    """Return every place of a file at which an operator can change something."""
    parsed = get_ast(path.read_text(encoding="utf-8"))
    nodes = list(ast_nodes(parsed))
    found = []
    for name in operator_names():
        if _is_telling(name) and not get_operator(name).arguments():
            operator = get_operator(name)()
            lines = [start[0] for node in nodes for start, _ in operator.mutation_positions(node)]
            found += [Place(line, name, number) for number, line in enumerate(lines)]
    return found


def mutants_of(path: Path, places: Iterable[Place]) -> Iterator[Mutant]:
    """Yield the mutants at places of a file that mean something else than the file; none twice."""
    source = path.read_text(encoding="utf-8")
    meaning, tree = _meaning(source), ast.parse(source)
    known = {meaning}
    for place in places:
        mutated = mutate_code(source, get_operator(place.operator)(), place.occurrence)
        try:
            changed = None if mutated is None else _meaning(mutated)
        except SyntaxError:
            continue
        if mutated is not None and changed is not None and changed not in known:
            known.add(changed)
            old, new = _difference(source, mutated)
            text = in_their_lines(source, mutated)
            yield Mutant(place.line, _statement(tree, place.line), old, new, text)


def _is_telling(operator: str) -> bool:
    if _SAME.search(operator):
        return False
    binary = _BINARY.search(operator)
    if binary is None:
        return True
    return any(set(binary.groups()) <= kind for kind in (_ARITHMETIC, _LOGICAL))


def _meaning(source: str) -> str:
    """Return what a module says without its annotations, which are never evaluated.

    Whether arguments are given by name or by place is what mypy checks where they are given.
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.arguments):
            node.args = [*node.posonlyargs, *node.args, *node.kwonlyargs]
            node.defaults += [default for default in node.kw_defaults if default is not None]
            node.posonlyargs, node.kwonlyargs, node.kw_defaults = [], [], []
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
    return ast.dump(tree)


def _difference(source: str, mutated: str) -> tuple[str, str]:
    """Return the lines that differ, before and after, joined and without blanks around them."""
    old: list[str] = []
    new: list[str] = []
    for line in difflib.ndiff(source.splitlines(), mutated.splitlines()):
        if line.startswith(("- ", "+ ")):
            (old if line[0] == "-" else new).append(line[2:].strip())
    return " ".join(old), " ".join(new)


def _statement(tree: ast.Module, line: int) -> tuple[int, int] | None:
    """Return first and last line of the statement that a line is in, of a function's only."""
    found = None
    for function, statement in _statements(tree, None):
        first, last = statement.lineno, statement.end_lineno or statement.lineno
        body = getattr(statement, "body", None)
        if isinstance(body, list):
            first = min([first, *(d.lineno for d in getattr(statement, "decorator_list", []))])
            last = max(first, body[0].lineno - 1)
        if first <= line <= last:
            found = None if function is None else (first, last)
    return found


def _statements(
    node: ast.AST, function: ast.AST | None
) -> Iterator[tuple[ast.AST | None, ast.stmt]]:
    """Yield every statement below a node with the function that it is in."""
    inside = node if isinstance(node, ast.FunctionDef) else function
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield inside, child
        yield from _statements(child, inside)
