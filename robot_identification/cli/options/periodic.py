"""Options on recordings of motions that repeat."""

from __future__ import annotations

import argparse

from robot_identification.cli.options import common as shared
from robot_identification.errors import SettingError
from robot_identification.files.plans.periodic import read_periodic_motion
from robot_identification.signals.periodic.periods import PeriodicMotion


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group(
        "motions that repeat",
        "bags are averaged over their periods; weights and standard deviations are those of the "
        "noise between periods, and drift of friction over the periods is tested",
    )
    group.add_argument(
        "--plan",
        metavar="PLAN",
        help="plan of the motion, of the family fourier, in place of --period",
    )
    shared.add_settings(group, PeriodicMotion)


def motion_of(options: argparse.Namespace) -> PeriodicMotion | None:
    """Return what the options say of the motion, None where it does not repeat.

    Raises:
        SettingError: they do not go together, or a value is not positive.
        RobotDescriptionError: the plan cannot be read.
        TrajectoryError: it says of no motion that repeats.
    """
    if options.plan is not None:
        if options.period is not None:
            raise SettingError("--period", options.period, "the plan says it; give one of them")
        return read_periodic_motion(options.plan, harmonics=options.harmonics)
    if options.period is not None:
        return PeriodicMotion(**shared.stated(options, PeriodicMotion))
    if options.harmonics is not None:
        raise SettingError("--harmonics", options.harmonics, "needs --plan or --period")
    return None


def refuse_for(options: argparse.Namespace, method: str) -> None:
    """Refuse the options for a method that cannot use averages over periods.

    Raises:
        SettingError: one of the options is given.
    """
    given = ("--plan", "--period", "--harmonics")
    shared.refuse_given(options, given, "works with the methods ols and wls", value=method)
