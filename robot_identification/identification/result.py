"""Results of identification: estimate, statistics, provenance, and the factors behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from robot_identification.errors import ResultMismatchError
from robot_identification.identification.diagnosis.finding import Finding, finding_entries
from robot_identification.identification.estimators.essential import (
    Elimination,
    elimination_entries,
)
from robot_identification.identification.estimators.huber import Robustness, robustness_entries
from robot_identification.identification.estimators.least_squares import (
    Estimate,
    RelativeError,
    error_entries,
)
from robot_identification.identification.friction.law import FrictionLaw, law_entries
from robot_identification.identification.history import History, history_entries
from robot_identification.identification.periodic.recordings import (
    PeriodicRecording,
    periodic_entries,
)
from robot_identification.identification.regrouping import Regrouping
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.identification.source import Source, source_entries
from robot_identification.identification.statistics.cross_validation import (
    CrossValidation,
    Fold,
    cross_validation_entries,
    fold_entries,
)
from robot_identification.identification.statistics.trust import verdicts_of
from robot_identification.presentation import Drawn, Stored, drawn_by
from robot_identification.robot.files.versions import IDENTIFICATION, changed_robot_warnings
from robot_identification.robot.model import RobotModel

SCHEMA_VERSION = 1


@dataclass(frozen=True, repr=False)
class IdentificationResult(Stored, Drawn):
    """Base parameters identified from recordings.

    Attributes:
        robot: name of the robot.
        robot_digest: SHA-256 of the robot file.
        joint_names: names of the joints; with loops of those that can be moved independently.
        sources: the recordings.
        method: name of the method; see :mod:`.estimators.choice`.
        settings: every processing setting with its value and where it came from.
        regrouping: what the base parameters stand for.
        estimate: values, standard deviations and the other statistics.
        factors: triangular factor of each joint's rows; enough to weigh, merge and calibrate.
            Where bags were weighted or outliers limited, the rows are so too.  None where the
            method keeps none; see :meth:`triangles`.
        measured_factors: the same of the efforts as measured, unweighted, from which errors are
            told; None where ``factors`` are so, and in files of earlier versions.
        held_out: error on data that were not used for the fit, None where there were none.
        held_out_bags: error on each recording that was held out as a whole.
        cross_validation: error on each recording, or block of the only one, with parameters from
            the others; None where the method does not tell.
        robustness: what limiting outliers did; None where that was not asked for.
        elimination: the essential parameters, None where they were not asked for; the estimate is
            then theirs.
        iterations: number of iterations of the method.
        converged: whether the method converged.
        seconds: time that it took.
        warnings: what a user should know before trusting the result.
        history: iterations of an iterative method, None for the others.
        periodic: what the periods of each recording tell, where they were averaged over.
        findings: what a diagnosis of recordings, fit and validation has found, the worst first.
        friction: terms, shapes and loads that the robot file does not state alone; None where it
            states them.
        joint_numbers: with loops, the numbers by which parameters name these joints; empty where
            they are 1, 2 and so on.
        geometry: link frames of the robot, see :func:`~.link_frames.geometry_entries`; empty where
            nobody knows, as in messages and in files of earlier versions.
    """

    robot: str
    robot_digest: str
    joint_names: tuple[str, ...]
    sources: tuple[Source, ...]
    method: str
    settings: Mapping[str, Mapping[str, object]]
    regrouping: Regrouping
    estimate: Estimate
    factors: tuple[JointFactor, ...] | None
    held_out: RelativeError | None = None
    held_out_bags: tuple[Fold, ...] = ()
    cross_validation: CrossValidation | None = None
    robustness: Robustness | None = None
    elimination: Elimination | None = None
    iterations: int = 1
    converged: bool = True
    seconds: float = 0.0
    warnings: tuple[str, ...] = field(default=())
    history: History | None = None
    periodic: tuple[PeriodicRecording, ...] = ()
    findings: tuple[Finding, ...] = ()
    friction: FrictionLaw | None = None
    joint_numbers: tuple[int, ...] = ()
    measured_factors: tuple[JointFactor, ...] | None = None
    geometry: Mapping[str, Mapping[str, str | float]] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        settings = {name: MappingProxyType(dict(one)) for name, one in self.settings.items()}
        object.__setattr__(self, "settings", MappingProxyType(settings))

    def model_of(self, robot: RobotModel) -> RobotModel:
        """Return a robot, as its file describes it, with the friction law of this result.

        Args:
            robot: the robot of the result.

        Raises:
            ResultMismatchError: the law is that of another robot.
        """
        return robot if self.friction is None else self.friction.applied(robot)

    def remarks_on(self, robot: RobotModel) -> tuple[str, ...]:
        """Return a line where the file of its robot has changed since the identification."""
        return changed_robot_warnings(robot, self.robot_digest, IDENTIFICATION)

    def triangles(self, purpose: str) -> tuple[JointFactor, ...]:
        """Return the factors of the rows.

        Args:
            purpose: what they are needed for.

        Raises:
            ResultMismatchError: the method keeps none.
        """
        if self.factors is None:
            raise ResultMismatchError(
                self.robot,
                f"a result of the method {self.method} keeps no factors of its rows, which "
                f"{purpose} needs; identify with the method wls",
            )
        return self.factors

    def measured_triangles(self, purpose: str) -> tuple[JointFactor, ...]:
        """Return the factors of the efforts as measured, where the result has them.

        Those of an altered result of an earlier version are weighted or limited; see
        :attr:`is_altered`.

        Args:
            purpose: what they are needed for.

        Raises:
            ResultMismatchError: the method keeps none.
        """
        return self.triangles(purpose) if self.measured_factors is None else self.measured_factors

    @property
    def is_altered(self) -> bool:
        """Whether the rows behind ``factors`` are weighted, or their efforts limited."""
        limited = self.robustness is not None
        return self.measured_factors is not None or limited or self.is_weighted

    @property
    def is_weighted(self) -> bool:
        """Whether the rows of some bags behind ``factors`` count for more than those of others."""
        weights = self.settings.get("bag_weights", {}).get("value")
        uneven = isinstance(weights, Sequence) and len(set(weights)) > 1
        return "bag_noise" in self.settings or uneven

    @property
    def alteration_warning(self) -> str:
        """A line where errors can only be those of weighted or limited rows; empty elsewhere."""
        if not self.is_altered or self.measured_factors is not None:
            return ""
        return (
            f"errors are those of weighted or limited rows of {self.sources[0].name}: a result of "
            "an earlier version keeps none as measured; identify again"
        )

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the joints in names of parameters."""
        return self.joint_numbers or tuple(range(1, len(self.joint_names) + 1))

    @property
    def headline(self) -> str:
        """Robot, method, number of parameters and error, in one line."""
        kept = self.elimination
        essential = "" if kept is None else f", {int(kept.kept.sum())} of them essential"
        return (
            f"{len(self.regrouping.names)} base parameters of {self.robot} ({self.method})"
            f"{essential}; relative error {self.estimate.relative_error.total:.4g}"
        )

    def plot_friction(
        self,
        path: str | Path | None = None,
        *,
        robot: Any = None,
        runs: Any = (),
        title: str = "",
    ) -> Any:
        """Draw the friction of every joint over its velocity, with the data behind it.

        Args:
            path: PNG file to be written; None: none.
            robot: the robot, its file, or the name of a shipped one; needed for the data, and for
                shapes of friction that its file states.
            runs: recordings, bags or tables whose efforts, less everything else that is
                predicted, are drawn beside the curves; none: the curves alone.
            title: one line above the figure; empty: its own.

        Returns:
            The figure, a ``matplotlib.figure.Figure``, which notebooks show.

        Raises:
            MissingPackageError: Matplotlib is not installed.
            ResultMismatchError: the robot is another one.
            OutputError: the file cannot be written.
        """
        return drawn_by("plot_friction", self, path, robot=robot, runs=runs, title=title)

    def records(self) -> list[dict[str, object]]:
        """Return one row per base parameter; ``grouping`` is text such as ``ZZ1 + 0.4 MZ3``."""
        return [
            {**entry, "grouping": self.regrouping.grouping_text(i)}
            for i, entry in enumerate(parameter_entries(self))
        ]

    def summary(self) -> dict[str, object]:
        """Return the plain data of a result that ``--json`` prints; the keys are stable."""
        entries: dict[str, object] = {
            "robot": self.robot,
            "method": self.method,
            "parameters": parameter_entries(self),
            "condition_number": self.estimate.condition_number,
            "scaled_condition_number": self.estimate.scaled_condition_number,
            "relative_error": error_entries(self.estimate.relative_error, self.joint_names),
            "residual_std": {
                name: float(value)
                for name, value in zip(self.joint_names, self.estimate.residual_std, strict=True)
            },
            "rows": sum(self.estimate.rows),
            "rows_per_joint": dict(zip(self.joint_names, self.estimate.rows, strict=True)),
            "iterations": self.iterations,
            "converged": self.converged,
            "seconds": self.seconds,
            "settings": {name: dict(entry) for name, entry in self.settings.items()},
            "sources": [source_entries(source) for source in self.sources],
            "warnings": list(self.warnings),
            "findings": finding_entries(self.findings),
        }
        if self.elimination is not None:
            entries["elimination"] = elimination_entries(self.elimination)
        if self.history is not None:
            entries.update(history_entries(self.history, self.joint_names))
        if self.held_out is not None:
            entries["held_out_error"] = error_entries(self.held_out, self.joint_names)
        names = self.joint_names
        if self.held_out_bags:
            entries["held_out_bags"] = [fold_entries(fold, names) for fold in self.held_out_bags]
        if self.cross_validation is not None:
            entries["cross_validation"] = cross_validation_entries(self.cross_validation, names)
        if self.robustness is not None:
            entries["robust"] = robustness_entries(self.robustness)
        if self.periodic:
            entries["periodic"] = periodic_entries(self.periodic, names)
        if self.friction is not None:
            entries.update(law_entries(self.friction, names))
        return entries


def is_good_enough(result: IdentificationResult, largest: float) -> bool:
    """Tell whether every essential parameter is known well enough.

    The larger of both standard deviations counts, where there are two.  No parameter is known from
    no more rows than there are parameters.

    Args:
        result: the result.
        largest: standard deviation allowed, as a fraction of the value.
    """
    estimate = result.estimate
    if estimate.freedom <= 0:
        return False
    known = estimate.larger_std <= largest * np.abs(estimate.values)
    return bool(known.all() if result.elimination is None else known[result.elimination.kept].all())


def parameter_entries(result: IdentificationResult) -> list[dict[str, object]]:
    """Return one entry per base parameter: name, grouping, value, deviations and verdict.

    ``essential`` is None where the elimination of unessential parameters was not asked for.
    ``std_robust`` is None where the method or the version of the file has none.  ``verdict`` goes
    by the larger deviation; see :mod:`.statistics.trust`.
    """
    estimate = result.estimate
    robust = estimate.std_robust
    kept = None if result.elimination is None else result.elimination.kept
    verdicts = verdicts_of(estimate, kept)
    return [
        {
            "name": name,
            "grouping": result.regrouping.grouping(i),
            "value": float(estimate.values[i]),
            "std": float(estimate.std[i]),
            "std_robust": None if robust is None else float(robust[i]),
            "relative_std_percent": float(estimate.relative_std_percent[i]),
            "essential": None if kept is None else bool(kept[i]),
            "verdict": verdicts[i].value,
        }
        for i, name in enumerate(result.regrouping.names)
    ]
