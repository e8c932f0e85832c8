"""Closed-loop simulation: the robot under its declared controller, along a reference.

The controller runs at its own rate and holds the torque in between, limited to the effort limits
of the joints.  Its laws, with the position error e = qr - q:

- ``cascade``: tau = kv (kp e - qd) (Gautier et al. 2013, eq. 53);
- ``pid``: tau = kp e + ki (integral of e) + kd de/dt + velocity_feedforward qdr
  + acceleration_feedforward qddr, as in joint_trajectory_controller; the integral rests while
  the torque is limited and the error would drive it further;
- ``computed_torque``: tau = M (qddr + kd de/dt + kp e) + N, friction at the reference's velocity.

Coulomb friction is exact, sticking included: see :mod:`.kernels.fixed_step`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.direct import Plant, plant_of
from robot_identification.dynamics.kernels import fixed_step as simulation_kernels
from robot_identification.dynamics.reference import Reference, hold
from robot_identification.dynamics.simulation.control_law import Law, law_of, positive
from robot_identification.dynamics.tree import Floats
from robot_identification.errors import SettingError, ShapeError, SimulationError
from robot_identification.robot.arrays import Array, by_value, checked_vector, read_only
from robot_identification.robot.experiment import Controller
from robot_identification.robot.model import RobotModel

LONGEST_STEP = 5e-4


@by_value
@dataclass(frozen=True)
class LoopState:
    """Everything that the future of a closed loop depends on, at one instant of the controller.

    Attributes:
        step: number of the control step.
        position: (joints,) in rad or m.
        velocity: (joints,) in rad/s or m/s.
        integral: (joints,) integral of the position error.
        torque: (joints,) efforts until now; NaN where there was no past.
        slip: (elements,) share of the sliding force that the friction elements take, -1 to 1.
        history: (delay + 3, 2, joints) last positions and velocities, by step modulo length; with
            a filtered derivative the velocities are what the filter made of the positions.
    """

    step: int
    position: Array
    velocity: Array
    integral: Array
    torque: Array
    slip: Array
    history: Array

    def __post_init__(self) -> None:
        for name in ("position", "velocity", "integral", "torque", "slip", "history"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


@by_value
@dataclass(frozen=True)
class SimulatedSamples:
    """Samples of a simulation, without sensor noise, on the joint side.

    Effort and slip belong to the same instant as the position: where they change there, they are
    the means of the values just before and just after, so that they lag by nothing; or the values
    just after, where the controller's recorded efforts are ``held``.

    Attributes:
        time: (samples,) simulated time in s.
        position: (samples, joints) in rad or m.
        velocity: (samples, joints) in rad/s or m/s.
        effort: (samples, joints) in N m or N.
        slip: (samples, elements) share of its sliding force that each Coulomb element takes, -1
            to 1: the sign of its velocity while it slides, what holds it while it sticks.  The
            elements are those of :class:`.direct.Plant`: its ``action`` tells their efforts.
    """

    time: Array
    position: Array
    velocity: Array
    effort: Array
    slip: Array

    def __post_init__(self) -> None:
        for name in ("time", "position", "velocity", "effort", "slip"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


class ClosedLoop:
    """A robot with given parameters under a control law.

    Args:
        robot: the robot.
        values: (full columns,) parameters in the order of ``robot.all_parameter_names``.
        controller: the control law; by default the one that the robot declares.
        rate_hz: rate of the controller; by default the declared one.
        sample_rate_hz: rate of the samples, which divides that of the controller; by default
            the same.
        substeps: integration steps in a control period; by default as many as keep the step at
            or below half a millisecond.
        nominal: (full columns,) parameters that ``computed_torque`` works with; by default
            ``values``.

    Raises:
        ShapeError: if the number of values differs.
        SampleError: if a parameter is NaN or infinite.
        SettingError: if there is no controller, or a rate or a gain is wrong.
    """

    def __init__(
        self,
        robot: RobotModel,
        values: npt.ArrayLike,
        *,
        controller: Controller | None = None,
        rate_hz: float | None = None,
        sample_rate_hz: float | None = None,
        substeps: int | None = None,
        nominal: npt.ArrayLike | None = None,
    ) -> None:
        chosen = robot.controller if controller is None else controller
        if chosen is None:
            raise SettingError("controller", None, f"robot {robot.name} declares no controller")
        self.robot = robot
        self.plant: Plant = plant_of(robot, values)
        self.nominal: Plant = self.plant if nominal is None else plant_of(robot, nominal)
        # Compiled code that an older version has cached knows the type by the name of this module.
        self.law: Law = law_of(robot, chosen)
        self.rate_hz = positive("rate_hz", chosen.rate_hz if rate_hz is None else rate_hz)
        self.every = control_steps(self.rate_hz, sample_rate_hz)
        default = max(1, math.ceil(1.0 / self.rate_hz / LONGEST_STEP - 1e-9))
        self.substeps = default if substeps is None else int(positive("substeps", substeps))

    @property
    def period(self) -> float:
        """Control period in s."""
        return 1.0 / self.rate_hz

    @property
    def sample_period(self) -> float:
        """Sampling period in s."""
        return self.every / self.rate_hz

    def at_rest(self, position: npt.ArrayLike) -> LoopState:
        """Return the state at rest at a position (joints,), at control step 0, torque unknown.

        Raises:
            ShapeError: if the number of joints differs.
        """
        joints = len(self.robot.active_joints)
        place = checked_vector("position", position, joints)
        still = np.stack([place, np.zeros(joints)])
        return LoopState(
            step=0,
            position=place,
            velocity=still[1],
            integral=still[1],
            torque=np.full(joints, math.nan),
            slip=np.zeros(len(self.plant.motion)),
            history=np.repeat(still[None], self.law.delay + 3, axis=0),
        )

    def settled(
        self, position: npt.ArrayLike, seconds: float = 3.0, extra: npt.ArrayLike | None = None
    ) -> LoopState:
        """Return the state in which the loop comes to rest while it holds a position (joints,).

        Gravity keeps it from the position by what the controller needs to bear it.

        Args:
            position: (joints,) in rad or m.
            seconds: simulated time.
            extra: (joints,) efforts added to those of the controller.

        Raises:
            ShapeError: if the number of joints differs.
            SimulationError: if the motion breaks down.
        """
        steps = round(seconds * self.rate_hz)
        end, _ = self.advance(self.at_rest(position), hold(position), steps, extra)
        still = np.stack([end.position, end.velocity])
        history = np.repeat(still[None], len(end.history), axis=0)
        return replace(end, step=0, history=history)

    def advance(
        self,
        state: LoopState,
        reference: Reference,
        steps: int,
        extra: npt.ArrayLike | None = None,
    ) -> tuple[LoopState, SimulatedSamples]:
        """Run the loop for a number of control periods; the way it is cut changes nothing.

        Args:
            state: state at the start.
            reference: what to follow.
            steps: control periods to run.
            extra: (joints,) efforts added to those of the controller before they are limited, or
                (steps, joints) for each control step.

        Returns:
            The state at the end, and the samples at the control steps that are multiples of
            ``every``, from the first one on and without the last one.

        Raises:
            SimulationError: if the motion breaks down.
        """
        rows = -(-(state.step + steps) // self.every) - (-(-state.step // self.every))
        out = np.empty((rows, 3, len(self.robot.active_joints)))
        slips = np.empty((rows, len(self.plant.motion)))
        arrays = tuple(
            np.array(array)
            for array in (
                state.position,
                state.velocity,
                state.integral,
                state.torque,
                state.slip,
                state.history,
            )
        )
        done = 0
        for count, added in held_efforts(extra, steps, out.shape[2]):
            begin = state.step + done
            row = -(-begin // self.every) - (-(-state.step // self.every))
            clock = (self.period, self.substeps, self.every, begin, count)
            got = simulation_kernels.advance(
                self.plant, self.nominal, self.law, reference, clock, arrays, added,
                out[row:], slips[row:],
            )  # fmt: skip
            done += got
            if got < count:
                break
        if done < steps:
            raise SimulationError(
                (state.step + done) * self.period,
                "the motion became infinite, or the mass matrix is not positive definite: "
                "check parameters and controller gains",
            )
        first = -(-state.step // self.every)
        samples = SimulatedSamples(
            time=read_only((first + np.arange(rows)) * self.sample_period),
            position=out[:, 0],
            velocity=out[:, 1],
            effort=out[:, 2],
            slip=slips,
        )
        return LoopState(state.step + steps, *arrays), samples

    def run(
        self,
        reference: Reference,
        duration: float,
        state: LoopState | None = None,
        efforts: Callable[[Array], Array] | None = None,
    ) -> SimulatedSamples:
        """Run the loop along a reference and return the samples, both ends included.

        Args:
            reference: what to follow.
            duration: simulated time in s.
            state: state at the start; by default settled where the reference starts.
            efforts: gives the (times, joints) efforts at (times,) of the reference, in s, which
                are added to those of the controller; None: none are.

        Raises:
            SimulationError: if the motion breaks down.
        """
        steps = round(duration * self.rate_hz) + 1
        extra: Floats = np.zeros((steps, len(self.robot.active_joints)))
        if efforts is not None:
            # The controller answers for the reference that its measurement belongs to.
            first = -self.law.delay
            extra = efforts(np.arange(first, first + steps, dtype=np.float64) * self.period)
        begin = state or self.settled(reference.coefficients[0, :, 0], extra=extra[0])
        return self.advance(begin, reference, steps, extra)[1]


def held_efforts(
    extra: npt.ArrayLike | None, steps: int, joints: int
) -> Iterator[tuple[int, Floats]]:
    """Yield for how many control steps which efforts (joints,) hold, until all steps are done.

    Args:
        extra: (joints,) efforts, or (steps, joints) for each control step; None: 0.
        steps: number of control steps.
        joints: number of joints.

    Raises:
        ShapeError: if the efforts do not fit.
    """
    efforts = np.zeros(joints) if extra is None else np.array(extra, dtype=np.float64)
    if efforts.shape == (joints,):
        yield steps, efforts
        return
    if efforts.shape != (steps, joints):
        raise ShapeError("extra", efforts.shape, f"({joints},) or ({steps}, {joints})")
    changes = 1 + np.flatnonzero((efforts[1:] != efforts[:-1]).any(axis=1))
    ends = [*changes.tolist(), steps]
    for begin, end in zip([0, *ends[:-1]], ends, strict=True):
        if end > begin:
            yield end - begin, efforts[begin].copy()


def control_steps(rate: float, sample_rate: float | None) -> int:
    """Return how many control periods make a sampling period; 1 where there is no such rate.

    Args:
        rate: of the controller, in Hz.
        sample_rate: of the samples, in Hz, or None.

    Raises:
        SettingError: if the rate of the samples does not divide that of the controller.
    """
    if sample_rate is None:
        return 1
    every = round(rate / positive("sample_rate_hz", sample_rate))
    if every < 1 or abs(every * sample_rate - rate) > 1e-9 * rate:
        raise SettingError(
            "sample_rate_hz", sample_rate, f"must divide the rate of the controller, {rate:g} Hz"
        )
    return every
