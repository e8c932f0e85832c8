"""Coefficients of the grouping relations as expressions in the geometric parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from robot_identification.identification.base.polynomials import Polynomial
from robot_identification.identification.base.rules import Grouping
from robot_identification.robot.angles import cos_sin
from robot_identification.robot.geometry import geometric_parameters
from robot_identification.robot.model import JointType, RobotModel

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
