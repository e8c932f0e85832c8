"""The program ``robot-identification``: one command per stage, thin over the library."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
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
)
from robot_identification.errors import (
    CancelledError,
    InputError,
    ResultRefusedError,
    RobotIdentificationError,
)

EXIT_INPUT = 2
EXIT_REFUSED = 3
EXIT_INTERRUPTED = 130

COMMANDS: dict[str, ModuleType] = {
    "base-parameters": base_parameters,
    "excite": excite,
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
        prog="robot-identification",
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
    options = parser().parse_args(arguments)
    try:
        options.run(options)
    except (KeyboardInterrupt, CancelledError) as error:
        told = f": {error}" if str(error) else ""
        print(f"robot-identification: interrupted{told}", file=sys.stderr)
        return EXIT_INTERRUPTED
    except RobotIdentificationError as error:
        line = " ".join(str(error).split())
        print(f"robot-identification {options.command}: {line}", file=sys.stderr)
        return _exit_code(error)
    except BrokenPipeError:
        sys.stderr.close()
    return 0


def _exit_code(error: RobotIdentificationError) -> int:
    if isinstance(error, ResultRefusedError):
        return EXIT_REFUSED
    return EXIT_INPUT if isinstance(error, InputError) else 1


if __name__ == "__main__":
    sys.exit(main())
