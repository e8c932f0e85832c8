"""Numbers as text from which the same numbers come back."""

from __future__ import annotations

from collections.abc import Iterable


def number(value: float) -> str:
    """Return the shortest text from which the same double comes back; zero has no sign."""
    return repr(float(value) + 0.0).removesuffix(".0")


def numbers(values: Iterable[float]) -> str:
    """Return numbers with spaces between them, as XML attributes hold them."""
    return " ".join(number(value) for value in values)


def yaml_number(value: float) -> str:
    """Return a number that every YAML reader takes for a float: with a point, ``1.0e-05``."""
    digits, exponent, power = repr(float(value) + 0.0).partition("e")
    return digits + ("" if "." in digits else ".0") + exponent + power
