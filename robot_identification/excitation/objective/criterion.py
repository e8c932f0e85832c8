"""Excitation criterion: condition number and equilibrium (Gautier and Khalil 1992, eq. 16-22).

The criterion f = lambda1 Cond(W) + lambda2 S is what plans are compared by; where approximate
values of the parameters are known, the error to expect of the estimate is added.  f has kinks:
where singular values meet, and where another entry becomes the smallest.
:func:`~.smooth_criterion.smooth` is a surrogate without kinks that approaches log Cond + weight
log S as it is sharpened, with its exact gradient.

With noise on Y whose standard deviation is a share of the largest |Y| (Gautier and Khalil 1992,
section 6.3), and the covariance sigma^2 (W^T W)^-1 of the estimate, the root mean square of
|dX| / |X| is that share times max|W X| (trace (W^T W)^-1)^(1/2) / |X|.  The condition number
knows nothing of the first factor: a motion with one large |Y| among small ones is well conditioned
and yet spoilt by the noise that comes with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt
import scipy.linalg

from robot_identification.errors import SettingError
from robot_identification.robot.arrays import Array, by_value, read_only


def expected_error(W: Array, values: Array) -> float:
    """Return the relative error per unit of noise; infinite if W lacks full column rank.

    Args:
        W: (rows, columns).
        values: (columns,) approximate parameters, not all 0.
    """
    singular_values = np.linalg.svd(W, compute_uv=False)
    tolerance = max(W.shape) * np.finfo(float).eps * singular_values[0]
    if W.shape[0] < W.shape[1] or singular_values[-1] <= tolerance:
        return float("inf")
    spread = float(np.linalg.norm(1.0 / singular_values))
    return float(np.abs(W @ values).max()) * spread / float(np.linalg.norm(values))


_ROUNDING = 1e-14


class Measure(Enum):
    """Measures of the condition number (Gautier and Khalil 1992, section 4.1)."""

    SVD = "svd"
    QR = "qr"
    FROBENIUS = "frobenius"

    @classmethod
    def named(cls, name: str | Measure) -> Measure:
        """Return the measure of a name.

        Raises:
            SettingError: there is no such measure.
        """
        try:
            return cls(name)
        except ValueError:
            choices = ", ".join(measure.value for measure in cls)
            raise SettingError("criterion", name, f"must be one of {choices}") from None


@by_value
@dataclass(frozen=True)
class Criterion:
    """Weighted sum of condition number, equilibrium (Gautier and Khalil 1992, eq. 18) and error.

    Attributes:
        measure: how the condition number is measured.
        condition_weight: lambda1, positive.
        equilibrium_weight: lambda2, at least 0.
        prior: (columns,) approximate values of the base parameters, not all 0; None where they
            are not known.
        error_weight: weight of the expected error per unit of noise, at least 0; it counts only
            with a prior.
    """

    measure: Measure = Measure.SVD
    condition_weight: float = 1.0
    equilibrium_weight: float = 0.05
    prior: Array | None = None
    error_weight: float = 5.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "measure", Measure.named(self.measure))
        if not 0.0 < self.condition_weight < np.inf:
            raise SettingError("condition_weight", self.condition_weight, "must be positive")
        for name in ("equilibrium_weight", "error_weight"):
            if not 0.0 <= getattr(self, name) < np.inf:
                raise SettingError(name, getattr(self, name), "must not be negative")
        if self.prior is not None:
            object.__setattr__(self, "prior", read_only(self.prior))
            if not (np.isfinite(self.prior).all() and self.prior.any()):
                raise SettingError("prior", self.prior, "needs finite values, not all of them 0")

    def value(self, W: Array) -> float:
        """Return f of a system (rows, columns); infinite if singular."""
        cost = self.condition_weight * condition(W, self.measure)
        if self.equilibrium_weight > 0.0:
            cost += self.equilibrium_weight * equilibrium(W)
        if self.prior is not None and self.error_weight > 0.0:
            cost += self.error_weight * expected_error(W, self.prior)
        return cost


def condition(W: Array, measure: Measure = Measure.SVD) -> float:
    """Return the condition number of a system; infinite where a column depends on others.

    ``frobenius`` is the condition of W^T W: its minimum is the number of columns, and it behaves
    like the square of the other two.

    Args:
        W: (rows, columns), finite.
        measure: which of the three (Gautier and Khalil 1992, eq. 16, 21 and the QR estimate).
    """
    if measure is Measure.QR:
        (r, _) = scipy.linalg.qr(W, mode="r", pivoting=True)
        diagonal = np.abs(np.diag(r))
        return _ratio(diagonal[0], diagonal[min(W.shape) - 1], W)
    singular_values = np.linalg.svd(W, compute_uv=False)
    if measure is Measure.SVD:
        return _ratio(singular_values[0], singular_values[-1], W)
    if not np.isfinite(_ratio(singular_values[0], singular_values[-1], W)):
        return float("inf")
    squares = singular_values**2
    return float(np.linalg.norm(squares) * np.linalg.norm(1.0 / squares))


def _ratio(largest: float, smallest: float, W: Array) -> float:
    tolerance = max(W.shape) * np.finfo(float).eps * largest
    lost = W.shape[0] < W.shape[1] or smallest <= tolerance
    return float("inf") if lost else float(largest / smallest)


def equilibrium(W: Array) -> float:
    """Return S = max|Wij| / min|Wij| over the entries that are not 0 (eq. 19).

    Args:
        W: (rows, columns).

    Returns:
        At least 1; infinite where every entry is 0.
    """
    sizes = np.abs(W[present_entries(W)])
    return float(sizes.max() / sizes.min()) if sizes.size else float("inf")


def present_entries(W: Array) -> npt.NDArray[np.bool_]:
    """Tell which entries are not 0; what is left of 0 after rounding counts as 0."""
    sizes = np.abs(W)
    present: npt.NDArray[np.bool_] = sizes > _ROUNDING * sizes.max(initial=0.0)
    return present
