"""History of an iterative identification, for result files and reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_identification.identification import entries as entry_of
from robot_identification.identification.estimators.least_squares import RelativeError
from robot_identification.robot.arrays import Array, by_value, read_only

CONVERGED = "converged"
NOT_CONVERGED = "not converged"
MODEL_MISMATCH = "model mismatch"


@by_value
@dataclass(frozen=True)
class Iteration:
    """One set of parameters on the way, and what the simulation with it gave.

    Attributes:
        number: 0 for the start.
        torque_error: unexplained effort of the simulation with these parameters, as fractions.
        step: part of the Gauss-Newton step that led here; 0 for the start.
        parameter_change: largest relative change of a parameter in that step; 0 for the start.
        frequency_ratio: (joints,) natural frequency of the robot's loop over that of the
            simulated one (Gautier et al. 2013, eq. 60), with the inertia of the next estimate as
            the robot's.
        values: (parameters,) base parameters.
        simulations: simulations of the whole data that were needed to get here.
    """

    number: int
    torque_error: RelativeError
    step: float
    parameter_change: float
    frequency_ratio: Array
    values: Array
    simulations: int

    def __post_init__(self) -> None:
        for name in ("frequency_ratio", "values"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


@by_value
@dataclass(frozen=True)
class History:
    """The iterations of a result, and the verdict on it.

    Attributes:
        start: what the first parameters were.
        smallest_eigenvalue: of the mass matrix with the first parameters, over all positions
            that were looked at.
        iterations: from the start on.
        noise_floor: (joints,) torque error that no parameters can be expected to go below, as
            fractions of the effort.
        noise_floor_reason: how it was found.
        verdict: ``converged``, ``not converged`` or ``model mismatch``.
    """

    start: str
    smallest_eigenvalue: float
    iterations: tuple[Iteration, ...]
    noise_floor: Array
    noise_floor_reason: str
    verdict: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise_floor", read_only(self.noise_floor))

    @property
    def simulations(self) -> int:
        """Simulations of the whole data, all iterations together."""
        return sum(iteration.simulations for iteration in self.iterations)


def history_entries(history: History, joint_names: Sequence[str]) -> dict[str, Any]:
    """Return the plain data of a history, for result files and ``--json``."""

    def per_joint(values: Array) -> dict[str, float]:
        return {name: float(value) for name, value in zip(joint_names, values, strict=True)}

    return {
        "verdict": history.verdict,
        "start": history.start,
        "start_smallest_eigenvalue": history.smallest_eigenvalue,
        "simulations": history.simulations,
        "noise_floor": per_joint(history.noise_floor),
        "noise_floor_reason": history.noise_floor_reason,
        "torque_error_history": [
            {"total": i.torque_error.total, **per_joint(i.torque_error.joints)}
            for i in history.iterations
        ],
        "history": [
            {
                "iteration": i.number,
                "step": i.step,
                "parameter_change": i.parameter_change,
                "frequency_ratio": per_joint(i.frequency_ratio),
                "values": i.values.tolist(),
                "simulations": i.simulations,
            }
            for i in history.iterations
        ],
    }


def history_of(document: Mapping[str, Any], joint_names: Sequence[str]) -> History:
    """Return the history that :func:`history_entries` made entries of.

    Raises:
        KeyError: if an entry is missing.
        TypeError: if a value is no number, text and so on, as it should be.
        ValueError: if lists do not fit, or a count is negative.
    """
    iterations = tuple(
        Iteration(
            number=entry_of.count(entry, "iteration"),
            torque_error=RelativeError(
                entry_of.number(error, "total"), _per_joint(error, joint_names)
            ),
            step=entry_of.number(entry, "step"),
            parameter_change=entry_of.number(entry, "parameter_change"),
            frequency_ratio=_per_joint(entry_of.mapping(entry, "frequency_ratio"), joint_names),
            values=entry_of.numbers(entry["values"], "values"),
            simulations=entry_of.count(entry, "simulations"),
        )
        for entry, error in zip(
            entry_of.mappings(document, "history"),
            entry_of.mappings(document, "torque_error_history"),
            strict=True,
        )
    )
    return History(
        start=entry_of.text(document, "start"),
        smallest_eigenvalue=entry_of.number(document, "start_smallest_eigenvalue"),
        iterations=iterations,
        noise_floor=_per_joint(entry_of.mapping(document, "noise_floor"), joint_names),
        noise_floor_reason=entry_of.text(document, "noise_floor_reason"),
        verdict=entry_of.text(document, "verdict"),
    )


def _per_joint(entries: Mapping[str, Any], joint_names: Sequence[str]) -> Array:
    return read_only(np.array([entry_of.number(entries, name) for name in joint_names]))
