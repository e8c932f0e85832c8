"""Sensors of a simulated robot: noise, resolution and units of what they measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robot_identification.dynamics.simulation.fixed_step import SimulatedSamples
from robot_identification.errors import SettingError
from robot_identification.robot.arrays import Array
from robot_identification.robot.drives import from_joint_side, require_effort_conversion
from robot_identification.robot.model import RobotModel
from robot_identification.settings import Settings, setting


@dataclass(frozen=True)
class SensorSettings(Settings):
    """Errors of the sensors, one value per joint each.

    Noise is white and Gaussian and belongs to the joint side; the resolution is of the value
    that is recorded, which the robot file may place at the motor.

    """

    position_noise: tuple[float, ...] = setting(
        "standard deviation of the measured positions, joint side",
        (0.0,),
        minimum=0.0,
        unit="rad or m",
    )
    effort_noise: tuple[float, ...] = setting(
        "standard deviation of the measured efforts, joint side",
        (0.0,),
        minimum=0.0,
        unit="N m or N",
    )
    position_resolution: tuple[float, ...] = setting(
        "steps of the published positions; 0: none", (0.0,), minimum=0.0, unit="rad or m"
    )
    effort_resolution: tuple[float, ...] = setting(
        "steps of the published efforts; 0: none",
        (0.0,),
        minimum=0.0,
        unit="the unit they are recorded in",
    )


class Measurement(NamedTuple):
    """Recorded signals, (samples, joints) each, where and in the units the robot file says."""

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
        SettingError: if the number of values is not that of the joints, nobody has said what
            efforts are, or a drive gain is missing.
    """

    def __init__(self, robot: RobotModel, settings: SensorSettings, seed: int) -> None:
        joints = len(robot.active_joints)
        require_effort_conversion(robot)
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
