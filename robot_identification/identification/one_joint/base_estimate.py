"""Base parameters by the backward recursion, in the form that all methods of estimation share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from robot_identification.errors import SettingError
from robot_identification.identification.estimators import least_squares
from robot_identification.identification.estimators.estimator import (
    Choice,
    Deviations,
    Estimator,
    Fit,
)
from robot_identification.identification.estimators.least_squares import Estimate
from robot_identification.identification.one_joint.conversion import (
    JointwiseParameters,
    keeping_held_joints,
)
from robot_identification.identification.one_joint.estimator import (
    JointwiseEstimate,
    estimate_jointwise,
)
from robot_identification.identification.rows.groups import GroupedRows
from robot_identification.identification.rows.source import RowSource
from robot_identification.identification.statistics.cross_validation import others
from robot_identification.identification.statistics.robust_std import sandwich_std
from robot_identification.robot.arrays import read_only
from robot_identification.robot.model import RobotModel
from robot_identification.signals.processing.complete import Processing


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
        """Estimate the base parameters from the last joint to the first.

        Condition numbers are the worst among the small systems, singular values those of all of
        them; no joint is weighted.

        Raises:
            SettingError: the robot is no chain.
            RankError: the inertia constants do not span the base parameters.
            NotExcitedError: the efforts do not tell every parameter.
        """
        base, divisor = source.base, source.divisor
        if base is None:
            raise SettingError("method", self.name, "needs the robot; identify again")
        parameters = JointwiseParameters.of(base)
        factors, left = measured.merged(), others(measured.factors)
        found = estimate_jointwise(parameters, factors, divisor)
        deviations = self.deviations(found, measured)
        singular_values = np.concatenate([system.singular_values for system in found.systems])
        estimate = Estimate(
            values=found.base_values,
            std=deviations.white,
            weights=read_only(np.ones(len(factors))),
            residual_std=read_only([system.residual_std for system in found.systems]),
            condition_number=max(system.condition_number for system in found.systems),
            scaled_condition_number=max(s.scaled_condition_number for s in found.systems),
            singular_values=read_only(np.sort(singular_values)[::-1]),
            relative_error=least_squares.relative_error(factors, found.base_values),
            rows=tuple(factor.rows for factor in factors),
            std_robust=deviations.coloured,
        )
        return Fit(
            estimate,
            factors,
            measured.factors,
            lambda group: estimate_jointwise(parameters, left[group], divisor).base_values,
        )

    def deviations(self, solved: JointwiseEstimate, rows: GroupedRows) -> Deviations:
        """Return the standard deviations of the base parameters."""
        white = read_only(np.sqrt(np.diag(solved.base_covariance)))
        if not rows.bands:
            return Deviations(white, None)
        bands, matrix = rows.bands[0], solved.parameters.base_matrix
        values = solved.base_values
        residual = [np.append(-values[columns], 1.0) for columns in bands.columns]
        gains, leverages = [], []
        for joint, (columns, gain) in enumerate(zip(bands.columns, solved.gains, strict=True)):
            own = solved.parameters.block(joint)
            gains.append(np.vstack([(matrix @ gain).T, np.zeros(len(values))]))
            leverage = np.zeros((len(columns) + 1, len(columns) + 1))
            leverage[:-1, :-1] = matrix[np.ix_(columns, own)] @ gain[own]
            leverages.append(leverage)
        leverage = scipy.linalg.block_diag(*leverages)
        coloured = sandwich_std(bands, np.concatenate(residual), leverage, np.vstack(gains))
        return Deviations(white, coloured)


ONE_JOINT = OneJoint(
    name="one-joint",
    title="least squares one joint at a time",
    help="from the last joint to the first, for motions that move one joint at a time",
)
