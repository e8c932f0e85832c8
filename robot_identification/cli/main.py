"""The program ``robot-identification``: one command per stage, thin over the library."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import ModuleType

from robot_identification import __version__
from robot_identification.cli import (
    base_parameters,
    calibrate,
    check,
    compile_ahead,
    demo,
    drive_gains,
    excite,
    export,
    identify,
    identify_many,
    merge,
    payload,
    report,
    run,
    simulate,
    validate,
    view,
)
from robot_identification.cli.standard_output import NoReaderError, checked_output
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

COMMANDS: dict[str, ModuleType] = {
    "base-parameters": base_parameters,
    "excite": excite,
    "view": view,
    "simulate": simulate,
    "identify": identify,
    "identify-many": identify_many,
    "merge": merge,
    "calibrate": calibrate,
    "check": check,
    "validate": validate,
    "report": report,
    "export": export,
    "payload": payload,
    "drive-gains": drive_gains,
    "run": run,
    "demo": demo,
    "compile": compile_ahead,
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole program."""
    result = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Identify the dynamic parameters of a robot from motion and torque.",
    )
    result.add_argument("--version", action="version", version=__version__)
    commands = result.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        summary = (module.__doc__ or "").splitlines()[0]
        command = commands.add_parser(name, help=summary, description=module.__doc__)
        module.add_arguments(command)
        command.add_argument("--json", action="store_true", help="print the result as JSON")
        command.set_defaults(run=module.run)
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 is success, 2 bad input, 3 a result that was refused."""
    name = PROGRAM
    try:
        with checked_output():
            options = parser().parse_args(arguments)
            name = f"{PROGRAM} {options.command}"
            options.run(options)
    except NoReaderError:
        return EXIT_NO_READER
    except (KeyboardInterrupt, CancelledError) as error:
        _tell(f"{PROGRAM}: interrupted{f': {error}' if str(error) else ''}")
        return EXIT_INTERRUPTED
    except RobotIdentificationError as error:
        _tell(f"{name}: {' '.join(str(error).split())}")
        return _exit_code(error)
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
