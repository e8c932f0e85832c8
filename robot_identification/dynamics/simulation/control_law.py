"""Control laws of robots as arrays, as compiled code takes them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from robot_identification.dynamics.kernels import control as control_kernels
from robot_identification.dynamics.tree import Floats
from robot_identification.errors import SettingError
from robot_identification.robot.experiment import (
    FILTERED_DERIVATIVE,
    VELOCITY_ESTIMATES,
    Controller,
)
from robot_identification.robot.model import RobotModel

_LAWS = {
    "cascade": control_kernels.CASCADE,
    "pid": control_kernels.PID,
    "computed_torque": control_kernels.COMPUTED_TORQUE,
}


class Law(NamedTuple):
    """A control law as arrays (joints,): see the module.

    ``limit`` is infinite for joints without an effort limit; ``delay`` counts control periods;
    ``derivative_cutoff`` of the velocity estimate is in rad/s, 0 where there is no such filter;
    ``held`` tells that a recorded effort is the one from its instant on.
    """

    kind: int
    kp: Floats
    ki: Floats
    kd: Floats
    kv: Floats
    velocity: Floats
    acceleration: Floats
    limit: Floats
    delay: int
    differences: bool
    derivative_cutoff: float
    held: bool


def law_of(robot: RobotModel, controller: Controller) -> Law:
    """Return the control law of a robot as arrays.

    Raises:
        SettingError: if the law or the length of a gain is wrong.
    """
    if controller.law not in _LAWS:
        raise SettingError("law", controller.law, f"give one of {', '.join(_LAWS)}")
    joints = len(robot.active_joints)

    def gain(name: str) -> Floats:
        values = controller.gains.get(name, (0.0,) * joints)
        if len(values) != joints:
            raise SettingError(name, list(values), f"give one value for each of {joints} joints")
        return np.array(values, dtype=np.float64)

    limits = [joint.limits.effort for joint in robot.active_joints]
    return Law(
        kind=_LAWS[controller.law],
        kp=gain("kp"),
        ki=gain("ki"),
        kd=gain("kd"),
        kv=gain("kv"),
        velocity=gain("velocity_feedforward"),
        acceleration=gain("acceleration_feedforward"),
        limit=np.array([math.inf if limit is None else limit for limit in limits]),
        delay=controller.delay_samples,
        differences=controller.velocity_estimate == "averaged_difference",
        derivative_cutoff=_derivative_cutoff(controller),
        held=controller.recorded_effort == "held",
    )


def _derivative_cutoff(controller: Controller) -> float:
    """Return the cut-off of the filtered derivative in rad/s, 0 for the other estimates."""
    if controller.velocity_estimate not in VELOCITY_ESTIMATES:
        raise SettingError(
            "velocity_estimate",
            controller.velocity_estimate,
            f"give one of {', '.join(VELOCITY_ESTIMATES)}",
        )
    if controller.velocity_estimate != FILTERED_DERIVATIVE:
        return 0.0
    cutoff = controller.velocity_cutoff_hz
    if cutoff is None:
        raise SettingError("velocity_cutoff_hz", None, f"{FILTERED_DERIVATIVE} needs a cut-off")
    return 2.0 * math.pi * positive("velocity_cutoff_hz", cutoff)


def positive(name: str, value: float) -> float:
    """Return the value of a setting that must be positive.

    Raises:
        SettingError: if it is not.
    """
    if not (math.isfinite(value) and value > 0):
        raise SettingError(name, value, "must be positive")
    return value
