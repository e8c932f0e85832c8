"""Grouping relations as text: plain, with symbols, in LaTeX."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.base.polynomials import (
    Polynomial,
    is_sum,
    number_text,
    recognised,
)
from robot_identification.identification.base.rules import Grouping
from robot_identification.robot.geometry import cos_sin, geometric_parameters
from robot_identification.robot.joint import JointType
from robot_identification.robot.model import RobotModel

Symbols = dict[str, float]
_AGREEMENT = 1e-9


def symbolic_placement(
    robot: RobotModel, j: int, symbols: Symbols
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return rotation and translation of joint j in symbols; their values go into ``symbols``.

    Lengths of zero and quarter turns are numbers.  theta of a revolute joint is left out: it
    changes the zero of the joint only.
    """
    joint, number = robot.joints[j], j + 1
    g = geometric_parameters(joint)
    theta = g.theta if joint.type is JointType.PRISMATIC else 0.0
    d, r, b = (_length(n, v, number, symbols) for n, v in (("D", g.d), ("R", g.r), ("B", g.b)))
    (ca, sa), (ct, st), (cg, sg) = (
        _angle(name, value, number, symbols)
        for name, value in (("alpha", g.alpha), ("theta", theta), ("gamma", g.gamma))
    )
    zero = Polynomial({})
    one = Polynomial.number(1.0)
    about_gamma = np.array([[cg, -sg, zero], [sg, cg, zero], [zero, zero, one]], dtype=object)
    about_alpha = np.array([[one, zero, zero], [zero, ca, -sa], [zero, sa, ca]], dtype=object)
    about_theta = np.array([[ct, -st, zero], [st, ct, zero], [zero, zero, one]], dtype=object)
    offset = np.array([d, -sa * r, b + ca * r], dtype=object)
    return about_gamma @ about_alpha @ about_theta, about_gamma @ offset


def expressed_grouping(robot: RobotModel) -> tuple[dict[int, dict[int, Polynomial]], Symbols]:
    """Return the rows of :class:`Grouping` in symbols, and the values of the symbols."""
    symbols: Symbols = {}
    placements = [symbolic_placement(robot, j, symbols) for j in range(len(robot.joints))]
    grouping = Grouping(robot, [r for r, _ in placements], [p for _, p in placements])
    rows = {
        column: {parameter: _polynomial(value) for parameter, value in row.items()}
        for column, row in grouping.rows.items()
    }
    return rows, symbols


def confirmed(expression: Polynomial, value: float, symbols: Mapping[str, float]) -> bool:
    """Return whether an expression has a value."""
    return math.isclose(expression.value(symbols), value, rel_tol=_AGREEMENT, abs_tol=1e-12)


def _polynomial(value: Polynomial | float) -> Polynomial:
    return value if isinstance(value, Polynomial) else Polynomial.number(value)


def _length(name: str, value: float, number: int, symbols: Symbols) -> Polynomial:
    if value == 0.0:
        return Polynomial({})
    symbols[f"{name}{number}"] = value
    return Polynomial.symbol(f"{name}{number}")


def _angle(name: str, value: float, number: int, symbols: Symbols) -> tuple[Polynomial, Polynomial]:
    """Return cosine and sine; numbers at quarter turns."""
    parts = cos_sin(value)
    if 0.0 in parts:
        return Polynomial.number(parts[0]), Polynomial.number(parts[1])
    names = [f"{function}({name}{number})" for function in ("cos", "sin")]
    symbols.update(zip(names, parts, strict=True))
    return Polynomial.symbol(names[0]), Polynomial.symbol(names[1])


_RECOGNITION = 1e-9
_Rows = dict[int, dict[int, Polynomial]]


@dataclass(frozen=True)
class Term:
    """A standard parameter in a grouping relation.

    Attributes:
        name: name of the parameter.
        coefficient: its coefficient.
        expression: the coefficient in geometric parameters; None where none was recognised.
    """

    name: str
    coefficient: float
    expression: Polynomial | None

    @property
    def text(self) -> str:
        """The coefficient in symbols where they are known, else as a number."""
        return number_text(self.coefficient) if self.expression is None else self.expression.text()


@dataclass(frozen=True)
class Relation:
    """Composition of a base parameter from standard parameters.

    Attributes:
        name: name of the base parameter, such as ``ZZ1R``.
        leading: the standard parameter that leads it.
        terms: the parameters that are grouped into it.
    """

    name: str
    leading: str
    terms: tuple[Term, ...]

    def text(self) -> str:
        """Return the relation in numbers, such as ``ZZ1R = ZZ1 + Ia1 + 0.4 MZ3``."""
        parts = [
            _signed(t.coefficient, number_text(abs(t.coefficient)), t.name) for t in self.terms
        ]
        return " ".join([f"{self.name} = {self.leading}", *parts])

    def symbols(self) -> str:
        """Return the relation in symbols, such as ``ZZ1R = ZZ1 + Ia1 + 2 R3 MZ3``.

        Parameters with equal coefficients stand in one bracket, as in Gautier 1991, Table V.
        """
        parts = [_product(terms, latex=False) for terms in self._alike()]
        return " ".join([f"{self.name} = {self.leading}", *parts])

    def latex(self) -> str:
        """Return the relation in LaTeX, aligned at the equals sign."""
        parts = [_product(terms, latex=True) for terms in self._alike()]
        return " ".join([f"{name_latex(self.name)} &= {name_latex(self.leading)}", *parts])

    def _alike(self) -> list[list[Term]]:
        """Return the terms, those with equal coefficients together."""
        groups: dict[str, list[Term]] = {}
        for term in self.terms:
            whole = abs(term.coefficient) == 1.0
            groups.setdefault(term.name if whole else term.text, []).append(term)
        return list(groups.values())


def relations(base: BaseParameters) -> tuple[Relation, ...]:
    """Return the grouping relation of every base parameter.

    The coefficients are expressed in the geometric parameters: those of the grouping rules by
    carrying the rules out in symbols, those of the numerical method by trying products of one and
    two geometric parameters.  Every expression is checked against its coefficient.
    """
    rows, symbols = expressed_grouping(base.robot)
    result = []
    for i, place in enumerate(base.base):
        expressions = _expressions(base, int(place), rows, symbols)
        leading = base.leading_names[i]
        terms = tuple(
            _term(name, coefficient, expressions.get(name), symbols)
            for name, coefficient in base.groupings[i].items()
            if name != leading
        )
        result.append(Relation(base.names[i], leading, terms))
    return tuple(result)


def latex_document(found: tuple[Relation, ...]) -> str:
    """Return the relations with something grouped in as one ``align*`` environment."""
    lines = [relation.latex() for relation in found if relation.terms]
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}\n"


def name_latex(name: str) -> str:
    """Return the name of a parameter in LaTeX: ``ZZ1R`` becomes ``ZZ_{1R}``."""
    letters = name.rstrip("R").rstrip("0123456789")
    index = name[len(letters) :]
    letters = letters.replace("_", "\\_")
    shown = letters if letters.isupper() else f"\\mathit{{{letters}}}"
    return f"{shown}_{{{index}}}"


def _expressions(
    base: BaseParameters, place: int, rows: _Rows, symbols: Symbols
) -> dict[str, Polynomial]:
    """Return the coefficients in one base parameter, by name of the standard parameter."""
    total = dict(rows[int(base.columns[place])])
    for (leading, other), coefficient in base.remainder.items():
        if leading != place:
            continue
        factor = recognised(coefficient, symbols, _RECOGNITION) or Polynomial.number(coefficient)
        for parameter, expression in rows[int(base.columns[other])].items():
            total[parameter] = total.get(parameter, Polynomial({})) + factor * expression
    names = base.robot.all_parameter_names
    return {names[parameter]: expression for parameter, expression in total.items()}


def _term(
    name: str, coefficient: float, expression: Polynomial | None, symbols: Mapping[str, float]
) -> Term:
    if expression is None or not confirmed(expression, coefficient, symbols):
        expression = recognised(coefficient, symbols, _RECOGNITION)
    return Term(name, coefficient, expression)


def _signed(sign: float, size: str, name: str) -> str:
    factor = name if size == "1" else f"{size} {name}"
    return f"{'-' if sign < 0 else '+'} {factor}"


def _product(terms: list[Term], *, latex: bool) -> str:
    """Return one coefficient times one or more parameters, with the sign before it."""
    names = [name_latex(term.name) if latex else term.name for term in terms]
    body = names[0] if len(names) == 1 else f"({' + '.join(names)})"
    coefficient, expression = terms[0].coefficient, terms[0].expression
    if expression is None or not expression.terms.keys() - {()}:
        return _signed(coefficient, number_text(abs(coefficient)), body)
    negative = all(factor < 0 for factor in expression.terms.values())
    shown = -expression if negative else expression
    text = shown.latex() if latex else shown.text()
    if is_sum(shown):
        text = f"({text})"
    return f"{'-' if negative else '+'} {text} {body}"
