"""Closed-loop simulation with a continuous controller, by adaptive steps with stick and slip.

The laws are those of :mod:`.simulation`, evaluated at every instant instead of at a rate of their
own.  The method of Dormand and Prince of order 5(4) chooses its steps so that the local error of
every position, velocity and integral stays below the tolerance times 1 + its size.  Coulomb
friction is exact: see :mod:`.continuous_kernels`, :mod:`.event_kernels` and :mod:`.stick_kernels`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics import continuous_kernels as kernels
from robot_identification.dynamics.closed_loop_kernels import Loop, scratch_of
from robot_identification.dynamics.direct import Plant, plant_of
from robot_identification.dynamics.reference import Reference, hold
from robot_identification.dynamics.simulation import SimulatedSamples, law_of
from robot_identification.dynamics.stops import stops_of
from robot_identification.dynamics.tree import Floats
from robot_identification.errors import SettingError, ShapeError, SimulationError
from robot_identification.robot.arrays import by_value
from robot_identification.robot.controller import Controller
from robot_identification.robot.model import Array, RobotModel, read_only

LONGEST_STEP = 0.02
_PROBLEMS = {
    kernels.NOT_REGULAR: "the mass matrix is not positive definite: check the parameters",
    kernels.TOO_SHORT: (
        "no step is short enough for the tolerance: the motion became infinite, or the tolerance "
        "is below what the numbers can hold; check parameters, gains and tolerance"
    ),
    kernels.TOO_MANY_EVENTS: "stick and slip change without end at this instant",
}


@by_value
@dataclass(frozen=True)
class ContinuousState:
    """State of a continuous closed loop, (joints,) each.

    Attributes:
        position: in rad or m.
        velocity: in rad/s or m/s.
        integral: integral of the position error.
    """

    position: Array
    velocity: Array
    integral: Array

    def __post_init__(self) -> None:
        for name in ("position", "velocity", "integral"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


@dataclass(frozen=True)
class IntegrationCertificate:
    """What the adaptive integration did.

    Attributes:
        tolerance: bound of the local error of every position, velocity and integral, relative to
            1 + its size in SI units.
        largest_error: largest estimate of it in an accepted step.
        steps: accepted steps.
        rejected: steps tried again because their error was too large.
        evaluations: evaluations of the direct dynamic model.
        stopped: friction elements that came to rest.
        released: friction elements that began to slide.
        reversed: friction elements that changed direction without rest.
        shortest_step: in s.
    """

    tolerance: float
    largest_error: float
    steps: int
    rejected: int
    evaluations: int
    stopped: int
    released: int
    reversed: int
    shortest_step: float

    @property
    def events(self) -> int:
        """Number of changes between stick and slip and of direction."""
        return self.stopped + self.released + self.reversed


class ContinuousRun(NamedTuple):
    """Samples of a run, what the integration did, and the state at the end."""

    samples: SimulatedSamples
    certificate: IntegrationCertificate
    end: ContinuousState


class ContinuousLoop:
    """A robot with given parameters under a control law without a rate.

    Args:
        robot: the robot.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.
        controller: the control law; by default the one that the robot declares.  Its rate does not
            matter here.
        nominal: (full columns,) parameters that ``computed_torque`` works with; by default
            ``values``.
        tolerance: bound of the local error, see :class:`IntegrationCertificate`.
        longest_step: bound of the steps, in s.

    Raises:
        ShapeError: if the number of values differs.
        SampleError: if a parameter is NaN or infinite.
        SettingError: if there is no controller, a gain, the tolerance or the longest step is
            wrong, or the controller has a delay or estimates its velocity, which takes a rate.
    """

    def __init__(
        self,
        robot: RobotModel,
        values: npt.ArrayLike,
        *,
        controller: Controller | None = None,
        nominal: npt.ArrayLike | None = None,
        tolerance: float = 1e-6,
        longest_step: float = LONGEST_STEP,
    ) -> None:
        chosen = robot.controller if controller is None else controller
        if chosen is None:
            raise SettingError("controller", None, f"robot {robot.name} declares no controller")
        _require_continuous(chosen)
        if not 1e-14 <= tolerance <= 1e-2:
            raise SettingError("tolerance", tolerance, "must be from 1e-14 to 1e-2")
        if not (math.isfinite(longest_step) and longest_step > 0.0):
            raise SettingError("longest_step", longest_step, "must be positive")
        self.robot = robot
        self.plant: Plant = plant_of(robot, values)
        self.nominal: Plant = self.plant if nominal is None else plant_of(robot, nominal)
        self.law = law_of(robot, chosen)
        self.tolerance = tolerance
        self.longest_step = longest_step

    def at_rest(self, position: npt.ArrayLike) -> ContinuousState:
        """Return the state at rest at a position (joints,).

        Raises:
            ShapeError: if the number of joints differs.
        """
        place = np.asarray(position, dtype=np.float64)
        joints = len(self.robot.joints)
        if place.shape != (joints,):
            raise ShapeError("position", place.shape, f"({joints},)")
        return ContinuousState(place, np.zeros(joints), np.zeros(joints))

    def settled(self, position: npt.ArrayLike, seconds: float = 3.0) -> ContinuousState:
        """Return the state in which the loop comes to rest while it holds a position (joints,).

        Raises:
            ShapeError: if the number of joints differs.
            SimulationError: if the motion breaks down.
        """
        return self.run(
            hold(position), seconds, state=self.at_rest(position), times=np.zeros(0)
        ).end

    def run(
        self,
        reference: Reference,
        duration: float,
        *,
        rate_hz: float = 1000.0,
        times: npt.ArrayLike | None = None,
        state: ContinuousState | None = None,
    ) -> ContinuousRun:
        """Run the loop along a reference.

        Args:
            reference: what to follow; its time is ``lead`` at the start, ``origin`` means nothing.
            duration: simulated time in s.
            rate_hz: rate of the samples, both ends included.
            times: (samples,) increasing times of the samples in s, in place of a rate.
            state: state at the start; by default settled where the reference starts.

        Raises:
            SettingError: if duration, rate or times are wrong.
            ShapeError: if the reference has another number of joints.
            SimulationError: if the motion breaks down.
        """
        joints = len(self.robot.joints)
        if reference.coefficients.shape[1:] != (joints, 6):
            raise ShapeError("reference", reference.coefficients.shape, f"(pieces, {joints}, 6)")
        if not (math.isfinite(duration) and duration > 0.0):
            raise SettingError("duration", duration, "must be positive")
        wanted = _sample_times(duration, rate_hz, times)
        begin = self.settled(reference.coefficients[0, :, 0]) if state is None else state
        parts = [begin.position, begin.velocity, begin.integral]
        y = np.concatenate(parts if self.law.ki.any() else parts[:2])
        out = np.empty((len(wanted), 3, joints))
        slips = np.empty((len(wanted), len(self.plant.motion)))
        tally = np.zeros(8)
        lead = float(reference.lead)
        outcome, time = kernels.run(
            Loop(self.plant, self.nominal, self.law, reference),
            (lead, lead + duration),
            (self.tolerance, self.longest_step),
            stops_of(reference, lead, lead + duration),
            y,
            wanted + lead,
            out,
            slips,
            tally,
            scratch_of(self.plant, self.nominal, len(y)),
        )
        if outcome != kernels.DONE:
            raise SimulationError(time - lead, _PROBLEMS[outcome])
        samples = SimulatedSamples(wanted, out[:, 0], out[:, 1], out[:, 2], slips)
        integral = y[2 * joints :] if self.law.ki.any() else begin.integral
        end = ContinuousState(y[:joints], y[joints : 2 * joints], integral)
        return ContinuousRun(samples, _certificate(self.tolerance, tally), end)


def _require_continuous(controller: Controller) -> None:
    if controller.delay_samples:
        raise SettingError(
            "delay_samples",
            controller.delay_samples,
            "a delay counts periods of a controller; simulate it with its rate",
        )
    if controller.velocity_estimate != "measured":
        raise SettingError(
            "velocity_estimate",
            controller.velocity_estimate,
            "a velocity out of sampled positions takes a rate; simulate the controller with it",
        )


def _sample_times(duration: float, rate_hz: float, times: npt.ArrayLike | None) -> Floats:
    """Return the times of the samples, from 0 on."""
    if times is None:
        if not (math.isfinite(rate_hz) and rate_hz > 0.0):
            raise SettingError("rate_hz", rate_hz, "must be positive")
        return np.arange(math.floor(duration * rate_hz * (1.0 + 1e-12) + 1e-9) + 1) / rate_hz
    wanted = np.array(times, dtype=np.float64)
    if wanted.ndim != 1 or not np.isfinite(wanted).all() or (np.diff(wanted) <= 0.0).any():
        raise SettingError("times", wanted.tolist()[:3], "must be finite and increase")
    if wanted.size and not (0.0 <= wanted[0] and wanted[-1] <= duration):
        raise SettingError("times", wanted.tolist()[:3], f"must lie within 0 and {duration:g} s")
    return wanted


def _certificate(tolerance: float, tally: Floats) -> IntegrationCertificate:
    stopped, released, reversed_, steps, rejected, evaluations = (int(x) for x in tally[:6])
    return IntegrationCertificate(
        tolerance=tolerance,
        largest_error=float(tally[6]),
        steps=steps,
        rejected=rejected,
        evaluations=evaluations,
        stopped=stopped,
        released=released,
        reversed=reversed_,
        shortest_step=float(tally[7]),
    )
