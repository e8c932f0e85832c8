"""Tables of where time goes, and how they are made of profiles."""

from __future__ import annotations

import cProfile
import inspect
import pstats
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Functions = Sequence[Callable[..., Any]]


def profiled(work: Callable[[], Any]) -> pstats.Stats:
    """Return the profile of some work, which is done once before, so that its code is loaded."""
    work()
    profile = cProfile.Profile()
    profile.runcall(work)
    return pstats.Stats(profile)


def cumulative(stats: pstats.Stats, functions: Functions) -> float:
    """Return the seconds in functions and all that they call.

    Raises:
        SystemExit: one of them was not called.
    """
    total = 0.0
    for function in functions:
        code = inspect.unwrap(function).__code__
        place = (code.co_filename, code.co_firstlineno, code.co_name)
        if place not in stats.stats:  # type: ignore[attr-defined]
            raise SystemExit(f"{code.co_name} of {code.co_filename} was not called")
        total += stats.stats[place][3]  # type: ignore[attr-defined]
    return total


def parts(stats: pstats.Stats, whole: float, areas: Mapping[str, Functions]) -> dict[str, float]:
    """Return the seconds of areas that do not overlap, and of the rest.

    Args:
        stats: a profile.
        whole: seconds in all.
        areas: name of an area -> its functions.
    """
    found = {name: cumulative(stats, functions) for name, functions in areas.items()}
    return {**found, "the rest": whole - sum(found.values())}


def saved(path: Path) -> pstats.Stats:
    """Return a profile that a process has written."""
    return pstats.Stats(str(path))


def print_parts(title: str, found: Mapping[str, float], unit: str, scale: float) -> None:
    """Print a table of parts with their shares."""
    whole = sum(found.values())
    print(f"\n| {title} | {unit} | share |\n|---|---|---|")
    for name, seconds in found.items():
        print(f"| {name} | {scale * seconds:.3g} | {100.0 * seconds / whole:.0f} % |")
    print(f"| **all** | {scale * whole:.3g} | |")


def print_figures(title: str, found: Mapping[str, float], unit: str, scale: float = 1.0) -> None:
    """Print a table of figures that are no parts of a whole."""
    print(f"\n| {title} | {unit} |\n|---|---|")
    for name, value in found.items():
        print(f"| {name} | {scale * value:.3g} |")
