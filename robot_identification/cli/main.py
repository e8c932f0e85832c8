"""The program ``robot-identification``: one command per stage, thin over the library."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

from robot_identification import __version__
from robot_identification.cli import ended_by_ctrl_c
from robot_identification.cli.tables.standard_output import NoReaderError, checked_output
from robot_identification.errors import (
    CancelledError,
    InputError,
    ResultRefusedError,
    RobotIdentificationError,
)

EXIT_INPUT = 2
EXIT_REFUSED = 3
EXIT_INTERRUPTED = 130
EXIT_NO_READER = 141  # as of a program that SIGPIPE has ended

PROGRAM = "robot-identification"

COMMANDS = {
    "base-parameters": "Show which parameters are identifiable, and how the others are grouped.",
    "excite": "Plan a certified trajectory that makes the parameters identifiable.",
    "view": "Show a planned motion in its cell, as a page that a browser opens offline.",
    "simulate": "Simulate a robot along a trajectory and write a bag, as if it had been recorded.",
    "identify": "Identify the base parameters of a robot from recorded bags.",
    "diagnose": "Look for what is wrong with recordings or the description of a robot.",
    "identify-many": "Identify from more bags than fit into memory, in parallel, resumable.",
    "merge": "Merge results of the same robot and settings into the one of all their recordings.",
    "calibrate": "Find the standard parameters nearest to a prior, essential and physically "
    "consistent.",
    "check": "Test whether parameters are physically consistent, link by link.",
    "validate": "Compare measured torques with those that identified or given parameters predict.",
    "report": "Show a result on one page: HTML that needs nothing else, and PNG figures.",
    "export": "Write parameters for controllers and simulators: URDF, xacro, MuJoCo, ROS 2 and "
    "Pinocchio.",
    "payload": "Identify the payload of a robot from runs without and with it.",
    "drive-gains": "Identify the gains of all drives from runs without and with a known payload.",
    "datasets": "Fetch published recordings of real robots: public address, licence, digest.",
    "run": "Walk through a live run: plan, rehearse, run, identify, validate, calibrate.",
    "demo": "Identify a simulated TX-40 through live ROS 2 nodes, calibrate, and follow with the "
    "model.",
    "compile": "Compile the numerical code ahead: nodes and commands then start quickly from the "
    "first time.",
}
"""Purpose of each command: the first sentence of its module, which need not be loaded to tell."""

_MODULES = {"compile": "compile_ahead"}  # compile is a function of Python's own


_OF_ROS = ("rclpy", *(f"robot_identification.{kind}" for kind in ("msg", "srv", "action")))
"""Modules that are found only where ROS and the interfaces of this package have been sourced."""

_NEGATIVE = re.compile(r"-\.?\d")
"""What argparse is to take for a value; by itself it takes -0.1,0.2 and -1e-3 for options."""


class CommandParser(argparse.ArgumentParser):
    """The parser of a command, whose module is loaded when the command is used."""

    command: str | None = None

    def parse_known_args(self, *arguments: Any, **options: Any) -> Any:
        """Parse as always, with the arguments that the command declares."""
        self.load()
        return super().parse_known_args(*arguments, **options)

    def load(self) -> None:
        """Load the module of the command and add its arguments, the first time."""
        if self.command is None:
            return
        name = _MODULES.get(self.command, self.command.replace("-", "_"))
        self.command = None
        self._negative_number_matcher = _NEGATIVE
        with ended_by_ctrl_c():
            module = import_module(f"robot_identification.cli.{name}")
        self.description = module.__doc__
        module.add_arguments(self)
        self.add_argument("--json", action="store_true", help="print the result as JSON")
        self.set_defaults(run=module.run)


def parser(*, loaded: bool = True) -> argparse.ArgumentParser:
    """Return the parser of the whole program.

    Args:
        loaded: whether the parsers of all commands are complete; else each is when it is used.
    """
    result = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Identify the dynamic parameters of a robot from motion and torque.",
    )
    result.add_argument("--version", action="version", version=__version__)
    commands = result.add_subparsers(
        dest="command", required=True, metavar="COMMAND", parser_class=CommandParser
    )
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary)
        command.command = name
        if loaded:
            command.load()
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 is success, 2 bad input, 3 a result that was refused."""
    name = PROGRAM
    try:
        with checked_output():
            options = parser(loaded=False).parse_args(arguments)
            name = f"{PROGRAM} {options.command}"
            options.run(options)
    except NoReaderError:
        return EXIT_NO_READER
    except (KeyboardInterrupt, CancelledError) as error:
        _tell(f"{PROGRAM}: interrupted{f': {error}' if str(error) else ''}")
        return EXIT_INTERRUPTED
    except RobotIdentificationError as error:
        told = "; ".join([str(error), *error.findings])
        _tell(f"{name}: {' '.join(told.split())}")
        return _exit_code(error)
    except ModuleNotFoundError as error:
        if error.name not in _OF_ROS:
            raise
        _tell(
            f"{name}: talks to nodes of ROS 2, and {error.name} is not found: source setup.bash of "
            "ROS, and local_setup.bash of where this package is installed, in this terminal"
        )
        return EXIT_INPUT
    return 0


def _tell(line: str) -> None:
    with suppress(OSError):  # nowhere is left to say so
        print(line, file=sys.stderr)


def _exit_code(error: RobotIdentificationError) -> int:
    if isinstance(error, ResultRefusedError):
        return EXIT_REFUSED
    return EXIT_INPUT if isinstance(error, InputError) else 1


if __name__ == "__main__":
    sys.exit(main())
