"""Polynomials in the geometric parameters of a robot, such as ``R3^2 + D3^2 cos(alpha3)``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement, permutations

Monomial = tuple[tuple[str, int], ...]

_NEGLIGIBLE = 1e-14
_SYMBOL = re.compile(r"(?P<function>sin|cos)\((?P<angle>[a-z]+)(?P<index>\d+)\)")


@dataclass(frozen=True)
class Polynomial:
    """A sum of monomials with numbers before them; supports +, - and *.

    Attributes:
        terms: monomial -> its number; a monomial is a sorted tuple of symbols and exponents.
            Squares of sines are written with cosines, so that sin^2 + cos^2 is 1.
    """

    terms: Mapping[Monomial, float]

    @classmethod
    def number(cls, value: float) -> Polynomial:
        """Return a constant."""
        return cls({(): float(value)} if value else {})

    @classmethod
    def symbol(cls, name: str) -> Polynomial:
        """Return a symbol, such as ``D3`` or ``cos(alpha2)``."""
        return cls({((name, 1),): 1.0})

    @classmethod
    def ratio(cls, above: str, below: str) -> Polynomial:
        """Return one symbol over another."""
        return cls({tuple(sorted(((above, 1), (below, -1)))): 1.0})

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __add__(self, other: Polynomial | float) -> Polynomial:
        terms = dict(self.terms)
        for monomial, factor in _polynomial(other).terms.items():
            terms[monomial] = terms.get(monomial, 0.0) + factor
        return _cleaned(terms)

    __radd__ = __add__

    def __neg__(self) -> Polynomial:
        return Polynomial({monomial: -factor for monomial, factor in self.terms.items()})

    def __sub__(self, other: Polynomial | float) -> Polynomial:
        return self + -_polynomial(other)

    def __rsub__(self, other: Polynomial | float) -> Polynomial:
        return _polynomial(other) - self

    def __mul__(self, other: Polynomial | float) -> Polynomial:
        result = Polynomial({})
        for left, a in self.terms.items():
            for right, b in _polynomial(other).terms.items():
                result = result + _reduced(_product(left, right), a * b)
        return result

    __rmul__ = __mul__

    def value(self, symbols: Mapping[str, float]) -> float:
        """Return the number that the polynomial has for given values of its symbols."""
        return math.fsum(
            factor * math.prod(symbols[name] ** exponent for name, exponent in monomial)
            for monomial, factor in self.terms.items()
        )

    def text(self) -> str:
        """Return plain text, such as ``R3^2 + 2 D3 R3``."""
        return _sum([_term_text(m, f) for m, f in _ordered(self)])

    def latex(self) -> str:
        """Return LaTeX, such as ``R_{3}^{2} + 2 D_{3} R_{3}``."""
        return _sum([_term_latex(m, f) for m, f in _ordered(self)])


def is_sum(polynomial: Polynomial) -> bool:
    """Return whether a polynomial needs brackets before a factor."""
    return len(_ordered(polynomial)) > 1


def symbol_latex(name: str) -> str:
    """Return a symbol such as ``D3`` or ``cos(alpha3)`` as LaTeX."""
    match = _SYMBOL.fullmatch(name)
    if match:
        return f"\\{match['function']}\\{match['angle']}_{{{match['index']}}}"
    letters = name.rstrip("0123456789")
    return f"{letters}_{{{name[len(letters) :]}}}"


def number_text(value: float) -> str:
    """Return a number with ten digits at most and no trailing zeros."""
    return f"{value:.10g}"


def _polynomial(value: Polynomial | float) -> Polynomial:
    return value if isinstance(value, Polynomial) else Polynomial.number(value)


def _cleaned(terms: Mapping[Monomial, float]) -> Polynomial:
    return Polynomial({m: f for m, f in terms.items() if abs(f) > _NEGLIGIBLE})


def _product(left: Monomial, right: Monomial) -> dict[str, int]:
    exponents = dict(left)
    for name, exponent in right:
        exponents[name] = exponents.get(name, 0) + exponent
    return exponents


def _reduced(exponents: dict[str, int], factor: float) -> Polynomial:
    """Return a monomial with the squares of sines written as 1 - cos^2."""
    for name, exponent in exponents.items():
        if exponent >= 2 and name.startswith("sin"):
            rest = {**exponents, name: exponent - 2}
            cosine = "cos" + name[3:]
            squared = {**rest, cosine: rest.get(cosine, 0) + 2}
            return _reduced(rest, factor) - _reduced(squared, factor)
    monomial = tuple(sorted((name, e) for name, e in exponents.items() if e))
    return _cleaned({monomial: factor})


def _ordered(polynomial: Polynomial) -> list[tuple[Monomial, float]]:
    """Return the terms, positive ones first, in the shorter of two forms.

    With k (1 - cos^2) m written back as k sin^2 m wherever both parts are there.
    """
    terms = dict(polynomial.terms)
    for monomial, factor in list(terms.items()):
        for place, (name, exponent) in enumerate(monomial):
            rest = tuple(sorted((*monomial[:place], *monomial[place + 1 :])))
            pair = math.isclose(terms.get(rest, 0.0), -factor) and monomial in terms
            if name.startswith("cos") and exponent == 2 and pair:
                del terms[monomial], terms[rest]
                sine = tuple(sorted((*rest, ("sin" + name[3:], 2))))
                terms[sine] = terms.get(sine, 0.0) - factor
                break
    return sorted(terms.items(), key=lambda term: (term[1] < 0, _order(term[0])))


def _order(monomial: Monomial) -> tuple[object, ...]:
    return (-sum(exponent for _, exponent in monomial), monomial)


def _term_text(monomial: Monomial, factor: float) -> tuple[bool, str]:
    above, below = (
        [name if e == 1 else f"{name}^{e}" for name, e in part] for part in _fraction(monomial)
    )
    body = _joined(abs(factor), above)
    return factor < 0, "/".join([body, *below])


def _term_latex(monomial: Monomial, factor: float) -> tuple[bool, str]:
    above, below = ([_powered(name, e) for name, e in part] for part in _fraction(monomial))
    body = _joined(abs(factor), above)
    return factor < 0, f"\\frac{{{body}}}{{{' '.join(below)}}}" if below else body


def _fraction(monomial: Monomial) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Return the symbols above and below the line, lengths first, with positive exponents."""
    ordered = sorted(monomial, key=lambda part: (part[0].startswith(("sin", "cos")), part[0]))
    above = [(name, exponent) for name, exponent in ordered if exponent > 0]
    return above, [(name, -exponent) for name, exponent in ordered if exponent < 0]


def _powered(name: str, exponent: int) -> str:
    if exponent == 1:
        return symbol_latex(name)
    match = _SYMBOL.fullmatch(name)
    if match:
        angle = f"\\{match['angle']}_{{{match['index']}}}"
        return f"\\{match['function']}^{{{exponent}}}{angle}"
    return f"{symbol_latex(name)}^{{{exponent}}}"


def _joined(factor: float, symbols: list[str]) -> str:
    one = math.isclose(factor, 1.0, rel_tol=1e-12)
    return " ".join(symbols if one and symbols else [number_text(factor), *symbols])


def _sum(terms: list[tuple[bool, str]]) -> str:
    if not terms:
        return "0"
    first, *others = terms
    return (
        ("-" if first[0] else "")
        + first[1]
        + "".join(f" {'-' if negative else '+'} {text}" for negative, text in others)
    )


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
