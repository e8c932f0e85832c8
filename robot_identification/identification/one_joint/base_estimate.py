"""Base parameters by the backward recursion, in the form that all methods of estimation share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from robot_identification.errors import SettingError
from robot_identification.identification import least_squares
from robot_identification.identification.bands import BandGrams
from robot_identification.identification.base import BaseParameters
from robot_identification.identification.cross_validation import others
from robot_identification.identification.estimator import Choice, Estimator, Fit
from robot_identification.identification.factor import JointFactor
from robot_identification.identification.least_squares import Estimate
from robot_identification.identification.one_joint.conversion import JointwiseParameters
from robot_identification.identification.one_joint.estimator import (
    JointwiseEstimate,
    estimate_jointwise,
)
from robot_identification.identification.one_joint.thresholds import keeping_held_joints
from robot_identification.identification.robust import sandwich_std
from robot_identification.identification.row_groups import GroupedRows
from robot_identification.identification.row_source import RowSource
from robot_identification.robot.model import Array, RobotModel, read_only
from robot_identification.robot.processing import Divisor
from robot_identification.signals.processing import Processing


def identify_one_joint(
    base: BaseParameters,
    factors: Sequence[JointFactor],
    divisor: Divisor = "rows-parameters",
    bands: BandGrams | None = None,
) -> Estimate:
    """Return base parameters and their deviations by the backward recursion.

    Condition numbers are the worst among the small systems, singular values those of all of them;
    no joint is weighted.

    Args:
        base: base parameters of a serial robot.
        factors: one factor per joint, over the base parameters.
        divisor: what the squared residual of a joint is divided by to give its variance.
        bands: Gram matrices of the same rows, for deviations that hold for coloured residuals.

    Raises:
        SettingError: the robot is no chain.
        RankError: the inertia constants do not span the base parameters.
        NotExcitedError: the efforts do not tell every parameter.
    """
    found = estimate_jointwise(JointwiseParameters.of(base), factors, divisor)
    singular_values = np.concatenate([system.singular_values for system in found.systems])
    return Estimate(
        values=found.base_values,
        std=read_only(np.sqrt(np.diag(found.base_covariance))),
        weights=read_only(np.ones(len(factors))),
        residual_std=read_only([system.residual_std for system in found.systems]),
        condition_number=max(system.condition_number for system in found.systems),
        scaled_condition_number=max(system.scaled_condition_number for system in found.systems),
        singular_values=read_only(np.sort(singular_values)[::-1]),
        relative_error=least_squares.relative_error(factors, found.base_values),
        rows=tuple(factor.rows for factor in factors),
        std_robust=None if bands is None else _robust_std(found, bands),
    )


def _robust_std(found: JointwiseEstimate, bands: BandGrams) -> Array:
    """Return the deviations of the base parameters for residuals of any colour."""
    parameters = found.parameters
    values, matrix = found.base_values, parameters.base_matrix
    residual = [np.append(-values[columns], 1.0) for columns in bands.columns]
    gains, leverages = [], []
    for joint, (columns, gain) in enumerate(zip(bands.columns, found.gains, strict=True)):
        own = parameters.block(joint)
        gains.append(np.vstack([(matrix @ gain).T, np.zeros(len(values))]))
        leverage = np.zeros((len(columns) + 1, len(columns) + 1))
        leverage[:-1, :-1] = matrix[np.ix_(columns, own)] @ gain[own]
        leverages.append(leverage)
    return sandwich_std(
        bands, np.concatenate(residual), scipy.linalg.block_diag(*leverages), np.vstack(gains)
    )


@dataclass(frozen=True)
class OneJoint(Estimator):
    """The backward recursion over the joints of a serial robot."""

    own_regressor: bool = True

    def processing(self, robot: RobotModel, settings: Processing) -> Processing:
        """Return settings that keep the rows of joints that hold while others move."""
        return keeping_held_joints(robot, settings)

    def fit(
        self,
        choice: Choice,  # noqa: ARG002 (it has no choice)
        source: RowSource,
        measured: GroupedRows,
    ) -> Fit:
        """Estimate the base parameters from the last joint to the first."""
        base, divisor = source.base, source.divisor
        if base is None:
            raise SettingError("method", self.name, "needs the robot; identify again")
        factors, left = measured.merged(), others(measured.factors)
        bands = measured.bands[0] if measured.bands else None
        return Fit(
            identify_one_joint(base, factors, divisor, bands),
            factors,
            measured.factors,
            lambda group: identify_one_joint(base, left[group], divisor).values,
        )


ONE_JOINT = OneJoint(
    name="one-joint",
    title="least squares one joint at a time",
    help="from the last joint to the first, for motions that move one joint at a time",
)
