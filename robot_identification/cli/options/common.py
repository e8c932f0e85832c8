"""Options that several commands share."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from robot_identification.calibration.consistency.boxes import Corners
from robot_identification.errors import SettingError
from robot_identification.identification.estimators.essential import EliminationRule
from robot_identification.robot.files.loading import load_robot, with_joint_limits
from robot_identification.robot.model import EffortMeaning, RobotModel
from robot_identification.robot.processing import ProcessingSettings
from robot_identification.setting_kinds import Kind, Setting
from robot_identification.settings import Settings

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
    _warn(robot.warnings)
    return robot


def with_limits(robot: RobotModel, path: Path | None) -> RobotModel:
    """Return a robot whose limits a joint_limits.yaml completes, where one is named."""
    if path is None:
        return robot
    limited = with_joint_limits(robot, path)
    _warn(limited.warnings[len(robot.warnings) :])
    return limited


def _warn(warnings: Iterable[str]) -> None:
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)


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
        help="box that must hold the link's centre of mass, in its frame (with a URDF that of the "
        "URDF) and in m; repeatable",
    )


def boxes_of(options: argparse.Namespace) -> dict[str, Corners]:
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
