"""Errors of the package, wherever they are raised."""

import ast
import builtins
import inspect
import multiprocessing
import pickle
import re
from pathlib import Path

import pytest

from robot_identification import errors

CLASSES = [
    value
    for _, value in inspect.getmembers(errors, inspect.isclass)
    if issubclass(value, errors.RobotIdentificationError)
]
VALUES = {
    "str": "text",
    "str | Path": "a/file",
    "int": 3,
    "float": 1.5,
    "bool": True,
    "object": (1, "one"),
    "int | None": 7,
    "float | None": 2.5,
    "Sequence[str]": ("one", "two"),
    "Mapping[str, Sequence[str]] | None": {"effort": ("one", "two")},
    "Sequence[float]": (3.0, 1.0),
    "Sequence[int]": (2, 2),
    "Mapping[str, float]": {"0 to 5 s": 1.5},
    "Any": {"reached": 1.0},
}


def made(kind):
    """Return an error with values for everything that it asks for."""
    if kind.__init__ is Exception.__init__:
        return kind("what is wrong")
    asked = list(inspect.signature(kind.__init__).parameters.values())[1:]
    more = [VALUES[one.annotation] for one in asked if one.kind is one.VAR_POSITIONAL]
    named = {one.name: VALUES[one.annotation] for one in asked if one.kind is one.KEYWORD_ONLY}
    return kind(
        *(VALUES[one.annotation] for one in asked if one.kind is one.POSITIONAL_OR_KEYWORD),
        *more,
        **named,
    )


@pytest.mark.parametrize("kind", CLASSES)
def test_errors_arrive_in_another_process_with_their_data(kind):
    error = made(kind)
    arrived = pickle.loads(pickle.dumps(error))
    assert type(arrived) is kind
    assert str(arrived) == str(error)
    assert vars(arrived) == vars(error)


def test_joints_without_position_limits_are_said_to_turn_without_end_in_the_urdf():
    turning = "continuous joints of a URDF have no position limits"
    assert turning in str(errors.MissingLimitError("elbow", "position", others={"jerk": ["elbow"]}))
    assert turning not in str(errors.MissingLimitError("elbow", "velocity"))


def test_an_error_that_a_process_raises_is_caught_with_its_data():
    error = errors.MissingLimitError("elbow", "velocity")
    ours, theirs = multiprocessing.Pipe()
    theirs.send(error)
    arrived = ours.recv()
    assert (arrived.joint, arrived.limit) == ("elbow", "velocity")
    assert str(arrived) == str(error)


def test_docstrings_promise_errors_that_there_are():
    named, there = {}, {"LinAlgError", "QhullError", "ZstdError", *vars(builtins)}
    for path in Path(errors.__file__).parents[1].rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                there.add(node.name)
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                _, _, raised = (ast.get_docstring(node) or "").partition("Raises:\n")
                for name in re.findall(r"\b[A-Z]\w*Error\b", raised):
                    named.setdefault(name, f"{path.name}: {node.name}")
    assert len(named) > 50
    assert not {name: where for name, where in named.items() if name not in there}
