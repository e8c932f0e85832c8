"""Options that say which family of motions is planned."""

from __future__ import annotations

import argparse

from robot_identification.errors import SettingError
from robot_identification.excitation.fourier.settings import FourierSettings
from robot_identification.excitation.plan import FAMILIES, FOURIER, QUINTIC

_OF_FOURIER = ("base_frequency", "harmonics", "periods")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    default = FourierSettings()
    group = parser.add_argument_group("motions that repeat (--family fourier)")
    group.add_argument(
        "--family",
        choices=FAMILIES,
        help="quintics through points, or band-limited Fourier series over whole periods; "
        f"default: {QUINTIC}",
    )
    group.add_argument(
        "--base-frequency",
        type=float,
        metavar="HZ",
        help=f"number of periods in one second; default: {default.base_frequency:g}",
    )
    group.add_argument(
        "--harmonics",
        type=int,
        metavar="N",
        help=f"highest multiple of the base frequency; default: {default.harmonics}",
    )
    group.add_argument(
        "--periods",
        type=int,
        metavar="N",
        help=f"number of whole periods, a run-in and a run-out around them; default: "
        f"{default.periods}",
    )


def fourier_of(options: argparse.Namespace) -> FourierSettings | None:
    """Return the periods that are asked for; None for quintics.

    Args:
        options: parsed arguments.

    Raises:
        SettingError: a value is out of its range, or is for the other family.
    """
    given = {name: getattr(options, name) for name in _OF_FOURIER}
    given = {name: value for name, value in given.items() if value is not None}
    if options.family == FOURIER:
        return FourierSettings(**given)
    for name, value in given.items():
        option = f"--{name.replace('_', '-')}"
        raise SettingError(option, value, f"needs --family {FOURIER}")
    return None
