"""Options that say which family of motions is planned."""

from __future__ import annotations

import argparse

from robot_identification.cli.options import common as shared
from robot_identification.errors import SettingError
from robot_identification.excitation.families.fourier_settings import FourierSettings
from robot_identification.excitation.plan_settings import FAMILIES, FOURIER, QUINTIC


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group("motions that repeat (--family fourier)")
    group.add_argument(
        "--family",
        choices=FAMILIES,
        help="quintics through points, or band-limited Fourier series over whole periods; "
        f"default: {QUINTIC}",
    )
    shared.add_settings(group, FourierSettings)


def fourier_of(options: argparse.Namespace) -> FourierSettings | None:
    """Return the periods that are asked for; None for quintics.

    Args:
        options: parsed arguments.

    Raises:
        SettingError: a value is out of its range, or is for the other family.
    """
    given = shared.stated(options, FourierSettings)
    if options.family == FOURIER:
        return FourierSettings(**given)
    for name, value in given.items():
        option = FourierSettings.table()[name].option
        raise SettingError(option, value, f"needs --family {FOURIER}")
    return None
