"""What the sensors of a simulated robot make of its true motion: noise, resolution, units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robot_identification.dynamics.simulation import SimulatedSamples
from robot_identification.errors import SettingError
from robot_identification.robot.drives import from_joint_side
from robot_identification.robot.model import Array, RobotModel


@dataclass(frozen=True)
class SensorSettings:
    """Errors of the sensors, one value per joint each.

    Noise is white and Gaussian and belongs to the joint side; the resolution is of the value
    that is recorded, which the robot file may place at the motor.

    Attributes:
        position_noise: standard deviations in rad or m.
        effort_noise: standard deviations in N m or N.
        position_resolution: steps of the encoder in rad or m, 0 for none.
        effort_resolution: steps of the effort in the unit it is recorded in, 0 for none.
    """

    position_noise: tuple[float, ...]
    effort_noise: tuple[float, ...]
    position_resolution: tuple[float, ...]
    effort_resolution: tuple[float, ...]

    def __post_init__(self) -> None:
        for name, values in vars(self).items():
            if not all(np.isfinite(value) and value >= 0.0 for value in values):
                raise SettingError(name, list(values), "must not be negative")


class Measurement(NamedTuple):
    """What is recorded, (samples, joints) each, where and in the units the robot file says."""

    position: Array
    velocity: Array
    effort: Array


class Sensors:
    """Measures samples one after another; the way they are cut changes nothing.

    Args:
        robot: says on which side positions and efforts are recorded.
        settings: errors of the sensors.
        seed: same seed, same noise.

    Raises:
        SettingError: if the number of values is not that of the joints.
    """

    def __init__(self, robot: RobotModel, settings: SensorSettings, seed: int) -> None:
        joints = len(robot.joints)
        for name, values in vars(settings).items():
            if len(values) != joints:
                raise SettingError(
                    name, list(values), f"give one value for each of {joints} joints"
                )
        self._robot = robot
        self._seed = seed
        self._deviation = np.array([settings.position_noise, settings.effort_noise])
        self._position_step = np.array(settings.position_resolution)
        self._effort_step = np.array(settings.effort_resolution)
        self.restart(0)

    def restart(self, run: int) -> None:
        """Begin the noise of a run anew, so that it does not depend on what came before."""
        self._rng = np.random.default_rng((self._seed, run))

    def measure(self, samples: SimulatedSamples) -> Measurement:
        """Return what is recorded of samples; the velocity is the true one."""
        noise = self._rng.standard_normal((len(samples.time), *self._deviation.shape))
        noise *= self._deviation
        position, velocity, effort = (
            np.asarray(signal, dtype=np.float64)
            for signal in from_joint_side(
                self._robot,
                samples.position + noise[:, 0],
                samples.velocity,
                samples.effort + noise[:, 1],
            )
        )
        return Measurement(
            _rounded(position, self._position_step),
            velocity,
            _rounded(effort, self._effort_step),
        )


def _rounded(values: Array, step: Array) -> Array:
    """Return values as multiples of a step (joints,), where that is not 0."""
    if not step.any():
        return values
    whole = np.where(step > 0.0, step, 1.0)
    return np.where(step > 0.0, np.round(values / whole) * whole, values)
