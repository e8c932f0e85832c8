"""Options on bags: which of them, what part, and where joint states and efforts are in them."""

from __future__ import annotations

import argparse
import math

from robot_identification.errors import SettingError
from robot_identification.signals.efforts.separate import EffortSource
from robot_identification.signals.recording import Seconds

ESTIMATED = "estimated"


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
