"""Report on the base parameters of a robot, as plain data and as tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robot_identification.identification.base.observation import (
    Model,
    Observation,
    random_states,
    ranges,
)
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.base.relations import Relation, latex_document, relations
from robot_identification.identification.base.scaling import spread

_SEED = 1991
_UNCHANGED = 1e-9


@dataclass(frozen=True)
class BaseReport:
    """A report about base parameters.

    Attributes:
        base: the base parameters.
        relations: grouping relation of every base parameter.
        unchanged_by_beta: base parameters into which nothing is grouped, by the zeros of beta N
            with a random vector N, every one confirmed by its whole row (Gautier 1991,
            "Results").
        spread: S = max |W_ij| / min |W_ij| of the three models on the same random states, by name
            of the model.
    """

    base: BaseParameters
    relations: tuple[Relation, ...]
    unchanged_by_beta: tuple[str, ...]
    spread: dict[str, float]

    @cached_property
    def latex(self) -> str:
        """The relations as a LaTeX ``align*`` environment."""
        return latex_document(self.relations)

    def rows(self) -> list[tuple[str, str, str]]:
        """Return name, relation in numbers and relation in symbols of every base parameter."""
        return [(relation.name, relation.text(), relation.symbols()) for relation in self.relations]

    def to_json(self) -> dict[str, object]:
        """Return plain data with stable keys; see docs/theory_base_parameters.md."""
        base = self.base
        names = base.standard_names
        factorisation = base.factorisation
        return {
            "robot": base.robot.name,
            "model": base.model,
            "method": base.method,
            "standard": list(names),
            "unaffecting": [names[i] for i in base.unaffecting],
            "regrouped": [names[i] for i in base.regrouped],
            "appended": [names[i] for i in base.appended],
            "unchanged": list(self.unchanged_by_beta),
            "base": [self._entry(i) for i in range(base.rank)],
            "rank": base.rank,
            "gap": base.gap,
            "tolerance": base.tolerance,
            "ambiguous": base.ambiguous,
            "warnings": list(base.warnings),
            "scaled_states": base.scaled,
            "rows": factorisation.rows,
            "diagonal": base.diagonal.tolist(),
            "singular_values": base.singular_values.tolist(),
            "decisions": {
                "column_norms": factorisation.norms.report(),
                "diagonal": factorisation.diagonal.report(),
                "singular_values": factorisation.singular_values.report(),
            },
            "method_difference": factorisation.disagreement,
            "left_to_the_numerical_method": len(base.remainder),
            "spread": dict(self.spread),
        }

    def _entry(self, index: int) -> dict[str, object]:
        relation = self.relations[index]
        expressions = {
            term.name: term.expression.text()
            for term in relation.terms
            if term.expression is not None
        }
        return {
            "name": relation.name,
            "leading": relation.leading,
            "grouping": dict(self.base.groupings[index]),
            "expressions": expressions,
            "relation": relation.text(),
            "relation_in_symbols": relation.symbols(),
            "latex": relation.latex(),
            "appended": int(self.base.base[index]) in self.base.appended,
        }


def base_report(base: BaseParameters) -> BaseReport:
    """Return the report about base parameters.

    Raises:
        SettingError: if the constraint of a closed loop cannot give what a model needs.
    """
    return BaseReport(
        base=base,
        relations=relations(base),
        unchanged_by_beta=_unchanged_by_beta(base),
        spread=_spreads(base),
    )


def _unchanged_by_beta(base: BaseParameters) -> tuple[str, ...]:
    """Return the base parameters without grouping: the zeros of K = beta N.

    A zero of K is necessary only, so every such row is looked at as a whole.
    """
    numbers = np.random.default_rng(_SEED).uniform(1.0, 2.0, len(base.regrouped))
    zeros = np.abs(base.beta @ numbers) <= _UNCHANGED
    return tuple(
        name
        for i, name in enumerate(base.leading_names)
        if zeros[i] and not base.beta[i].any() and base.base[i] not in base.appended
    )


def _spreads(base: BaseParameters) -> dict[str, float]:
    """Return S of the three models on as many random rows as they have columns.

    As in the paper, the columns without effect are left out, and the energy model is h itself.
    """
    result = {}
    for model in Model:
        observation = Observation(base.robot, model, base.constraint)
        half_ranges = ranges(base.robot, base.constraint)
        kept = np.flatnonzero(observation.contained)
        kept = np.setdiff1d(kept, base.unaffecting)
        samples = observation.samples_for(len(kept))
        states = random_states(half_ranges, samples, np.random.default_rng(_SEED))
        blocks = observation.blocks(states)[:, :, kept]
        result[model.value] = spread(blocks.reshape(-1, len(kept)))
    return result
