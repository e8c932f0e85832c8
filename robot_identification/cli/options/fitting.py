"""Options of the fit: parts of bags, their weights, outliers, sensitivity."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from robot_identification.cli.options import common as shared
from robot_identification.errors import RecordingError, SettingError
from robot_identification.files.bags.lists import ListedBag, read_bag_list, with_parts
from robot_identification.identification.estimators.huber import METHOD, HuberSettings
from robot_identification.identification.estimators.weighting import Weighting
from robot_identification.identification.friction.options import STATED

NO_SAMPLES = "; refused here, since it goes over the samples again: use identify"
_OF_WEIGHTING = ("bag_noise",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add all options."""
    group = parser.add_argument_group("several bags and outliers")
    add_bags(group)
    add_outliers(group)
    group.add_argument(
        "--sensitivity",
        action="store_true",
        help="tell how the parameters change with half and double the cut-off",
    )


def add_bags(group: argparse._ActionsContainer) -> None:
    """Add which bags are fitted, and what they count."""
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
    add_weights(group, "bag")


def add_weights(group: argparse._ActionsContainer, kind: str) -> None:
    """Add what each bag counts, or each of whatever kind is fitted together."""
    group.add_argument(
        "--weight",
        action="append",
        default=[],
        metavar=f"{kind.upper()}=W",
        help=f"what a {kind} counts, by default 1: one of weight 2 as if it were there twice; "
        "repeatable",
    )
    shared.add_settings(group, Weighting, _OF_WEIGHTING)


def add_outliers(group: argparse._ActionsContainer, note: str = "") -> None:
    """Add how outliers are limited.

    Args:
        group: takes the options.
        note: what a user should know of them here.
    """
    group.add_argument(
        "--robust", choices=(METHOD,), help=f"limit the pull of outliers such as contacts{note}"
    )
    shared.add_settings(group, HuberSettings)


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
        ("--robust-threshold", options.robust_threshold),
        ("--essential-rule", options.essential_rule),
        ("--essential-threshold", options.essential_threshold),
        ("--friction", options.friction != STATED),
        ("--sensitivity", options.sensitivity),
    ):
        if value:
            raise SettingError(option, method, "works with the methods by least squares of rows")


def places_of(options: argparse.Namespace) -> list[str | Path]:
    """Return all that :func:`bags_of` reads: the bags, fitted or held out, and the list of bags.

    Raises:
        InputError: the list is wrong.
    """
    named: list[str | Path] = [*options.bags, *options.held_out_bag]
    if options.bag_list is not None:
        named += [options.bag_list, *(bag.path for bag in read_bag_list(options.bag_list))]
    return named


def bags_of(
    options: argparse.Namespace, below: Callable[[str], Sequence[str]] | None = None
) -> tuple[list[ListedBag], list[ListedBag]]:
    """Return the bags to fit and those to hold out.

    Args:
        options: parsed arguments.
        below: gives the bags that a folder stands for, each of which counts once however often it
            is named; None: every place is a bag.

    Raises:
        RecordingError: no bag is left to fit.
        InputError: the list or an option is wrong.
    """
    listed: Sequence[ListedBag] = [ListedBag(bag) for bag in options.bags]
    if options.bag_list is not None:
        listed = [*listed, *read_bag_list(options.bag_list)]
    held_out = options.held_out_bag
    if below is not None:
        found = {own: replace(bag, path=own) for bag in listed for own in below(bag.path)}
        listed, held_out = [*found.values()], [own for place in held_out for own in below(place)]
    every = with_parts(listed, options.weight, held_out)
    fitted = [bag for bag in every if not bag.held_out]
    if not fitted:
        raise RecordingError("no bag to fit; give one that is not held out")
    return fitted, [bag for bag in every if bag.held_out]


def weighting_of(options: argparse.Namespace, bags: Sequence[ListedBag]) -> Weighting:
    """Return how the bags are weighted."""
    weights = tuple(bag.weight for bag in bags)
    unequal = weights if set(weights) != {1.0} else ()
    return Weighting(unequal, **shared.stated(options, Weighting, _OF_WEIGHTING))


def robust_of(options: argparse.Namespace) -> HuberSettings | None:
    """Return how outliers are limited, None where they are not.

    Raises:
        SettingError: the threshold is not positive, or has no method.
    """
    stated = shared.stated(options, HuberSettings)
    if options.robust is not None:
        return HuberSettings(**stated)
    if stated:
        raise SettingError("--robust-threshold", options.robust_threshold, "needs --robust")
    return None
