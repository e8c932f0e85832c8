"""Walk through a live run: plan, rehearse, run, identify, validate, calibrate.

Talks to the nodes of live.launch.py or simulation.launch.py, which must be running.  Nothing moves
before the answer yes; Ctrl-C brakes the robot.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from robot_identification.calibration.calibrate import CalibrationSettings
from robot_identification.cli.options import common as shared
from robot_identification.cli.tables import results as tables
from robot_identification.cli.walk.record import RunRecord
from robot_identification.errors import SettingError
from robot_identification.excitation.plan_settings import PlanSettings
from robot_identification.excitation.search.points import PointSettings
from robot_identification.files.parameters import NONE, parameter_files
from robot_identification.identification.estimators.choice import (
    DEFAULT,
    DIDIM,
    METHODS,
    STACKED,
)
from robot_identification.identification.friction.options import AUTO, CHOICES

STEPS = ("plan", "rehearse", "run", "identify", "validate", "calibrate")
MOVING = {"plan", "rehearse", "run"}
NODES = {
    "plan": ("excitation",),
    "rehearse": ("excitation",),
    "run": ("excitation", "acquisition"),
    "identify": ("identification",),
    "validate": ("identification",),
    "calibrate": ("calibration",),
}
_LARGEST_SEED = 2**64 - 2  # the next one has to go into the same field of a request
_HELD_OUT_OF_BAGS = 0.25


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--namespace", default="", metavar="NS", help="namespace of the nodes")
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument(
        "--steps", type=_steps, default=STEPS, metavar="STEP[,STEP...]", help="default: all six"
    )
    chosen.add_argument(
        "--from", dest="first", choices=STEPS, metavar="STEP", help="go on with this step"
    )
    parser.add_argument(
        "--output", type=_folder, metavar="DIR",
        help="folder for plans, result, parameters, URDF and run.json, by which a later run goes "
        "on; nodes write to folders of their own, on the same machine, from where they are moved",
    )  # fmt: skip
    parser.add_argument(
        "--method",
        choices=tuple(METHODS),
        help=f"identification; default: {DEFAULT}",
    )
    parser.add_argument(
        "--friction",
        choices=("", *CHOICES),
        metavar=f"{{{','.join(CHOICES)}}}",
        default="",
        help="friction laws of the identification; default: those of the node",
    )
    parser.add_argument("--essential", action="store_true", help="keep essential parameters only")
    parser.add_argument("--prior", default="", help="of the calibration; default: that of the node")
    shared.add_settings(parser, CalibrationSettings, ("space",))
    _add_motion(parser.add_argument_group("motion"))
    _add_data(parser.add_argument_group("data"))
    parser.add_argument("--yes", action="store_true", help="ask nothing: move at once")
    parser.add_argument(
        "--wait",
        type=_amount,
        default=20.0,
        metavar="S",
        help="for the nodes; default: %(default)s",
    )


def _add_motion(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--speed", type=_share, default=1.0, metavar="X", help="share of the planned speed"
    )
    group.add_argument(
        "--rehearsal-speed", type=_share, default=0.2, metavar="X", help="default: 0.2"
    )
    shared.add_settings(group, PlanSettings, ("rows", "duration"))
    shared.add_settings(group, PointSettings, ("seed",), help="of the plan; the next one validates")


def _add_data(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--held-out", type=_part, default=0.0, metavar="X",
        help="share at the end of the recording to validate on, in place of a second motion",
    )  # fmt: skip
    group.add_argument(
        "--accept", type=_amount, default=0.0, metavar="X",
        help="largest error on data not fitted, as a fraction; a larger one is refused",
    )  # fmt: skip
    group.add_argument(
        "--recording", default="", metavar="ID", help="live recording to identify from"
    )
    group.add_argument(
        "--bag", nargs="+", type=Path, default=[], metavar="BAG", help="identify from bags instead"
    )
    group.add_argument(
        "--validation-bag", nargs="+", type=Path, default=[], metavar="BAG",
        help=f"validate on bags; default with --bag: the last {_HELD_OUT_OF_BAGS:g} of each",
    )  # fmt: skip


def _steps(text: str) -> tuple[str, ...]:
    """Return steps in the order of a run."""
    names = text.split(",")
    unknown = [name for name in names if name not in STEPS]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"{', '.join(unknown)}: choose of {', '.join(STEPS)}, separated by commas"
        )
    return tuple(step for step in STEPS if step in names)


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value <= 1.0:
        raise argparse.ArgumentTypeError(f"{text} is not a share above 0 and up to 1")
    return value


def _part(text: str) -> float:
    value = _share(text)
    if value == 1.0:
        raise argparse.ArgumentTypeError(f"{text} leaves nothing to fit: give a share below 1")
    return value


def _amount(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a finite number, 0 or above")
    return value


def _folder(text: str) -> Path:
    return Path(text).resolve()


def settle(options: argparse.Namespace) -> None:
    """Complete options by what follows from others.

    Raises:
        SettingError: one is impossible, or two of them cannot go together.
    """
    from robot_identification.ros.launching.namespaces import resolved

    options.namespace = resolved(options.namespace, name="--namespace")
    _check_plan(options)
    _check_prior(options.prior)
    if options.first:
        options.steps = STEPS[STEPS.index(options.first) :]
    if options.bag and MOVING & set(options.steps):
        raise SettingError(
            "--bag", options.bag[0], "nothing is to move then: add --from identify, or leave it out"
        )
    if options.recording and (options.bag or "run" in options.steps):
        raise SettingError("--recording", options.recording, "the data come from elsewhere")
    if options.friction and options.method == DIDIM.name:
        raise SettingError("--friction", options.friction, "not with didim, which chooses none")
    _check_method(options)
    if options.accept and "validate" not in options.steps:
        raise SettingError("--accept", options.accept, "nothing is validated: add that step")
    if options.held_out and options.validation_bag:
        raise SettingError(
            "--held-out", options.held_out, "--validation-bag says what to validate on"
        )
    fitted = {bag.resolve() for bag in options.bag if "identify" in options.steps}
    if both := [bag for bag in options.validation_bag if bag.resolve() in fitted]:
        raise SettingError(
            "--validation-bag", both[0], "is fitted (--bag); give one that is not, or --held-out"
        )
    if options.held_out and options.method == DIDIM.name:
        raise SettingError(
            "--held-out", options.held_out, "not with didim; give --validation-bag, or no validate"
        )
    if options.bag and _validates_by_motion(options):
        if options.method == DIDIM.name:
            raise SettingError(
                "--method",
                DIDIM.name,
                "holds nothing out: give --validation-bag, or leave validate out of --steps",
            )
        options.held_out = _HELD_OUT_OF_BAGS


def _check_method(options: argparse.Namespace) -> None:
    """Refuse what the method cannot do, before a robot moves for it."""
    asked = {"--essential": options.essential, "--friction": options.friction == AUTO}
    method = options.method or DEFAULT
    for option, is_asked in asked.items():
        if is_asked and method not in STACKED:
            problem = f"works with the methods {' and '.join(STACKED)}"
            raise SettingError(option, method, problem)


def _check_plan(options: argparse.Namespace) -> None:
    """Refuse what no request for a plan can say; 0 leaves rows and duration to the node."""
    table = {**PlanSettings.table(), **PointSettings.table()}
    for name in ("rows", "duration", "seed"):
        value, setting = getattr(options, name), table[name]
        if value and (problem := setting.problem(value)):
            raise SettingError(setting.option, value, problem)
    if options.seed and options.seed > _LARGEST_SEED:
        raise SettingError("--seed", options.seed, f"must be at most {_LARGEST_SEED}")


def _check_prior(prior: str) -> None:
    """Refuse a prior that is nowhere; an absolute path may be one of the machine of the nodes."""
    if prior in ("", NONE) or Path(prior).is_absolute():
        return
    if not parameter_files(prior):
        raise SettingError("--prior", prior, "neither a file here nor a prior of this package")


def nodes_for(options: argparse.Namespace) -> list[str]:
    """Return the nodes that the steps need."""
    needed = {node for step in options.steps for node in NODES[step]}
    if _validates_by_motion(options):
        needed |= {*NODES["run"]}
    return sorted(needed)


def moves(options: argparse.Namespace) -> bool:
    """Tell whether the robot is to move in one of the steps."""
    return bool({"rehearse", "run"} & set(options.steps)) or _validates_by_motion(options)


def moves_to_identify(options: argparse.Namespace) -> bool:
    """Tell whether efforts of a motion of this run are to be identified from, or compared with."""
    return moves(options) and bool({"identify", "validate"} & set(options.steps))


def _validates_by_motion(options: argparse.Namespace) -> bool:
    return "validate" in options.steps and not (options.held_out or options.validation_bag)


def run(options: argparse.Namespace) -> None:
    """Run the command; how long it takes is up to the plan."""
    from robot_identification.cli.walk.walk import Walk
    from robot_identification.ros.clients.client import Client
    from robot_identification.ros.clients.interruption import signals_interrupting
    from robot_identification.ros.clients.live_run import LiveRun
    from robot_identification.ros.clients.verbs import Verbs

    settle(options)
    record = RunRecord.begin(options.output, resumed=options.steps[0] != STEPS[0])
    record.check(options.steps)
    with signals_interrupting(), Client(options.namespace) as client:
        verbs = Verbs(client)
        verbs.require(*nodes_for(options), within=options.wait)
        if moves(options):
            verbs.require_active("excitation")
        live = LiveRun(verbs)
        if moves_to_identify(options):
            method = options.method if "identify" in options.steps else None
            live.require_identification(method or "")
        walk = Walk(live, options, record)
        for step in options.steps:
            walk.take(step)
        if options.json:
            tables.print_json(record.document)
