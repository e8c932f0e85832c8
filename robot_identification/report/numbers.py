"""Format of the numbers in a report."""

from __future__ import annotations

import math

NONE = "\N{EN DASH}"


def percent(fraction: float) -> str:
    """Return a fraction in percent, with three digits."""
    if not math.isfinite(fraction):
        return NONE
    size = 100.0 * fraction
    return f"{size:.0f} %" if abs(size) >= 100.0 else f"{size:.3g} %"


def with_interval(value: float, half: float) -> tuple[str, str]:
    """Return a value and the half of its interval, both to two digits of the latter."""
    if not (math.isfinite(value) and math.isfinite(half)) or half <= 0.0:
        return number(value), number(half)
    place = 1 - math.floor(math.log10(half))
    largest = max(abs(value), half)
    if largest >= 1e6 or largest < 1e-4:
        exponent = math.floor(math.log10(largest))
        scale = 10.0**exponent
        digits = min(max(place + exponent, 0), 9)
        return (
            f"{_fixed(value / scale, digits)}e{exponent}",
            f"{_fixed(half / scale, digits)}e{exponent}",
        )
    digits = min(max(place, 0), 9)
    return _fixed(value, digits), _fixed(half, digits)


def _fixed(value: float, digits: int) -> str:
    """Return a number with fixed digits, without the sign of a zero."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def number(value: float) -> str:
    """Return a number with four digits, a dash where there is none."""
    return f"{value:.4g}" if math.isfinite(value) else NONE


def listed(names: list[str] | tuple[str, ...]) -> str:
    """Return names in a row, the last after ``and``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def counted(count: int, singular: str, plural: str = "") -> str:
    """Return a count with its noun."""
    return f"{count} {singular if count == 1 else plural or f'{singular}s'}"
