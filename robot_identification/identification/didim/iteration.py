"""Gauss-Newton steps through the inverse model (Gautier et al. 2013, section IV).

At the parameters chi_k the closed loop is simulated along the reference.  The effort is linear in
the parameters through the simulated motion, which depends on them but little; so the next
parameters are the linear least-squares solution of

    Y = W(q_k, qd_k, qdd_k) chi_(k+1) + rho                                     (eq. 48).

A step whose simulation breaks down, or whose torque error grows, is halved towards the last good
parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_identification.errors import MassMatrixError, SimulationError
from robot_identification.identification.base.parameters import BaseParameters
from robot_identification.identification.didim.experiments import Experiment
from robot_identification.identification.didim.loop import (
    frequency_ratio,
    joint_inertias,
    simulated_robot,
)
from robot_identification.identification.didim.settings import DidimSettings
from robot_identification.identification.didim.simulation import Cancelled, simulate_all
from robot_identification.identification.didim.starts import full_vector
from robot_identification.identification.estimators import least_squares
from robot_identification.identification.estimators.choice import ESTIMATORS
from robot_identification.identification.estimators.least_squares import Estimate, RelativeError
from robot_identification.identification.history import Iteration
from robot_identification.identification.rows.factor import JointFactor
from robot_identification.identification.rows.whole_rows import WholeRows
from robot_identification.robot.arrays import Array, by_value
from robot_identification.signals.filtered import FilteredSegment
from robot_identification.signals.processing.complete import Processing

Observer = Callable[[Iteration], None]

_DEVIATIONS = 10.0
# A torque error below this part of the effort is taken for rounding.
_ROUNDING = 1e-9


@by_value
@dataclass(frozen=True)
class Trial:
    """Parameters, and what the simulation with them gave.

    Attributes:
        values: (base,) base parameters.
        inertia: (joints,) inertias with them (eq. 51).
        assumed: (joints,) what was taken for the inertias of the real robot.
        factors: of regressor and measured effort along the simulated motion.
        segments: the simulated motion.
    """

    values: Array
    inertia: Array
    assumed: Array
    factors: tuple[JointFactor, ...]
    segments: tuple[FilteredSegment, ...]

    @property
    def torque_error(self) -> RelativeError:
        """Unexplained effort of the simulation, as fractions."""
        return least_squares.relative_error(self.factors, self.values)

    def error(self, weights: Array) -> float:
        """Return the norm of the weighted unexplained effort, at least that of rounding."""
        unexplained = [factor.residual_norm(self.values) for factor in self.factors]
        effort = [factor.effort_norm for factor in self.factors]
        error, whole = (np.linalg.norm(np.array(n) * weights) for n in (unexplained, effort))
        return float(max(error, _ROUNDING * whole, np.finfo(float).tiny))


@by_value
@dataclass(frozen=True)
class Problem:
    """Data that stay the same in all iterations.

    Attributes:
        base: base parameters of the robot.
        experiments: what to simulate.
        processing: settings of the decimation.
        settings: how the iterations run and end.
        positions: (positions, joints) where inertias are looked for.
        cancelled: asked now and then whether to stop.
        transient: what is dropped at the start of every experiment, in s.
    """

    base: BaseParameters
    experiments: Sequence[Experiment]
    processing: Processing
    settings: DidimSettings
    positions: Array
    cancelled: Cancelled | None = None
    transient: float = 0.0

    def inertia(self, values: Array) -> Array:
        """Return the (joints,) inertias with base parameters (eq. 51)."""
        return joint_inertias(self.base.robot, full_vector(self.base, values), self.positions)

    def simulate(self, values: Array, real_inertia: Array) -> Trial:
        """Simulate all experiments with base parameters.

        Args:
            values: (base,) base parameters.
            real_inertia: (joints,) what is known of the inertias of the real robot.

        Raises:
            CancelledError: if the caller wants to stop.
            SimulationError: if a motion breaks down.
            MassMatrixError: if a mass matrix is not positive definite.
        """
        robot = self.base.robot
        inertia = self.inertia(values)
        simulated = simulated_robot(robot, inertia, real_inertia, self.settings.bandwidth)
        full = full_vector(self.base, values)
        segments = simulate_all(simulated, full, self.experiments, self.cancelled)
        factors = self.rows(segments, values).rows("none").merged()
        return Trial(values, inertia, real_inertia, factors, tuple(segments))

    def rows(self, segments: Sequence[FilteredSegment], values: Array) -> WholeRows:
        """Return the rows along simulated motions, all in one group.

        Args:
            segments: the motions.
            values: (base,) parameters that they were simulated with, whose loads friction follows.
        """
        source = WholeRows.of_segments(
            self.base.loaded_by(values), ("all",), [segments], self.processing, blocks=False
        )
        return replace(source, cancelled=self.cancelled)

    def solve(self, factors: Sequence[JointFactor]) -> Estimate:
        """Return the least-squares estimate along a simulated motion.

        Raises:
            NotExcitedError: if the motion does not determine every parameter.
        """
        weighted = ESTIMATORS[self.settings.weighting].weights_joints
        solver = least_squares.weighted if weighted else least_squares.ordinary
        return solver(factors, self.base.names, self.processing.residual_divisor)


class Iterations:
    """The iterations, and how they ended.

    Args:
        problem: what is solved.
        start: first parameters with their simulation.
        observer: told every set of parameters that was simulated.

    Attributes:
        trial: newest parameters with their simulation.
        estimate: estimate along the motion before the newest; None before the first step.
        source: the trial that it was solved from.
        history: one entry per set of parameters.
        converged: whether both tolerances were met.
        failure: why the iterations ended without that; empty while they run.

    Raises:
        NotExcitedError: if the motion does not determine every parameter.
    """

    def __init__(self, problem: Problem, start: Trial, observer: Observer | None = None) -> None:
        self.trial = start
        self.estimate: Estimate | None = None
        self.source = start
        self.history: list[Iteration] = []
        self.converged = False
        self.failure = ""
        self._problem = problem
        self._observer = observer
        self._next = self._accept(start, step=0.0, change=0.0, simulations=1)

    def run(self) -> None:
        """Iterate until both tolerances are met or there is no way on.

        Raises:
            CancelledError: if the caller wants to stop.
            NotExcitedError: if the motion does not determine every parameter.
        """
        for _ in range(self._problem.settings.max_iterations):
            self.advance()
            if self.converged or self.failure:
                return
        self.failure = f"the tolerances were not met in {len(self.history) - 1} iterations"

    def advance(self) -> None:
        """Take one Gauss-Newton step, or as much of it as leads on."""
        settings = self._problem.settings
        before, estimate = self.trial, self._next
        assumed = self._inertia_of_robot(estimate)
        error = before.error(estimate.weights)
        step, simulations, problem = 1.0, 0, ""
        while step >= settings.smallest_step:
            values = before.values + step * (estimate.values - before.values)
            simulations += 1
            try:
                after = self._problem.simulate(values, assumed)
            except (SimulationError, MassMatrixError) as failure:
                problem = str(failure)
            else:
                growth = after.error(estimate.weights) / error
                if growth <= settings.growth:
                    break
                problem = f"the torque error grew to {growth:.3g} times what it was"
            step *= 0.5
        else:
            self.failure = f"no part of step {len(self.history)} leads on: {problem}"
            return
        self.estimate, self.source = estimate, before
        change = _relative_change(before.values, values, estimate.std)
        self._next = self._accept(after, step, change, simulations)
        settled = abs(growth - 1.0) <= settings.tolerance_error
        self.converged = step == 1.0 and settled and change <= settings.tolerance_parameters

    def _inertia_of_robot(self, estimate: Estimate) -> Array:
        """Return what an estimate says of the robot's inertias, where it can be true."""
        found = self._problem.inertia(estimate.values)
        return np.where(found > 0.0, found, self.trial.assumed)

    def _accept(self, trial: Trial, step: float, change: float, simulations: int) -> Estimate:
        """Go on from a trial; return the estimate along its motion."""
        problem = self._problem
        self.trial = trial
        estimate = problem.solve(trial.factors)
        ratio = frequency_ratio(
            problem.base.robot,
            problem.inertia(estimate.values),
            trial.assumed,
            problem.settings.bandwidth,
        )
        self.history.append(
            Iteration(
                number=len(self.history),
                torque_error=trial.torque_error,
                step=step,
                parameter_change=change,
                frequency_ratio=ratio,
                values=trial.values,
                simulations=simulations,
            )
        )
        if self._observer is not None:
            self._observer(self.history[-1])
        return estimate


def _relative_change(before: Array, after: Array, std: Array) -> float:
    """Return the largest relative change of a parameter (eq. 34).

    A change is compared with ten standard deviations where they are larger than the value: a
    parameter that is zero, as at the regular start, or hardly known would never come to rest.
    """
    change = np.abs(after - before)
    size = np.maximum(np.abs(before), _DEVIATIONS * std)
    without_size = np.where(change > 0.0, np.inf, 0.0)
    return float(np.divide(change, size, out=without_size, where=size > 0.0).max())
