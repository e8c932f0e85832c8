"""Tables of where time goes, and how they are made of profiles."""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Functions = Sequence[tuple[str, str]]
"""Ends of file names, and names of functions."""


def profiled(work: Callable[[], Any]) -> pstats.Stats:
    """Return the profile of some work, which is done once before, so that its code is loaded."""
    work()
    profile = cProfile.Profile()
    profile.runcall(work)
    return pstats.Stats(profile)


def cumulative(stats: pstats.Stats, functions: Functions) -> float:
    """Return the seconds in functions and all that they call.

    Raises:
        SystemExit: if a profile has none of one of them: it was renamed, or is not called.
    """
    total = 0.0
    for file, name in functions:
        found = [
            entry[3]
            for (path, _, function), entry in stats.stats.items()  # type: ignore[attr-defined]
            if path.endswith(file) and function == name
        ]
        if not found:
            raise SystemExit(f"{name} of {file} is not in the profile")
        total += sum(found)
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
