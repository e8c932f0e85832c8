"""Commands of the command line, run in this process; and what others find that are started."""

import json
import os

import pytest

from robot_identification.cli.main import main


def found_first(folder):
    """Return the PYTHONPATH by which modules in a folder go before all others.

    colcon has the package found by this variable, pip has not.
    """
    return os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))


@pytest.fixture
def run(capsys):
    """Run a command that must succeed and return its JSON."""

    def command(*arguments) -> dict:
        capsys.readouterr()
        assert main([*map(str, arguments), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return command


@pytest.fixture
def refusal(capsys):
    """Run a command that must fail and return its exit code and its one line of error."""

    def command(*arguments) -> tuple[int, str]:
        capsys.readouterr()
        code = main([*map(str, arguments)])
        captured = capsys.readouterr()
        assert captured.out == ""
        lines = captured.err.splitlines()
        assert len(lines) == 1, captured.err
        return code, lines[0]

    return command
