"""Random points inside the limits, joined by quintics: a motion for tests and for comparison."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_identification.dynamics.regressor import Regressor
from robot_identification.excitation.motions import quintic
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.identification.base.parameters import BaseParameters, base_parameters
from robot_identification.robot.arrays import Array, by_value
from robot_identification.robot.limits import require_limits
from robot_identification.robot.model import RobotModel
from robot_identification.settings import Settings, setting

_HALVINGS = 20
# Few samples of a short motion have fewer rows than there are parameters, and its ends are at rest.
_LEAST_SAMPLES = 100


@dataclass(frozen=True)
class RandomPointsSettings(Settings):
    """Settings of random trajectories."""

    points: int = setting("points to pass, both ends included", 25, minimum=2)
    draws: int = setting("trajectories drawn, of which the best conditioned is kept", 20, minimum=1)
    seed: int = setting("same seed, same trajectory", 0)
    speed: float = setting(
        "share of the velocity and acceleration limits that is used", 0.8, above=0.0, maximum=1.0
    )
    reach: float = setting(
        "share of the position ranges, around their middle, that is used",
        0.8,
        above=0.0,
        maximum=1.0,
    )
    through: float = setting(
        "largest velocity at the points between the ends, as a share of what may be used, below 1",
        0.5,
        minimum=0.0,
        maximum=math.nextafter(1.0, 0.0),
    )
    rate_hz: float = setting(
        "rate at which the motion is sampled for its condition number", 50.0, above=0.0, unit="Hz"
    )


@dataclass(frozen=True)
class RandomPointsPlan:
    """The best of the drawn trajectories.

    Attributes:
        trajectory: at rest at both ends, inside the limits in between.
        condition_number: of the base regressor along it (2-norm, columns as they are).
        condition_numbers: those of all draws, in order.
    """

    trajectory: Trajectory
    condition_number: float
    condition_numbers: tuple[float, ...]


@by_value
@dataclass(frozen=True)
class _Limits:
    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array


def random_points(
    robot: RobotModel, settings: RandomPointsSettings | None = None, start: Array | None = None
) -> RandomPointsPlan:
    """Draw trajectories through random points and return the best conditioned one.

    Args:
        robot: the robot, with limits of position, velocity and acceleration.
        settings: how to draw.
        start: (joints,) first point; by default drawn like the others.

    Raises:
        MissingLimitError: if a joint lacks a limit.
        SettingError: if a setting is wrong.
    """
    chosen = RandomPointsSettings() if settings is None else settings
    limits = _limits(robot, chosen)
    base = base_parameters(robot)
    seeds = np.random.SeedSequence(chosen.seed).spawn(chosen.draws)
    drawn = [_draw(robot, limits, chosen, np.random.default_rng(seed), start) for seed in seeds]
    numbers = [condition_number(base, trajectory, chosen.rate_hz) for trajectory in drawn]
    best = int(np.argmin(numbers))
    return RandomPointsPlan(drawn[best], numbers[best], tuple(numbers))


def condition_number(base: BaseParameters, trajectory: Trajectory, rate_hz: float) -> float:
    """Return the condition number of the base regressor along a trajectory.

    Args:
        base: base parameters of the robot.
        trajectory: joints in the robot's order.
        rate_hz: rate at which it is sampled, a hundred times at least.
    """
    return float(np.linalg.cond(base_regressor(base, trajectory, rate_hz)[1]))


def base_regressor(
    base: BaseParameters, trajectory: Trajectory, rate_hz: float
) -> tuple[Array, Array]:
    """Return (samples, joints) positions on a trajectory, and the (rows, base) regressor there.

    Args:
        base: base parameters of the robot.
        trajectory: joints in the robot's order.
        rate_hz: rate at which it is sampled, a hundred times at least.
    """
    samples = max(_LEAST_SAMPLES, math.ceil(trajectory.duration * rate_hz))
    times = trajectory.times[0] + np.linspace(0.0, trajectory.duration, samples)
    q, qd, qdd = trajectory.sample(times)
    regressor = Regressor(base.robot, base.base_columns).dense(q, qd, qdd)
    return q, regressor.reshape(-1, base.rank)


def _limits(robot: RobotModel, settings: RandomPointsSettings) -> _Limits:
    require_limits(robot, ("position", "velocity", "acceleration"))
    limits = [joint.limits for joint in robot.joints]
    lower, upper, velocity, acceleration = (
        np.array([getattr(limit, name) for limit in limits], dtype=np.float64)
        for name in ("lower", "upper", "velocity", "acceleration")
    )
    middle, half = (lower + upper) / 2.0, settings.reach * (upper - lower) / 2.0
    return _Limits(
        middle - half, middle + half, settings.speed * velocity, settings.speed * acceleration
    )


def _draw(
    robot: RobotModel,
    limits: _Limits,
    settings: RandomPointsSettings,
    rng: np.random.Generator,
    start: Array | None,
) -> Trajectory:
    """Draw one trajectory; velocities at its points shrink until it stays inside the limits."""
    shape = (settings.points, len(robot.joints))
    positions = rng.uniform(limits.lower, limits.upper, size=shape)
    if start is not None:
        positions[0] = start
    velocities = rng.uniform(-1.0, 1.0, size=shape) * settings.through * limits.velocity
    velocities[[0, -1]] = 0.0
    for _ in range(_HALVINGS):
        durations = _durations(positions, velocities, limits)
        outside = _outside(positions, velocities, durations, limits)
        if not outside.any():
            break
        velocities[:-1][outside] /= 2.0
        velocities[1:][outside] /= 2.0
    else:
        velocities[:] = 0.0
        durations = _durations(positions, velocities, limits)
    return Trajectory(
        robot.joint_names,
        np.concatenate([[0.0], np.cumsum(durations)]),
        positions,
        velocities,
        np.zeros(shape),
    )


def _durations(positions: Array, velocities: Array, limits: _Limits) -> Array:
    """Return (pieces,) durations: all joints together, as short as the slowest one allows."""
    steps = np.diff(positions, axis=0)
    return np.array(
        [
            max(
                quintic.shortest_duration(
                    steps[i, j],
                    velocities[i, j],
                    velocities[i + 1, j],
                    limits.velocity[j],
                    limits.acceleration[j],
                )
                for j in range(steps.shape[1])
            )
            for i in range(len(steps))
        ]
    )


def _outside(
    positions: Array, velocities: Array, durations: Array, limits: _Limits
) -> npt.NDArray[np.bool_]:
    """Return (pieces, joints): which joint leaves the position limits in which piece."""
    outside = np.zeros((len(durations), positions.shape[1]), dtype=np.bool_)
    for i, j in np.ndindex(*outside.shape):
        polynomial = quintic.coefficients(
            float(positions[i, j]),
            float(positions[i + 1, j]),
            float(velocities[i, j]),
            float(velocities[i + 1, j]),
            float(durations[i]),
        )
        low, high = quintic.extrema(polynomial, float(durations[i]))
        slack = 1e-9 * (1.0 + abs(low) + abs(high))
        ends = positions[i, j], positions[i + 1, j]
        outside[i, j] = (
            low < min(limits.lower[j], *ends) - slack or high > max(limits.upper[j], *ends) + slack
        )
    return outside
