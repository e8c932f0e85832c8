"""Plans that move one joint at a time: the command excite with --method one-joint."""

from __future__ import annotations

import argparse
from pathlib import Path

from robot_identification.api.motion import plan_one_joint
from robot_identification.cli.options import common as shared
from robot_identification.cli.tables import progress
from robot_identification.cli.tables import results as tables
from robot_identification.cli.tables.certificates import print_certificate
from robot_identification.errors import SettingError
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.one_joint.plan import METHOD, OneJointPlan
from robot_identification.excitation.one_joint.settings import OneJointSettings
from robot_identification.excitation.search.points import PointSettings
from robot_identification.robot.arrays import Array
from robot_identification.robot.model import RobotModel

_SETTINGS = ("profile", "travel", "stroke", "spread", "moves", "locked")
OF_POINTS = (
    "--model", "--rows", "--duration", "--criterion", "--optimizer", "--starts",
    "--family", "--base-frequency", "--harmonics", "--periods",
)  # fmt: skip
"""Options of the search for motions through points and for series."""
OPTIONS = tuple(f"--{name}" for name in _SETTINGS)
"""Options of the method."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the method."""
    group = parser.add_argument_group("one joint at a time (--method one-joint)")
    shared.add_settings(group, OneJointSettings, _SETTINGS)


def planned(
    options: argparse.Namespace, robot: RobotModel, start: Array | None, around: Surroundings
) -> OneJointPlan:
    """Plan what the options say.

    Raises:
        SettingError: an option is for motions through points, or a value is out of its range.
    """
    shared.refuse_given(options, OF_POINTS, f"not for --method {METHOD}")
    stated = shared.stated(options, OneJointSettings, _SETTINGS)
    seed = shared.stated(options, PointSettings, ("seed",))
    settings = OneJointSettings(start=start, **stated, **seed)
    with progress.bar("excite", quiet=options.json) as report:
        return plan_one_joint(robot, settings, surroundings=around, progress=report)


def refuse_stated(options: argparse.Namespace) -> None:
    """Refuse the options of the method where another one plans.

    Raises:
        SettingError: one of them is given.
    """
    for name, value in shared.stated(options, OneJointSettings, _SETTINGS).items():
        option = OneJointSettings.table()[name].option
        raise SettingError(option, value, f"needs --method {METHOD}")


def show(result: OneJointPlan, output: Path) -> None:
    """Print a plan, for people."""
    out = tables.console()
    told = [
        (
            result.joint_names[block.joint],
            str(len(block.names)),
            ", ".join(block.equations),
            str(len(block.experiments)),
            f"{block.condition_number:.3g}",
        )
        for block in result.blocks
        if block.names
    ]
    columns = ("effort of", "parameters", "equations", "experiments", "condition")
    tables.print_table(out, f"{result.robot}: one joint at a time", columns, told)
    print_certificate(out, result.certificate)
    missing = [(one.name, one.reason) for one in result.unidentified]
    if missing:
        tables.print_table(out, "not identified", ("parameter", "why"), missing)
        out.print(f"base parameters that stay unknown: {', '.join(result.unknown)}")
    out.print(
        f"{len(result.schedule)} experiments in {result.trajectory.duration:.4g} s; planned in "
        f"{result.seconds:.1f} s",
        soft_wrap=True,
    )
    tables.print_glossary(out)
    out.print(f"written to {output}", markup=False, soft_wrap=True)
