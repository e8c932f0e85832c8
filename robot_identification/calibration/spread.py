"""Standard deviations of calibrated parameters, and of what is computed with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.calibration.consistency.program import Problem
from robot_identification.identification.result import IdentificationResult
from robot_identification.robot.arrays import Array, by_value, read_only

_NOTHING = 1e-9  # of the size of a parameter


@by_value
@dataclass(frozen=True)
class Spread:
    """Standard parameters as functions of independent noise of standard deviation 1.

    The covariance of the parameters is each matrix times its transpose.

    Attributes:
        formula: (parameters, base) by the standard deviations of the estimate; of weighted least
            squares those of the papers' formula (Gautier and Venture 2013, eq. 11).
        robust: (parameters, base) by such that hold for correlated residuals too; None where the
            identification has no robust deviations.
    """

    formula: Array
    robust: Array | None

    def enters(self, sizes: Array) -> npt.NDArray[np.bool_]:
        """Tell which parameters noise gets into at all.

        Args:
            sizes: (parameters,) their sizes.
        """
        return np.asarray(np.linalg.norm(self.formula, axis=1) > _NOTHING * sizes)

    @property
    def std(self) -> Array:
        """(parameters,) standard deviations by the formula."""
        return read_only(np.linalg.norm(self.formula, axis=1))

    @property
    def std_robust(self) -> Array:
        """(parameters,) robust standard deviations, NaN where there are none."""
        if self.robust is None:
            return read_only(np.full(len(self.formula), np.nan))
        return read_only(np.linalg.norm(self.robust, axis=1))


def spread(problem: Problem, result: IdentificationResult, gain: Array) -> Spread:
    """Return what noise does to the nearest parameters, the prior being taken as certain.

    The estimate enters twice: by the correction, and by the prior of drives that was taken from
    it.  Deviations of the base parameters are those of the estimate: least squares on the factors
    is not the only method, and white noise not the only one.  Their correlations are taken to be
    those of least squares on the factors.

    Args:
        problem: system and prior.
        result: the identification behind them.
        gain: (parameters, base) that turns unexplained torque into the correction of the prior.
    """
    system, estimate = problem.system, result.estimate
    by_prior = problem.prior.sensitivity(result.regrouping)
    left = np.eye(len(system.factor)) - system.projection @ by_prior
    derivative = by_prior + gain @ system.factor @ left
    unit = np.linalg.inv(system.factor)
    sizes = np.linalg.norm(unit, axis=1)
    unit /= sizes[:, None]
    least = problem.least_noise * sizes

    def by(std: Array) -> Array:
        return read_only(derivative @ (unit * np.maximum(std, least)[:, None]))

    robust = estimate.std_robust
    return Spread(by(estimate.std), None if robust is None else by(robust))
