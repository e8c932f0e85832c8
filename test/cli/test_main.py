"""The program as a whole: what it loads, and what it says of its commands."""

import json
import subprocess
import sys

import pytest

from robot_identification import __version__
from robot_identification.cli import base_parameters
from robot_identification.cli.main import COMMANDS, main, parser

LOADED = """
import json, sys
from robot_identification.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
names = {name for name in sys.modules if name.startswith("robot_identification.cli.")}
print(json.dumps([sorted(names), [name for name in ("numpy", "rich") if name in sys.modules]]))
"""


def loaded(*arguments):
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments], capture_output=True, text=True, check=True
    )
    *printed, last = done.stdout.splitlines()
    return "\n".join(printed), *json.loads(last)


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_no_command_is_loaded_to_tell_version_and_names(option):
    printed, modules, heavy = loaded(option)
    assert printed
    assert modules == [
        f"robot_identification.cli.{n}" for n in ("main", "tables", "tables.standard_output")
    ]
    assert not heavy


def test_a_command_loads_no_other():
    _, modules, _ = loaded("merge", "--help")
    assert "robot_identification.cli.merge" in modules
    assert "robot_identification.cli.identify" not in modules


def test_the_package_runs_as_a_module_as_its_script_does():
    done = subprocess.run(
        [sys.executable, "-m", "robot_identification", "--version"], capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert done.stdout.strip() == __version__


def test_every_command_is_listed_with_the_first_sentence_of_its_help():
    program = parser()
    (commands,) = (a for a in program._actions if a.choices and "identify" in a.choices)
    assert list(commands.choices) == list(COMMANDS)
    for name, command in commands.choices.items():
        assert command.description.splitlines()[0] == COMMANDS[name]


@pytest.mark.parametrize(
    ("option", "values", "read"),
    [
        ("--start", ["-0.5,1.0"], "-0.5,1.0"),
        ("--start", ["-.5,-1.0"], "-.5,-1.0"),
        ("--centre", ["0", "-1e-3", "-.02"], [0.0, -1e-3, -0.02]),
        ("--end", ["-2s"], -2.0),
    ],
)
def test_negative_numbers_are_values_and_no_options(option, values, read):
    command = {"--start": ["excite", "ur10", "-o", "plan.yaml"]}.get(
        option, ["drive-gains", "ur10", "--bare", "a", "--loaded", "b"]
    )
    options = parser().parse_args([*command, option, *values])
    assert getattr(options, option[2:]) == read


WITHOUT_ROS = """
import sys
from robot_identification.cli.main import main
sys.modules["rclpy"] = None
sys.exit(main(sys.argv[1:]))
"""


def test_a_terminal_without_ros_is_told_what_to_source():
    line = [sys.executable, "-c", WITHOUT_ROS, "run", "--steps", "plan"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    (told,) = done.stderr.splitlines()
    assert "rclpy is not found: source setup.bash of ROS" in told


def _not_found(name):
    raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def test_a_module_of_this_package_that_is_missing_is_a_fault(monkeypatch):
    monkeypatch.setattr(base_parameters, "run", lambda _: _not_found("robot_identification.own"))
    with pytest.raises(ModuleNotFoundError):
        main(["base-parameters", "scara"])
