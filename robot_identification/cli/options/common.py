"""Options that several commands share."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from robot_identification.calibration.conditions import Box
from robot_identification.errors import SettingError
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.model import EffortMeaning, RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.setting_kinds import Kind, Setting
from robot_identification.settings import Settings
from robot_identification.signals.efforts.separate import EffortSource
from robot_identification.signals.recording import Seconds

ESTIMATED = "estimated"
# What holds for the signal processing where no option says otherwise.
RECOMMENDED = "the robot file's recommendation holds, else a value from the data"
AS_IDENTIFIED = "what the parameters were identified with holds, else " + RECOMMENDED


def add_robot(parser: argparse.ArgumentParser) -> None:
    """Add the positional argument ROBOT and what a URDF cannot say."""
    parser.add_argument(
        "robot", metavar="ROBOT", help="robot file (YAML), URDF, or the name of a shipped robot"
    )
    parser.add_argument(
        "--effort-meaning",
        choices=[meaning.value for meaning in EffortMeaning],
        help="what the recorded effort is; needed for a URDF, which cannot say it",
    )


def robot_of(options: argparse.Namespace, *, closed_loops: bool = False) -> RobotModel:
    """Return the robot that the options name.

    Args:
        options: parsed arguments.
        closed_loops: whether the command can deal with joints that follow others.
    """
    robot = load_robot(
        options.robot, effort_meaning=options.effort_meaning, closed_loops=closed_loops
    )
    for warning in robot.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    return robot


def add_bags(parser: argparse.ArgumentParser, *, needed: bool = True) -> None:
    """Add the positional argument BAG... and how to read it.

    Args:
        parser: takes them.
        needed: whether there must be one.
    """
    nargs = "+" if needed else "*"
    parser.add_argument(
        "bags",
        metavar="BAG",
        nargs=nargs,
        help="rosbag2 folder, a bare .db3 or .mcap file, or a table (.csv, .tsv, .txt)",
    )
    add_bag_reading(parser)


def add_bag_reading(parser: argparse._ActionsContainer) -> None:
    """Add what part of a bag is read, and from which topic."""
    add_states(
        parser,
        "SIGNAL=COLUMN[,COLUMN...]",
        "columns of tables, such as time=t position=q{n} effort=tau1,tau2: time, position, "
        "effort, and where there are any velocity, reference and temperature; {n} and {i} are the "
        "number of a joint from 1 and from 0 on, {joint} its name; units in brackets, time[ms], "
        "position[deg]; in bags of DynamicJointState interfaces of the joints, such as "
        "effort=current; default: usual names",
    )
    add_efforts(parser)
    parser.add_argument(
        "--begin",
        type=_place,
        default=0.0,
        metavar="FRACTION|SECONDSs",
        help="where to begin in each bag: a fraction of it, or a time after its first sample, such "
        "as 2.5s",
    )
    parser.add_argument(
        "--end",
        type=_place,
        default=1.0,
        metavar="FRACTION|SECONDSs",
        help="where to end, likewise; --end=-2s: two seconds before its end",
    )


def add_states(parser: argparse._ActionsContainer, columns: str, help_: str) -> None:
    """Add the topic of the joint states, and what the signals are called there.

    Args:
        parser: takes them.
        columns: form of an argument of ``--columns``.
        help_: of it.
    """
    parser.add_argument(
        "--topic",
        default="/joint_states",
        help="topic of the joint states (sensor_msgs/JointState, control_msgs/DynamicJointState)",
    )
    parser.add_argument("--columns", nargs="+", default=[], metavar=columns, help=help_)


def columns_of(options: argparse.Namespace) -> dict[str, str] | None:
    """Return which columns of tables the options name, by signal; None where they name none.

    Raises:
        SettingError: an entry is no SIGNAL=COLUMN, or a signal stands twice.
    """
    found: dict[str, str] = {}
    for entry in options.columns:
        signal, equals, columns = entry.partition("=")
        if not equals or signal in found:
            problem = "stands twice" if equals else "give SIGNAL=COLUMN, such as position=q{n}"
            raise SettingError("--columns", entry, problem)
        found[signal] = columns
    return found or None


def add_efforts(parser: argparse._ActionsContainer) -> None:
    """Add where efforts are that do not come with the joint states."""
    parser.add_argument(
        "--effort-topic",
        metavar="TOPIC",
        help="topic of the efforts where they have one of their own: joint states or arrays of "
        "numbers (std_msgs/Float64MultiArray)",
    )
    parser.add_argument(
        "--effort-joints",
        metavar="NAME[,NAME...]",
        help="joints of such an array, in its order (default: those of the robot)",
    )
    parser.add_argument(
        "--effort-delay",
        metavar="SECONDS|estimated",
        help="how far the stamps of the efforts lie behind those of the motion; estimated moves "
        "them by what the inverse dynamics say (default: 0; an estimate is reported)",
    )


def efforts_of(options: argparse.Namespace) -> EffortSource | None:
    """Return where the options say that efforts are; None where they come with the states.

    Raises:
        SettingError: options do not fit together, or the delay is no number within a second.
    """
    stated = None if estimates_delay(options) else options.effort_delay
    if options.effort_topic is None:
        for option, value in (
            ("--effort-joints", options.effort_joints),
            ("--effort-delay", stated),
        ):
            if value is not None:
                raise SettingError(option, value, "needs --effort-topic")
        return None
    try:
        delay = float(stated or 0.0)
    except ValueError as error:
        raise SettingError("--effort-delay", stated, "give seconds, or estimated") from error
    joints = (options.effort_joints or "").split(",") if options.effort_joints else ()
    return EffortSource(options.effort_topic, delay, tuple(joints))


def estimates_delay(options: argparse.Namespace) -> bool:
    """Tell whether the efforts are to be moved by their estimated delay."""
    return bool(options.effort_delay == ESTIMATED)


def add_essential(parser: argparse.ArgumentParser) -> None:
    """Add whether parameters are removed, and which."""
    parser.add_argument(
        "--essential", action="store_true", help="remove what the efforts can do without"
    )
    add_settings(parser, EliminationRule)


def elimination_of(options: argparse.Namespace) -> EliminationRule | None:
    """Return how the options say to find the essential parameters, None where they do not."""
    found = stated(options, EliminationRule)
    return EliminationRule(**found) if found else None


def essential_of(options: argparse.Namespace) -> EliminationRule | None:
    """Return how to remove parameters, None where ``--essential`` does not ask for it.

    Raises:
        SettingError: a value is impossible, or stated without ``--essential``.
    """
    if options.essential:
        return elimination_of(options) or EliminationRule()
    for name, value in stated(options, EliminationRule).items():
        raise SettingError(EliminationRule.table()[name].option, value, "needs --essential")
    return None


def add_boxes(parser: argparse.ArgumentParser) -> None:
    """Add the boxes that must hold the centres of mass."""
    parser.add_argument(
        "--box",
        nargs=7,
        action="append",
        default=[],
        metavar=("LINK", "XMIN", "YMIN", "ZMIN", "XMAX", "YMAX", "ZMAX"),
        help="box that must hold the link's centre of mass, in its frame and in m; repeatable",
    )


def boxes_of(options: argparse.Namespace) -> dict[str, Box]:
    """Return the boxes that the options state, by link.

    Raises:
        SettingError: a corner is not a number.
    """
    boxes = {}
    for link, *corners in options.box:
        try:
            numbers = np.array(corners, dtype=np.float64)
        except ValueError as error:
            raise SettingError("--box", " ".join(corners), "give six numbers, in m") from error
        boxes[link] = (numbers[:3], numbers[3:])
    return boxes


def add_processing(parser: argparse.ArgumentParser, otherwise: str = RECOMMENDED) -> None:
    """Add the settings of the signal processing; none of them is needed.

    Args:
        parser: gets the options.
        otherwise: says what holds without one.
    """
    group = parser.add_argument_group("signal processing", f"without an option {otherwise}")
    add_settings(group, ProcessingSettings)
    if otherwise == AS_IDENTIFIED:
        add_derived_settings(group)


def add_derived_settings(parser: argparse._ActionsContainer) -> None:
    """Add that bags are not processed as those were that the parameters are from."""
    parser.add_argument(
        "--derive-settings",
        action="store_true",
        help="process the bags as identify would, not as the parameters were identified: "
        + RECOMMENDED,
    )


def processing_of(options: argparse.Namespace) -> ProcessingSettings:
    """Return the settings of the signal processing that the options state.

    Raises:
        SettingError: if a value is impossible.
    """
    return ProcessingSettings(**stated(options, ProcessingSettings))


def add_settings(
    parser: argparse._ActionsContainer,
    kind: type[Settings],
    names: Iterable[str] = (),
    **differences: Any,
) -> None:
    """Add an option for every setting of a table; without it a flag is false, others are None.

    Args:
        parser: gets the options.
        kind: class of the settings.
        names: of those that are options; none: all.
        differences: arguments of ``add_argument`` that differ from what the table says.
    """
    table = kind.table()
    for setting in (table[name] for name in names or kind.in_requests()):
        parser.add_argument(setting.option, **{**_argument(setting), **differences})


def _argument(setting: Setting) -> dict[str, Any]:
    """Return the arguments of ``add_argument`` for a setting."""
    if setting.kind is Kind.FLAG:
        return {"action": "store_true", "help": _help(setting.description)}
    usual = "" if setting.default in (None, ()) else f"; default: {_shown(setting.default)}"
    return {
        "metavar": None if setting.choices else setting.metavar or setting.name.upper(),
        "choices": setting.choices or None,
        "type": _TYPES.get(setting.kind, str),
        "help": _help(f"{setting.description}{usual}"),
    }


def stated(
    options: argparse.Namespace, kind: type[Settings], names: Iterable[str] = ()
) -> dict[str, Any]:
    """Return what the options of :func:`add_settings` state, by the names of the settings.

    Raises:
        SettingError: if a list is not one.
    """
    found = {}
    for setting in (kind.table()[name] for name in names or kind.in_requests()):
        value = getattr(options, setting.option[2:].replace("-", "_"))
        if value is not None:
            found[setting.name] = setting.parse(value) if setting.kind.is_list else value
    return found


_TYPES: Mapping[Kind, Callable[[str], Any]] = {Kind.NUMBER: float, Kind.WHOLE: int}


def refuse_given(
    options: argparse.Namespace,
    given: Iterable[str] | Mapping[str, object],
    problem: str,
    value: object = None,
) -> None:
    """Refuse options that would be passed over.

    Args:
        options: the parsed command line.
        given: the options, such as ``--seed``; those that nobody gives are None, or what a mapping
            has for them.
        problem: why they are refused.
        value: what does not go with them; None: their own value is shown.

    Raises:
        SettingError: one of them is given.
    """
    usual = given if isinstance(given, Mapping) else dict.fromkeys(given)
    for option, absent in usual.items():
        own = getattr(options, option.removeprefix("--").replace("-", "_"))
        if own != absent:
            raise SettingError(option, own if value is None else value, problem)


def _help(text: str) -> str:
    return text.replace("%", "%%")


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(map(_shown, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _place(text: str) -> float:
    """Return a place in a bag: a fraction, or seconds where it ends with an s."""
    number = text.removesuffix("s")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if number != text and math.isfinite(value):
        return Seconds(value)
    if number != text or not 0.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(
            f"{text} is neither a fraction from 0 to 1 nor seconds, such as 2.5s"
        )
    return value
