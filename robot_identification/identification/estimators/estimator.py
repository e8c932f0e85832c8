"""Estimators: name, help, needs and covariance of every method of identification.

A method that estimates from rows is an :class:`Estimator`: a small class that says what it needs of
the rows and fits them.  All of them are listed in :mod:`.choice`, which commands, services and
reports read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from robot_identification.errors import SettingError
from robot_identification.identification.estimators.essential import Elimination, EliminationRule
from robot_identification.identification.estimators.huber import HuberSettings, Robustness
from robot_identification.identification.estimators.least_squares import Estimate
from robot_identification.identification.estimators.weighting import Weighting
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.identification.rows.groups import Bands, GroupedRows
from robot_identification.identification.rows.source import RowSource
from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.model import RobotModel
from robot_identification.signals.processing.complete import Processing


@dataclass(frozen=True)
class Choice:
    """Choice of an estimator and its options.

    Attributes:
        method: name of an estimator; see :mod:`.estimators.choice`.
        essential: how to find the essential parameters; None: all are kept.
        weighting: of the bags.
        robust: how outliers are limited; None: not at all.
    """

    method: str
    essential: EliminationRule | None = None
    weighting: Weighting = field(default_factory=Weighting)
    robust: HuberSettings | None = None


@by_value
@dataclass(frozen=True)
class Fit:
    """Estimate of an estimator.

    Attributes:
        estimate: of all base parameters, or of the essential ones.
        factors: one factor per joint, bags weighted and outliers limited where asked for; None
            where the estimator keeps none.
        measured: the factors of every group, with the efforts as measured.
        fit_without: given the number of a group, the values without it; None where that would be
            too expensive.
        elimination: the essential parameters, where asked for.
        robustness: what limiting outliers did, where asked for.
        levels: (bags, joints) noise over that of the joint, where bags were weighted by it.
        scales: (bags, joints) factors on the rows; None where there are none.
        measured_factors: see :class:`~.identification.result.IdentificationResult`.
        warnings: what a user should know of this fit, one line each.
    """

    estimate: Estimate
    factors: tuple[JointFactor, ...] | None
    measured: tuple[tuple[JointFactor, ...], ...]
    fit_without: Callable[[int], Array] | None
    elimination: Elimination | None = None
    robustness: Robustness | None = None
    levels: Array | None = None
    scales: Array | None = None
    measured_factors: tuple[JointFactor, ...] | None = None
    warnings: tuple[str, ...] = ()


class Deviations(NamedTuple):
    """Standard deviations of an estimate: roots of the diagonal of its covariance.

    Attributes:
        white: (parameters,) for residuals that are white.
        coloured: (parameters,) for residuals of any colour (:mod:`.robust_std`); None where the
            bands of the rows are not at hand, or the estimator has none.
    """

    white: Array
    coloured: Array | None


@dataclass(frozen=True)
class Method:
    """Name, title, help and needs of a method of identification.

    Attributes:
        name: that commands and services take, and results carry.
        title: what a report calls it.
        help: what it does, in a line.
        stacked: whether it solves the rows of all joints at once by least squares.  Then it finds
            essential parameters, weights bags, limits outliers, takes averages over periods, and
            its results merge.
        own_regressor: whether it solves other rows than those behind the factors of its results.
        measured_motion: whether its rows are those of the measured motion, so that other
            recordings are to be processed as its own were.
        keeps_factors: whether its results carry the triangular factors of their rows.
    """

    name: str
    title: str
    help: str
    stacked: bool = False
    own_regressor: bool = False
    measured_motion: bool = True
    keeps_factors: bool = True


@dataclass(frozen=True)
class Estimator(Method, ABC):
    """A method that estimates from rows.

    Attributes:
        weights_joints: whether the rows of a joint are weighted by their noise.
        needed_bands: Gram matrices of bands that it needs where that does not depend on more.
        needs_samples: whether it goes over the samples themselves; rows that were folded as they
            came are not enough then.
    """

    weights_joints: bool = False
    needed_bands: Bands = "together"
    needs_samples: bool = False

    def check(self, choice: Choice) -> None:
        """Refuse what this estimator cannot do.

        Raises:
            SettingError: something of the kind is asked for.
        """
        if not self.stacked:
            for name, asked in (
                ("essential", choice.essential is not None),
                ("bag weights", bool(choice.weighting.bag_weights)),
                ("robust", choice.robust is not None),
            ):
                if asked:
                    raise SettingError(name, self.name, "works with the methods ols and wls")
        if choice.weighting.bag_noise and not self.weights_joints:
            raise SettingError("bag_noise", self.name, "works with the method wls")

    def processing(self, robot: RobotModel, settings: Processing) -> Processing:  # noqa: ARG002 (others read it)
        """Return the settings with which its rows are made.

        Args:
            robot: the robot.
            settings: complete ones, as for least squares.
        """
        return settings

    def bands(self, choice: Choice, source: RowSource) -> Bands:  # noqa: ARG002 (others read them)
        """Return the Gram matrices of bands that it needs for its robust deviations."""
        return self.needed_bands

    @abstractmethod
    def deviations(self, solved: Any, rows: GroupedRows) -> Deviations:
        """Return the standard deviations of an estimate.

        Args:
            solved: what :meth:`fit` has solved, in this estimator's own form.
            rows: the rows that it was made from, with the bands that :meth:`bands` asks for.
        """

    @abstractmethod
    def fit(self, choice: Choice, source: RowSource, measured: GroupedRows) -> Fit:
        """Estimate the base parameters.

        Args:
            choice: what is asked for, from :meth:`check`; weights are one per bag, or none.
            source: where the rows come from.
            measured: the rows, with the bands that :meth:`bands` asks for.

        Raises:
            NotExcitedError: the rows do not determine every base parameter.
            RecordingError: the recordings are of no use.
            SettingError: a setting is not possible.
            CancelledError: the caller of the source wants to stop.
        """
