"""The grouping of standard parameters into base parameters, as results hold it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.robot.arrays import Array, by_value, read_only


@by_value
@dataclass(frozen=True)
class Regrouping:
    """Grouping of standard parameters into base parameters, without the robot behind them.

    Attributes:
        standard_names: (standard,) names of the standard parameters of the model.
        names: (base,) names of the base parameters.
        leading: (base,) name of the standard parameter that leads each of them.
        regrouped: (regrouped,) names of the standard parameters grouped into others.
        beta: (base, regrouped) coefficients: base = leading + beta regrouped.
    """

    standard_names: tuple[str, ...]
    names: tuple[str, ...]
    leading: tuple[str, ...]
    regrouped: tuple[str, ...]
    beta: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "beta", read_only(self.beta))

    @classmethod
    def of(cls, base: BaseParameters) -> Regrouping:
        """Return the regrouping that a robot's base parameters describe."""
        return cls(
            standard_names=base.standard_names,
            names=base.names,
            leading=base.leading_names,
            regrouped=tuple(base.standard_names[i] for i in base.regrouped),
            beta=base.beta,
        )

    def grouping(self, index: int) -> dict[str, float]:
        """Return the standard parameters in a base parameter, with their coefficients."""
        row = self.beta[index]
        others = {self.regrouped[place]: float(row[place]) for place in np.flatnonzero(row)}
        return {self.leading[index]: 1.0, **others}

    def grouping_text(self, index: int) -> str:
        """Return the grouping of a base parameter such as ``ZZ1 + Ia1 + 0.4 MZ3``."""
        parts: list[str] = []
        for name, coefficient in self.grouping(index).items():
            size = abs(coefficient)
            term = name if math.isclose(size, 1.0, rel_tol=1e-9) else f"{size:.6g} {name}"
            sign = "-" if coefficient < 0 else "+"
            parts.append(f"{sign} {term}" if parts else (f"-{term}" if coefficient < 0 else term))
        return " ".join(parts)

    @property
    def projection(self) -> Array:
        """(base, standard) matrix that takes standard parameters to base parameters."""
        place = {name: i for i, name in enumerate(self.standard_names)}
        matrix = np.zeros((len(self.names), len(self.standard_names)))
        matrix[np.arange(len(self.names)), [place[name] for name in self.leading]] = 1.0
        matrix[:, [place[name] for name in self.regrouped]] = self.beta
        return read_only(matrix)
