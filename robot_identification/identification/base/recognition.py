"""Recognition of numbers as products of geometric parameters, such as D3^2 or 2 D3 R3."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import combinations_with_replacement, permutations

from robot_identification.identification.base.polynomials import Polynomial

_FACTORS = (1.0, 2.0, 0.5)
_DENOMINATORS = (1, 2, 3, 4, 5, 6, 8)


def recognised(value: float, symbols: Mapping[str, float], tolerance: float) -> Polynomial | None:
    """Return a simple expression for a number, or None where there is none.

    Tried are simple fractions, then lengths, sines and cosines, products and ratios of two of
    them, and once or twice or half of each.

    Args:
        value: the number.
        symbols: values of the geometric parameters.
        tolerance: relative difference up to which an expression counts as the number.
    """
    fraction = simple_fraction(value, tolerance)
    if fraction is not None:
        return Polynomial.number(fraction)
    for candidate, size in _products(symbols):
        for factor in _FACTORS:
            if math.isclose(abs(value), factor * abs(size), rel_tol=tolerance, abs_tol=0.0):
                return candidate * math.copysign(factor, value * size)
    return None


def simple_fraction(value: float, tolerance: float) -> float | None:
    """Return the simple fraction that a number is but for a relative tolerance, or None."""
    for denominator in _DENOMINATORS:
        nearest = round(value * denominator)
        small = 0 < abs(nearest) <= 8 * denominator
        if small and math.isclose(value, nearest / denominator, rel_tol=tolerance):
            return nearest / denominator
    return None


def _products(symbols: Mapping[str, float]) -> Iterator[tuple[Polynomial, float]]:
    for name, value in symbols.items():
        yield Polynomial.symbol(name), value
    for (a, x), (b, y) in combinations_with_replacement(symbols.items(), 2):
        yield Polynomial.symbol(a) * Polynomial.symbol(b), x * y
    for (a, x), (b, y) in permutations(symbols.items(), 2):
        yield Polynomial.ratio(a, b), x / y
