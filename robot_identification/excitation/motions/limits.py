"""Limits of a motion as arrays, one entry per joint."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robot_identification.errors import SettingError
from robot_identification.robot.arrays import Array, by_value, read_only
from robot_identification.robot.limits import require_limits
from robot_identification.robot.model import RobotModel


@by_value
@dataclass(frozen=True)
class MotionLimits:
    """Limits of all joints; infinite where a limit that may be absent is not known.

    Attributes:
        lower: (joints,) smallest positions, in rad or m.
        upper: (joints,) largest positions.
        velocity: (joints,) largest absolute velocities.
        acceleration: (joints,) largest absolute accelerations.
        jerk: (joints,) largest absolute jerks.
        effort: (joints,) largest absolute efforts, in N m or N.
    """

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    jerk: Array
    effort: Array

    def __post_init__(self) -> None:
        for name, values in vars(self).copy().items():
            object.__setattr__(self, name, read_only(values))

    @classmethod
    def of(cls, robot: RobotModel) -> MotionLimits:
        """Return the limits of a robot.

        Raises:
            MissingLimitError: a joint has no limit of position, velocity or acceleration.
        """
        require_limits(robot, ("position", "velocity", "acceleration"))

        def column(name: str) -> Array:
            values = [getattr(joint.limits, name) for joint in robot.joints]
            return np.array([np.inf if value is None else value for value in values])

        return cls(**{name: column(name) for name in cls.__dataclass_fields__})

    @property
    def middle(self) -> Array:
        """(joints,) middle of the position ranges."""
        return (self.lower + self.upper) / 2.0

    @property
    def half_range(self) -> Array:
        """(joints,) half the position ranges."""
        return (self.upper - self.lower) / 2.0

    def tightened(
        self, position: float = 1.0, velocity: float = 1.0, acceleration: float = 1.0
    ) -> MotionLimits:
        """Return narrower limits.

        Args:
            position: share of the position ranges that is left, around their middle.
            velocity: share of the velocities that is left.
            acceleration: share of the accelerations that is left.

        Raises:
            SettingError: a share is not above 0 and at most 1.
        """
        shares = {"position": position, "velocity": velocity, "acceleration": acceleration}
        for name, share in shares.items():
            if not 0.0 < share <= 1.0:
                raise SettingError(f"share of {name}", share, "must be above 0 and at most 1")
        return replace(
            self,
            lower=self.middle - position * self.half_range,
            upper=self.middle + position * self.half_range,
            velocity=velocity * self.velocity,
            acceleration=acceleration * self.acceleration,
        )
