"""Calibrated standard parameters with their checks of consistency, deviations and verdicts."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from robot_identification.calibration.consistency.checks import Consistency, check_entries
from robot_identification.calibration.consistency.program import Step
from robot_identification.calibration.prior import Prior
from robot_identification.calibration.spread import Spread
from robot_identification.calibration.verdicts import Verdict
from robot_identification.identification.estimators.least_squares import (
    RelativeError,
    error_entries,
)
from robot_identification.identification.source import Source
from robot_identification.presentation import Stored
from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.model import RobotModel
from robot_identification.robot.processing import ProcessingSettings

NOTABLE_COST = 0.10
"""Growth of the error, against that of the identified parameters, from which users are warned."""


@by_value
@dataclass(frozen=True, repr=False)
class CalibratedParameters(Stored):
    """Standard parameters of a robot, with all that tells how far they can be trusted.

    Attributes:
        robot: name of the robot.
        robot_digest: SHA-256 of the robot file.
        sources: the recordings behind the identification.
        joint_names: names of the joints.
        names: (parameters,) ``robot.all_parameter_names``.
        values: (parameters,) their values, SI units, rounded to the digits that files hold.
        std: (parameters,) standard deviations (the papers' formula); NaN where there is none.
        std_robust: (parameters,) such that hold for correlated residuals too; NaN where there
            is none.
        model: columns of ``names`` that belong to the model; the others are 0.
        verdicts: (columns of the model,) what each value rests on.
        identified_base: (base,) the identified base parameters.
        prior: what was known before, drive inertias and friction of the identification included.
        space: ``base`` or ``essential``.
        essential: names of the essential base parameters.
        checks: every test of consistency, on the rounded values.
        step: how the values were found.
        active_links: links whose consistency holds the solution.
        active_drives: joints whose drives do.
        error_identified: error of the identified base parameters, as fractions.
        error_free: error of the nearest parameters on the space, before consistency.
        error: error of the published parameters.
        distance_free: relative distance of the nearest parameters to the prior.
        distance_to_prior: that of the published ones; NaN without a prior.
        description: the robot.
        processing: how the recordings were processed.
        efforts: what their efforts were; empty where nobody knows.
        seconds: time that it took.
        warnings: what a user should know before trusting the values.
        spread: what noise does to the parameters of the model together, the prior being taken as
            certain; None where nobody knows.
        own_law: whether the friction law is that of the identification, which the robot file does
            not state alone.
    """

    robot: str
    robot_digest: str
    sources: tuple[Source, ...]
    joint_names: tuple[str, ...]
    names: tuple[str, ...]
    values: Array
    std: Array
    std_robust: Array
    model: tuple[int, ...]
    verdicts: tuple[Verdict, ...]
    identified_base: Array
    prior: Prior
    space: str
    essential: tuple[str, ...]
    checks: Consistency
    step: Step
    active_links: tuple[str, ...]
    active_drives: tuple[str, ...]
    error_identified: RelativeError
    error_free: RelativeError
    error: RelativeError
    distance_free: float
    distance_to_prior: float
    description: RobotModel = field(compare=False)
    processing: ProcessingSettings = field(default_factory=ProcessingSettings)
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    spread: Spread | None = None
    efforts: str = ""
    own_law: bool = False

    @property
    def consistent(self) -> bool:
        """Whether every link and every drive is physically consistent."""
        return self.checks.consistent

    @property
    def error_increase(self) -> float:
        """Cost of consistency: (error - error without it) / error without it, a fraction."""
        return _increase(self.error_free, self.error)

    @property
    def error_increase_identified(self) -> float:
        """Cost of space and consistency: (error - identified error) / identified error."""
        return _increase(self.error_identified, self.error)

    @property
    def cost(self) -> str:
        """The error of these parameters beside that of the identified ones, in one sentence."""
        whole, space, consistency = (
            f"{round(100.0 * part, 1) + 0.0:+.1f} %"  # no -0.0
            for part in (self.error_increase_identified, self.space_cost, self.error_increase)
        )
        return (
            f"published {self.error.total:.4g} of the efforts unexplained, identified "
            f"{self.error_identified.total:.4g} ({whole}: {self.space} space {space}, then "
            f"consistency {consistency})"
        )

    @property
    def space_cost(self) -> float:
        """Cost of the space by itself: the same, before consistency."""
        return _increase(self.error_identified, self.error_free)

    @property
    def full_verdicts(self) -> tuple[Verdict, ...]:
        """(parameters,) verdicts; what is not in the model is not identifiable."""
        found = dict(zip(self.model, self.verdicts, strict=True))
        return tuple(found.get(i, Verdict.NOT_IDENTIFIABLE) for i in range(len(self.names)))

    @property
    def headline(self) -> str:
        """Robot, number of parameters, whether they can exist, and error, in one line."""
        judged = "" if self.consistent else "not "
        return (
            f"{len(self.model)} standard parameters of {self.robot} on the {self.space} space, "
            f"{judged}physically consistent; relative error {self.error.total:.4g}"
        )

    def records(self) -> list[dict[str, object]]:
        """Return one row per standard parameter; ``prior`` is NaN where nothing was known."""
        prior = np.where(self.prior.known, self.prior.values, np.nan)
        return [
            {
                "name": self.names[i],
                "value": float(self.values[i]),
                "prior": float(prior[place]),
                "std": float(self.std[i]),
                "std_robust": float(self.std_robust[i]),
                "verdict": self.verdicts[place].name.lower(),
            }
            for place, i in enumerate(self.model)
        ]

    def summary(self) -> dict[str, object]:
        """Return the plain data of a calibration that ``--json`` prints; the keys are stable."""
        names = [self.names[i] for i in self.model]
        prior = self.prior
        origin = np.where(prior.identified, "identified", "given")
        return {
            "robot": self.robot,
            "space": self.space,
            "parameters": {
                name: float(self.values[i]) for name, i in zip(names, self.model, strict=True)
            },
            "prior": {
                name: float(value)
                for name, value, known in zip(names, prior.values, prior.known, strict=True)
                if known
            },
            "prior_origin": {
                name: str(text)
                for name, text, known in zip(names, origin, prior.known, strict=True)
                if known
            },
            "std": {name: float(self.std[i]) for name, i in zip(names, self.model, strict=True)},
            "std_robust": {
                name: float(self.std_robust[i]) for name, i in zip(names, self.model, strict=True)
            },
            "verdicts": {
                name: verdict.name.lower()
                for name, verdict in zip(names, self.verdicts, strict=True)
            },
            "essential": list(self.essential),
            **check_entries(self.checks),
            "step": self.step.value,
            "active_links": list(self.active_links),
            "active_drives": list(self.active_drives),
            "distance_to_prior": self.distance_to_prior,
            "distance_to_prior_free": self.distance_free,
            "relative_error": error_entries(self.error, self.joint_names),
            "relative_error_free": error_entries(self.error_free, self.joint_names),
            "relative_error_identified": error_entries(self.error_identified, self.joint_names),
            "error_increase": self.error_increase,
            "error_increase_identified": self.error_increase_identified,
            "space_cost": self.space_cost,
            "seconds": self.seconds,
            "warnings": list(self.warnings),
        }


def _increase(before: RelativeError, after: RelativeError) -> float:
    """Return the growth of the error over all joints, as a fraction of what it was."""
    return (after.total - before.total) / before.total if before.total > 0.0 else 0.0
