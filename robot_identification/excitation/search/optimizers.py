"""Ways to minimise the criterion: three without derivatives, and one with exact gradients.

The first three are those of Gautier and Khalil 1992, section 4.3, on unbounded unknowns.  The
fourth minimises the smooth surrogate, sharpened in steps, inside the bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from robot_identification.errors import CancelledError
from robot_identification.excitation.search.problem import PointProblem
from robot_identification.robot.arrays import Array, by_value

OPTIMIZERS = ("gradient", "powell", "nelder-mead", "quasi-newton")

Cancelled = Callable[[], bool]

_SHARPNESSES = tuple(2.0**k for k in range(-2, 7))
_ITERATIONS = 400
_WARM_ITERATIONS = 100
_STEP_BACK = 0.1
_EQUILIBRIUM_WEIGHT = 0.25
_SCIPY_NAMES = {"powell": "Powell", "nelder-mead": "Nelder-Mead", "quasi-newton": "BFGS"}


@by_value
@dataclass(frozen=True)
class Minimum:
    """The best unknowns that an optimiser met.

    Attributes:
        unknowns: (variables,) between -1 and 1.
        value: the criterion there.
        evaluations: number of evaluations of criterion or surrogate.
    """

    unknowns: Array
    value: float
    evaluations: int


def refuse_cancelled(cancelled: Cancelled | None) -> None:
    """Go on unless somebody wants planning to stop.

    Raises:
        CancelledError: ``cancelled`` says so.
    """
    if cancelled is not None and cancelled():
        raise CancelledError("planning was cancelled")


class _Watch:
    """Remembers the best unknowns, counts evaluations and stops when it is time."""

    def __init__(self, problem: PointProblem, most: int, cancelled: Cancelled | None) -> None:
        self._problem = problem
        self._most = most
        self._cancelled = cancelled
        self.best = Minimum(np.zeros(0), np.inf, 0)
        self.evaluations = 0

    def count(self) -> None:
        """Count an evaluation.

        Raises:
            CancelledError: the caller wants to stop.
            StopIteration: there have been enough.
        """
        refuse_cancelled(self._cancelled)
        if self.evaluations >= self._most:
            raise StopIteration
        self.evaluations += 1

    def value(self, z: Array) -> float:
        """Return the criterion and remember the unknowns if they are the best."""
        value = self._problem.value(z)
        if value < self.best.value or not self.best.unknowns.size:
            self.best = Minimum(z.copy(), value, self.evaluations)
        return value


def minimise(
    problem: PointProblem,
    start: Array,
    optimizer: str,
    evaluations: int,
    cancelled: Cancelled | None = None,
) -> Minimum:
    """Minimise the criterion from one start.

    Args:
        problem: the problem.
        start: (variables,) unknowns between -1 and 1.
        optimizer: one of :data:`OPTIMIZERS`.
        evaluations: most evaluations.
        cancelled: asked at every evaluation whether to stop.

    Raises:
        CancelledError: if ``cancelled`` says so.
    """
    watch = _Watch(problem, evaluations, cancelled)
    watch.value(start)
    try:
        if optimizer == "gradient":
            _sharpen(problem, start, watch)
        else:
            _without_derivatives(problem, start, _SCIPY_NAMES[optimizer], watch)
    except StopIteration:
        pass
    return Minimum(watch.best.unknowns, watch.best.value, watch.evaluations)


def _without_derivatives(problem: PointProblem, start: Array, method: str, watch: _Watch) -> None:
    def cost(x: Array) -> float:
        watch.count()
        value = watch.value(problem.from_angles(x))
        return float(np.log(min(value, 1e30)))

    plenty = 10**9
    options: dict[str, object] = {"maxiter": plenty}
    if method != "BFGS":
        options["maxfev"] = plenty
    if method == "Nelder-Mead":
        options["adaptive"] = True
    scipy.optimize.minimize(cost, problem.angles(start), method=method, options=options)


def _sharpen(problem: PointProblem, start: Array, watch: _Watch) -> None:
    """Minimise the surrogate while it is sharpened, and watch the criterion after every step.

    The first descent is on the condition number alone; a step back towards the random start
    takes the entries away from zero, across which log S could not pull them.
    """
    weight = _EQUILIBRIUM_WEIGHT if problem.criterion.equilibrium_weight > 0.0 else 0.0
    z = _descend(problem, start, 2.0, 0.0, _WARM_ITERATIONS, watch)
    z = (1.0 - _STEP_BACK) * z + _STEP_BACK * start
    for sharpness in _SHARPNESSES:
        z = _descend(problem, z, sharpness, weight, _ITERATIONS, watch)


def _descend(
    problem: PointProblem,
    z: Array,
    sharpness: float,
    weight: float,
    iterations: int,
    watch: _Watch,
) -> Array:
    def cost(x: Array) -> tuple[float, Array]:
        watch.count()
        return problem.smooth(x, sharpness, weight)

    result = scipy.optimize.minimize(
        cost,
        z,
        jac=True,
        method="L-BFGS-B",
        bounds=[(-1.0, 1.0)] * len(z),
        options={"maxiter": iterations, "maxfun": 2 * iterations},
    )
    reached: Array = np.clip(result.x, -1.0, 1.0)
    watch.value(reached)
    return reached
