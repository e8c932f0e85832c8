"""What is known about a robot besides its kinematic limits: its mass, and what stands around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.excitation.braking import braking_times
from robot_identification.excitation.checks import Check
from robot_identification.excitation.limits import MotionLimits
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.robot.arrays import by_value
from robot_identification.robot.kinematics import forward_kinematics
from robot_identification.robot.model import Array, RobotModel

PostureCheck = Callable[[Array], npt.NDArray[np.bool_]]
"""Takes postures (samples, joints) and tells for each (samples,) whether it is free."""

_PERIOD = 2e-3
_STATES_PER_INTERVAL = 8
_FRACTIONS = np.linspace(0.0, 1.0, 9)
_EFFORT_MARGIN = 1e-3  # of the limit, for what lies between the samples


@by_value
@dataclass(frozen=True)
class Surroundings:
    """Prior model and obstacles, checked on samples of the run and of braking motions.

    Attributes:
        prior: (full columns,) standard parameters in the order of ``robot.all_parameter_names``;
            None: efforts are not checked.
        free: tells which postures are free of obstacles; None: every posture is.
    """

    prior: Array | None = None
    free: PostureCheck | None = None

    def checks(
        self, robot: RobotModel, trajectory: Trajectory, limits: MotionLimits
    ) -> list[Check]:
        """Return the checks of effort, tool and obstacles, as far as they are known.

        Args:
            robot: the robot; its workspace is the box of the tool point.
            trajectory: joints in the robot's order.
            limits: limits of the robot.
        """
        found: list[Check] = []
        with_effort = self.prior is not None and bool(np.isfinite(limits.effort).any())
        if not with_effort and robot.workspace is None and self.free is None:
            return found
        count = max(2, int(np.ceil(trajectory.duration / _PERIOD)))
        run = trajectory.sample(np.linspace(trajectory.times[0], trajectory.times[-1], count))
        stops = _braking_samples(trajectory, limits)
        q, qd, qdd = (np.vstack(pair) for pair in zip(run, stops, strict=True))
        if with_effort and self.prior is not None:
            found.append(_effort(robot, inverse_dynamics(robot, self.prior, q, qd, qdd), limits))
        if robot.workspace is not None:
            inside = robot.workspace.contains(forward_kinematics(robot, q)[:, -1])
            found.append(_postures("tool", inside, "the tool point leaves its box"))
        if self.free is not None:
            free = np.asarray(self.free(q))
            found.append(_postures("obstacles", free, "a posture is not free"))
        return found


def _effort(robot: RobotModel, efforts: Array, limits: MotionLimits) -> Check:
    ratio = (np.abs(efforts) / limits.effort).max(axis=0)
    joint = int(np.argmax(np.where(np.isnan(ratio), np.inf, ratio)))
    detail = f"{ratio[joint]:.4g} of the limit of {robot.joint_names[joint]}"
    return Check("effort", bool((ratio <= 1.0 - _EFFORT_MARGIN).all()), detail)


def _postures(name: str, good: npt.NDArray[np.bool_], problem: str) -> Check:
    bad = int(np.count_nonzero(~good))
    return Check(name, bad == 0, f"{problem} ({bad} of {good.size} samples)" if bad else "")


def _braking_samples(trajectory: Trajectory, limits: MotionLimits) -> tuple[Array, Array, Array]:
    """Return states (samples, joints) on the braking motions from every interval."""
    fractions = np.linspace(0.0, 1.0, _STATES_PER_INTERVAL, endpoint=False)
    steps = np.diff(trajectory.times)[:, None]
    q, qd, _ = trajectory.sample((trajectory.times[:-1, None] + steps * fractions).ravel())
    own = braking_times(limits, qd)
    last = own.max(axis=1)
    s = np.minimum(_FRACTIONS[:, None, None] * last[:, None] / np.where(own > 0.0, own, 1.0), 1.0)
    s = np.where(own > 0.0, s, 1.0)
    rate = np.divide(qd, own, out=np.zeros_like(qd), where=own > 0.0)
    joints = q.shape[1]
    return (
        (q + qd * own * (s - s**3 + s**4 / 2.0)).reshape(-1, joints),
        (qd * (1.0 - 3.0 * s**2 + 2.0 * s**3)).reshape(-1, joints),
        (rate * (6.0 * s**2 - 6.0 * s)).reshape(-1, joints),
    )
