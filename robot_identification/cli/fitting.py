"""Options of the fit: parts of bags, their weights, outliers, sensitivity."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from robot_identification.errors import RecordingError, SettingError
from robot_identification.identification.huber import THRESHOLD, HuberSettings
from robot_identification.identification.weighting import Weighting
from robot_identification.storage.bag_lists import ListedBag, read_bag_list, with_parts

HUBER = "huber"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group("several bags and outliers")
    group.add_argument(
        "--bag-list",
        type=Path,
        metavar="FILE",
        help="YAML list of more bags: {bag: PATH, weight: W, held_out: true}",
    )
    group.add_argument(
        "--held-out-bag",
        action="append",
        default=[],
        metavar="BAG",
        help="bag that is predicted, not fitted; repeatable",
    )
    group.add_argument(
        "--weight",
        action="append",
        default=[],
        metavar="BAG=W",
        help="what a bag counts, by default 1: one of weight 2 as if it were there twice; "
        "repeatable",
    )
    group.add_argument(
        "--bag-noise",
        action="store_true",
        help="weight every bag and joint by its own noise, estimated from the residuals",
    )
    group.add_argument(
        "--robust", choices=(HUBER,), help="limit the pull of outliers such as contacts"
    )
    group.add_argument(
        "--robust-threshold",
        type=float,
        metavar="K",
        help=f"residual from which, in robust standard deviations (default: {THRESHOLD:g})",
    )
    group.add_argument(
        "--sensitivity",
        action="store_true",
        help="tell how the parameters change with half and double the cut-off",
    )


def refuse_for(options: argparse.Namespace, method: str) -> None:
    """Refuse what a method without rows of its own cannot do.

    Raises:
        SettingError: one of the options is given.
    """
    for option, value in (
        ("--bag-list", options.bag_list),
        ("--held-out-bag", options.held_out_bag),
        ("--weight", options.weight),
        ("--bag-noise", options.bag_noise),
        ("--robust", options.robust),
        ("--sensitivity", options.sensitivity),
    ):
        if value:
            raise SettingError(option, method, "works with the methods by least squares of rows")


def bags_of(options: argparse.Namespace) -> tuple[list[ListedBag], list[ListedBag]]:
    """Return the bags to fit and those to hold out.

    Raises:
        RecordingError: no bag is left to fit.
        InputError: the list or an option is wrong.
    """
    listed: Sequence[ListedBag] = [ListedBag(bag) for bag in options.bags]
    if options.bag_list is not None:
        listed = [*listed, *read_bag_list(options.bag_list)]
    every = with_parts(listed, options.weight, options.held_out_bag)
    fitted = [bag for bag in every if not bag.held_out]
    if not fitted:
        raise RecordingError("no bag to fit; give one that is not held out")
    return fitted, [bag for bag in every if bag.held_out]


def weighting_of(options: argparse.Namespace, bags: Sequence[ListedBag]) -> Weighting:
    """Return how the bags are weighted."""
    weights = tuple(bag.weight for bag in bags)
    stated = weights if set(weights) != {1.0} else ()
    return Weighting(stated, options.bag_noise)


def robust_of(options: argparse.Namespace) -> HuberSettings | None:
    """Return how outliers are limited, None where they are not.

    Raises:
        SettingError: the threshold is not positive, or has no method.
    """
    if options.robust is None:
        if options.robust_threshold is not None:
            raise SettingError("--robust-threshold", options.robust_threshold, "needs --robust")
        return None
    if options.robust_threshold is None:
        return HuberSettings()
    return HuberSettings(options.robust_threshold)
